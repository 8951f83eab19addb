"""Gates of a test, in a file that is not there yet."""

from pathlib import Path

import pytest

from adclient.gate import SharedGate
from adclient.ledger import SQLiteLedger
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
