"""Fixtures and settings shared by all tests."""

import gc
import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from adclient._core import jsontext

# Tests that more than one module imports.
pytest.register_assert_rewrite("ledger_kills", "ledger_race", "ledger_tests")

# Without the cache of bytecode, each run and each interpreter that a test starts compiles the package
# and the tests anew, which takes longer than many of the tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The duration of an example depends on the machine.
settings.register_profile("ordinary", deadline=None, max_examples=30)
settings.register_profile("long", deadline=None, max_examples=1000)
settings.load_profile("ordinary")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--seeds",
        type=int,
        default=1,
        help="how often stress tests repeat; above 1, tables are whole",
    )


# These run code that other tests also cover; tracing it would double their time.
WITHOUT_COVERAGE = {
    "test_docs",
    "test_growth",
    "test_hostile_tools",
    "test_layers",
    "test_sync_twin",
    "test_only_sixteen",
    "test_operations",
    "test_code_of_pages",
    "test_retries",
    "test_writes_are_staged_once",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        # Only the code of prefetching differs on trio.
        is_again_on_trio = "[trio" in item.name and item.path.stem != "test_prefetch"
        if item.path.stem in WITHOUT_COVERAGE or is_again_on_trio:
            item.add_marker("no_cover")


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
