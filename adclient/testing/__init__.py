"""A fake of the ad management service, in process: stateful, deterministic, without a network.

A request comes to `_fake.responder`, meets its fault (`faults`), is authenticated, parsed
(`requests`), and becomes a page (`pages`) of a listing (`reads`) of the live data (`accounts`), or
a change (`writes`) that is staged as a draft and waits for approval (`approval`). `server` does the
same over HTTP.
"""

from adclient.testing._fake.accounts import FakeAccount
from adclient.testing._fake.approval import ApprovalRefused, AuditEvent, Dashboard, FakeDraft
from adclient.testing._fake.clock import FakeClock
from adclient.testing._fake.faults import Fault, Faults
from adclient.testing._fake.profile import Profile
from adclient.testing._fake.requests import RecordedRequest
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
