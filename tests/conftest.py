"""What the tests of every floor share."""

import gc
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from adclient._core import wire

# The speed of the machine is no property of the code.
settings.register_profile("adclient", deadline=None)
settings.load_profile("adclient")


def pytest_collection_finish(session) -> None:
    """Take the tests themselves, which stay, off the garbage collector's hands."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session) -> None:
    gc.unfreeze()


@pytest.fixture(scope="module", params=["orjson", "json"])
def decoder(request: pytest.FixtureRequest) -> Iterator[str]:
    """Both decoders of JSON, of which every Python has the one or the other."""
    name: str = request.param
    pytest.importorskip(name)
    with pytest.MonkeyPatch.context() as patch:
        if name == "json":
            patch.setitem(sys.modules, "orjson", None)
        wire._fast_loads.cache_clear()
        assert (wire._fast_loads() is None) is (name == "json")
        yield name
    wire._fast_loads.cache_clear()
