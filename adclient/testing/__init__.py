"""A fake of the ad management service, in process: stateful, deterministic, without a network.

A request comes to `_service`, meets its fault (`_faults`), is authenticated, parsed (`_http`) and
routed to a listing of the live data (`_reads`, `_accounts`), or to a change
(`_writes`) that is staged as a draft and waits for approval (`_approval`). `server` does the same
over HTTP.
"""

from adclient.testing._approval.dashboard import ApprovalRefused, Dashboard
from adclient.testing._approval.drafts import AuditEvent, FakeDraft
from adclient.testing._fake.account import FakeAccount
from adclient.testing._fake.clock import FakeClock
from adclient.testing._fake.fault import Fault
from adclient.testing._fake.faults import Faults
from adclient.testing._fake.profile import Profile
from adclient.testing._fake.recording import RecordedRequest
from adclient.testing._fake.service import FakeAdService

__all__ = [
    "ApprovalRefused",
    "AuditEvent",
    "Dashboard",
    "FakeAccount",
    "FakeAdService",
    "FakeClock",
    "FakeDraft",
    "Fault",
    "Faults",
    "Profile",
    "RecordedRequest",
]
