"""Gates of a test, in a file that is not there yet."""

from pathlib import Path

import pytest

from adclient import SharedGate, SQLiteLedger
from adclient._core.call import validated
from adclient._core.operations import EXPLAIN_ALPHA_OBJECTIVES
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
    """Ask a gate for a call, with a ticket that has waited or a new one; its decision."""

    def ask(ticket, longest: float = 30.0):
        ticket.asking(longest, 0.5)()
        return ticket.decision

    return ask


@pytest.fixture
def ticket_of(fake):
    """The ticket of a call, for which a test decides when it asks."""
    call = validated(EXPLAIN_ALPHA_OBJECTIVES, {"account_id": "account_b204"})
    options = Options(base_url="https://ads.example.com")
    return lambda gate: gate.__ticket__(call, options, fake.clock.monotonic)
