"""`python -m adclient.testing` serves the fake over HTTP."""

from adclient.testing.command import main

main()
