"""Find out what a service does where its interface leaves it open.

`examine` sends at most a hundred reads, one at a time, and never a write. It varies one thing after
the other, compares what comes back, and reports which settings follow and how certain that is.
"""

from adclient.doctor._examine import Interrupted, examine
from adclient.doctor._finding import Finding
from adclient.doctor._report import Report

__all__ = ["Finding", "Interrupted", "Report", "examine"]
