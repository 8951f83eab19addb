import os

import attrs
import clients
import httpcore
import httpx
import pytest

_OURS = ("adclient_", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert")


def pytest_addoption(parser) -> None:
    parser.addoption(
        "--family",
        choices=["httpx", "httpx2", "aliased"],
        help="send through injected clients of a library, or check that httpx2 is in httpx's place",
    )


def pytest_configure(config) -> None:
    config.addinivalue_line("markers", "own: tests the default connections of adclient")
    family = config.getoption("--family", default=None)
    if family == "aliased":  # by tests/aliased_httpx
        assert (httpx.__name__, httpcore.__name__) == ("httpx2", "httpcore2")
    elif family is not None:
        clients.FAMILY.library = __import__(family)
        clients.FAMILY.is_injected = True
    if family == "httpx2":
        from httpx2_adapter import Carrier

        clients.FAMILY.carry = Carrier


def pytest_collection_modifyitems(config, items) -> None:
    """Deselect the tests that do not apply to the chosen library."""
    left_out = [item for item in items if not _concerns_the_family(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def _concerns_the_family(item) -> bool:
    """Return whether a test applies: `own` tests need the default connections."""
    return not (clients.FAMILY.is_injected and item.get_closest_marker("own"))


@pytest.fixture(autouse=True)
def _no_settings_in_the_environment(monkeypatch) -> None:
    for name in list(os.environ):
        if name.lower().startswith(_OURS):
            monkeypatch.delenv(name)


@pytest.fixture
def doctor_retries_at_once(monkeypatch) -> None:
    from adclient.doctor import _session

    at_once = attrs.evolve(_session._RETRY, backoff_first=0)
    monkeypatch.setattr(_session, "_RETRY", at_once)
