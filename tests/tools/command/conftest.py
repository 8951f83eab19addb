from collections.abc import Iterator
from pathlib import Path

import pytest

from adclient.testing import FakeAdService

POLICY = 'accounts = ["account_a91f", "account_b204"]\nmoney = { daily_budget = 150 }\n'


@pytest.fixture
def fake() -> Iterator[FakeAdService]:
    """A fake to which the commands talk."""
    with FakeAdService(page_size=20).as_environment() as service:
        yield service


@pytest.fixture
def files(tmp_path, monkeypatch) -> Path:
    """The current folder, with a policy."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path
