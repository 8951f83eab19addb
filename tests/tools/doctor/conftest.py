import attrs
import pytest


@pytest.fixture
def doctor_retries_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from adclient.doctor import _session

    at_once = attrs.evolve(_session._RETRY, backoff_first=0)
    monkeypatch.setattr(_session, "_RETRY", at_once)
