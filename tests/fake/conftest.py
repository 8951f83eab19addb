"""Fixtures of the tests of the fake."""

import pytest

from adclient.testing import FakeAdService


@pytest.fixture
def fake() -> FakeAdService:
    return FakeAdService()
