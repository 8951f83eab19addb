"""Find out what a service does where its interface leaves it open.

`examine` sends at most a hundred reads, one at a time, and never a write. It varies one thing after
the other, compares what comes back, and reports which settings follow and how certain that is.
"""

from adclient.survey.examine import Interrupted, examine
from adclient.survey.reading import Finding
from adclient.survey.report import Report

__all__ = ["Finding", "Interrupted", "Report", "examine"]
