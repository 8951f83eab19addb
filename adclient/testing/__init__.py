"""A fake of the ad management service, in process: stateful, deterministic, without a network.

A request comes to `_service`, meets its fault (`_faults`), is read (`_wire`) and answered
(`_answers`) from the live data (`_accounts`): with a page (`_reads`), or with a draft of a change
(`_writes`), which waits in `_approval` for its two steps. `server` does the same over HTTP.
"""

from adclient.testing._approval.dashboard import ApprovalRefused, Dashboard
from adclient.testing._approval.drafts import AuditEvent, FakeDraft
from adclient.testing._clock import FakeClock
from adclient.testing._faults.fault import Fault
from adclient.testing._faults.faults import Faults
from adclient.testing._profile import Profile
from adclient.testing._recording import RecordedRequest
from adclient.testing._service import FakeAdService

__all__ = [
    "ApprovalRefused",
    "AuditEvent",
    "Dashboard",
    "FakeAdService",
    "FakeClock",
    "FakeDraft",
    "Fault",
    "Faults",
    "Profile",
    "RecordedRequest",
]
