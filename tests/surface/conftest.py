import os

import colours
import pytest

_OURS = ("adclient_", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert")


def pytest_addoption(parser) -> None:
    parser.addoption("--family", choices=["httpx", "httpx2"], help="send through injected clients")


def pytest_configure(config) -> None:
    config.addinivalue_line("markers", "own: the connections of adclient itself are tested")
    family = config.getoption("--family", default=None)
    if family is not None:
        colours.FAMILY.library = __import__(family)
        colours.FAMILY.is_injected = True
    if family == "httpx2":
        from carry import Carrier

        colours.FAMILY.carry = Carrier


@pytest.fixture(autouse=True)
def _family(request) -> None:
    if colours.FAMILY.is_injected and request.node.get_closest_marker("own"):
        pytest.skip("no connection of adclient itself is made")


@pytest.fixture(autouse=True)
def _no_settings_in_the_environment(monkeypatch) -> None:
    for name in list(os.environ):
        if name.lower().startswith(_OURS):
            monkeypatch.delenv(name)
