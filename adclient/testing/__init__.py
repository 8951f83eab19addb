"""A fake of the ad management service, in process: stateful, deterministic, without a network."""

from adclient.testing.clock import FakeClock
from adclient.testing.dashboard import ApprovalRefused, Dashboard
from adclient.testing.drafts import AuditEvent, FakeDraft
from adclient.testing.fault import Fault
from adclient.testing.faults import Faults
from adclient.testing.profile import Profile
from adclient.testing.recording import RecordedRequest
from adclient.testing.service import FakeAdService

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
