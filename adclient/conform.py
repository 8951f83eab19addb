"""Check whether a service keeps to its interface, as a test for those who make the service.

The checks follow from the table of operations. `conform` only reads, unless it is given accounts
in which it may stage drafts. What the interface leaves open is reported, and fails nothing.
"""

from adclient.survey.checks import CHECKS, ConformCheck, ConformReport, ConformResult
from adclient.survey.conform import conform

__all__ = [
    "CHECKS",
    "ConformCheck",
    "ConformReport",
    "ConformResult",
    "conform",
]
