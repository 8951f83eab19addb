"""Gates of a test, in a file that is not there yet."""

from pathlib import Path

import pytest

from adclient import Request
from adclient._core.call import validated
from adclient._core.exchange import Exchange
from adclient._core.operations import BY_NAME
from adclient._core.response import RetryQuota
from adclient._http.limiter import CapacityLimiter
from adclient._sync.gate_slot import GateSlot
from adclient.gate import SharedGate
from adclient.ledger import SQLiteLedger
from adclient.options import Options
from adclient.testing import FakeAdService


@pytest.fixture
def where(tmp_path) -> str:
    return str(tmp_path / "drafts.db")


@pytest.fixture
def gate_file(where) -> Path:
    return Path(f"{where}-gate")


@pytest.fixture
def fake() -> FakeAdService:
    return FakeAdService()


@pytest.fixture
def gate_of(where, fake):
    """Make a gate as another process would, on the clock of the fake."""

    def gate_of(**options) -> SharedGate:
        return SharedGate(SQLiteLedger(where, now=fake.clock.now), **options)

    return gate_of


@pytest.fixture
def gate(where) -> SharedGate:
    """A gate on the clock of the machine."""
    return SharedGate(SQLiteLedger(where), per_second=1000)


@pytest.fixture
def ask():
    """Let a slot ask its gate, and return what that answers."""

    def ask(slot, longest: float = 30.0):
        slot._exchange.deadline = slot._exchange.now() + longest
        answer = slot.enter()
        slot.release()
        return answer

    return ask


@pytest.fixture
def slot_of(fake):
    """The slot of a call at a gate, for which a test decides when it asks, or a pause begins."""
    call = validated(BY_NAME["alpha.explain_objectives"], {"account_id": "account_b204"})
    options, now = Options(base_url="https://ads.example.com"), fake.clock.monotonic
    request = Request(method="GET", url="https://ads.example.com")

    def slot_of(gate, pause=0.0):
        exchange = Exchange(call, request, options, RetryQuota(), dict, now=now, random=float)
        exchange.pause = pause
        return GateSlot(CapacityLimiter(9), gate, exchange)

    return slot_of
