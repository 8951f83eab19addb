import os

import colours
import pytest

_OURS = ("adclient_", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert")


def pytest_addoption(parser) -> None:
    parser.addoption(
        "--family",
        choices=["httpx", "httpx2", "aiohttp"],
        help="send through injected clients of a library, or the async client through aiohttp",
    )
    parser.addoption(
        "--seeds", type=int, default=1, help="how often each storm of cancelled calls is repeated"
    )


def pytest_configure(config) -> None:
    config.addinivalue_line("markers", "own: the connections of adclient itself are tested")
    family = config.getoption("--family", default=None)
    if family == "aiohttp":
        from adclient.aiohttp import AiohttpTransport

        colours.FAMILY.transport = AiohttpTransport
    elif family is not None:
        colours.FAMILY.library = __import__(family)
        colours.FAMILY.is_injected = True
    if family == "httpx2":
        from carry import Carrier

        colours.FAMILY.carry = Carrier


@pytest.fixture(autouse=True)
def _family(request) -> None:
    is_injected = colours.FAMILY.is_injected or colours.FAMILY.transport is not None
    if is_injected and request.node.get_closest_marker("own"):
        pytest.skip("no connection of adclient itself is made")
    if colours.FAMILY.transport is not None:
        callspec = getattr(request.node, "callspec", None)
        if callspec is None or callspec.params.get("colour") is not colours.ASYNC:
            pytest.skip("aiohttp is for the async client on asyncio")


@pytest.fixture(autouse=True)
def _no_settings_in_the_environment(monkeypatch) -> None:
    for name in list(os.environ):
        if name.lower().startswith(_OURS):
            monkeypatch.delenv(name)
