"""What the tests of every floor share."""

import sys
from collections.abc import Iterator

import pytest

from adclient._core import wire


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
