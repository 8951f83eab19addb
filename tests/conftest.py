"""Fixtures and settings shared by all tests."""

import gc
import os
import sys
from collections.abc import Iterator

import clients
import httpcore
import httpx
import pytest
from hypothesis import settings

from adclient._values import jsontext

# Modules of tests/support that assert.
pytest.register_assert_rewrite(
    *("gate_tests", "ledger_processes", "ledger_tests", "memory"),
    *("policy_oracle", "processes", "secret_texts"),
)

# Without bytecode on disk, each run and each interpreter that a test starts compiles the package
# anew, which takes longer than most tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The duration of an example depends on the machine.
settings.register_profile("ordinary", deadline=None, max_examples=15)
settings.register_profile("long", deadline=None, max_examples=1000)
settings.load_profile("ordinary")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--seeds",
        type=int,
        default=1,
        help="how often stress tests repeat; above 1, tables are whole",
    )
    parser.addoption(
        "--family",
        choices=["httpx", "httpx2", "aliased"],
        help="send through injected clients of a library, or check that httpx2 is in httpx's place",
    )


def pytest_configure(config: pytest.Config) -> None:
    family = config.getoption("--family")
    if family == "aliased":  # by tests/support/aliased_httpx
        assert (httpx.__name__, httpcore.__name__) == ("httpx2", "httpcore2")
    elif family is not None:
        clients.FAMILY.library = __import__(family)
        clients.FAMILY.is_injected = True
    if family == "httpx2":
        from httpx2_adapter import Carrier

        clients.FAMILY.carry = Carrier


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.pluginmanager.hasplugin("_cov"):
        for item in items:
            # What only generated examples reach is covered by chance.
            if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
                item.add_marker("no_cover")
    left_out = [item for item in items if not _concerns_the_family(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def _concerns_the_family(item: pytest.Item) -> bool:
    """Return whether a test applies: `own` tests need the default connections."""
    return not (clients.FAMILY.is_injected and item.get_closest_marker("own"))


@pytest.fixture(scope="module", autouse=True)
def _frozen_heap() -> None:
    """Freeze the objects of earlier modules, so that `gc.collect()` in a test walks only its own.

    Otherwise every collection walks the modules and tests of the whole session.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", params=["orjson", "json"])
def decoder(request: pytest.FixtureRequest) -> Iterator[str]:
    """Both JSON decoders; a Python without orjson has only `json`."""
    name: str = request.param
    pytest.importorskip(name)
    with pytest.MonkeyPatch.context() as patch:
        if name == "json":
            patch.setitem(sys.modules, "orjson", None)
        jsontext._orjson_loads.cache_clear()
        assert (jsontext._orjson_loads() is None) is (name == "json")
        yield name
    jsontext._orjson_loads.cache_clear()


_OURS = ("adclient_", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert")


@pytest.fixture(autouse=True)
def _no_settings_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().startswith(_OURS):
            monkeypatch.delenv(name)
