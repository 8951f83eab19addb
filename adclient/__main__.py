"""`python -m adclient` is the command `adclient`."""

import sys

from adclient._command import main

sys.exit(main())
