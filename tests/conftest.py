"""Fixtures and settings shared by all tests."""

import contextlib
import gc
import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

import adclient
from adclient._core import jsontext

# Tests that more than one module imports.
pytest.register_assert_rewrite("gate_tests", "ledger_kills", "ledger_race", "ledger_tests")

# Without bytecode on disk, each run and each interpreter that a test starts compiles the package
# anew, which takes longer than most tests.
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
    # modules
    "test_code_of_pages",
    "test_docs",
    "test_doctor_profiles",
    "test_growth",
    "test_hostile_tools",
    "test_layers",
    "test_only_sixteen",
    "test_operations",
    "test_policy_requests",
    "test_retries",
    "test_sync_twin",
    "test_writes_are_staged_once",
    # tests
    "test_bad_job_violates_nothing_else",
    "test_base_url_can_have_a_path",
    "test_endless_body_is_refused_with_bounded_memory",
    "test_path_of_any_length_is_shown_by_its_end",
    "test_random_cancellations_leave_a_small_pool_usable",
    "test_random_cancellations_lose_no_connection_of_a_pool",
    "test_random_faults_follow_from_the_seed",
    "test_results_and_logs_of_each_method_do_not_contain_the_token",
    "test_thousand_concurrent_calls_respect_the_default_limit",
    "test_thousand_concurrent_tasks_share_ten_connections",
    "test_wide_lists_at_every_level_are_compared_in_linear_time",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.pluginmanager.hasplugin("_cov"):
        import_all_modules()
    for item in items:
        # Only the code of prefetching differs on trio.
        is_again_on_trio = "[trio" in item.name and item.path.stem != "test_prefetch"
        names = {item.path.stem, item.name.partition("[")[0]}
        if is_again_on_trio or names & WITHOUT_COVERAGE:
            item.add_marker("no_cover")


def import_all_modules() -> None:
    """Import what is imported lazily, lest a test without coverage is the first to need it."""
    for module in pkgutil.walk_packages(adclient.__path__, "adclient."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # a library is missing
                importlib.import_module(module.name)


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
