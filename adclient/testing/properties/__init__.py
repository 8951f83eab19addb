"""Properties of code that stages drafts, checked with Hypothesis; they need the extra `hypothesis`.

`check_job` runs a job against many fakes, with faults, restarts and humans between its calls;
the other functions are the strategies that it draws from.
"""

from adclient.testing.properties._check import check_job
from adclient.testing.properties._strategies import accounts, changes, faults, profiles

__all__ = ["accounts", "changes", "check_job", "faults", "profiles"]
