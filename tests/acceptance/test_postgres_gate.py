"""A gate that processes share, in PostgreSQL."""

from gate_tests import *  # noqa: F403
