"""Measure the memory that a client takes for a response, with a lower limit of its size."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adclient._http import attempt

MIB = 1024 * 1024
LONGEST = 4 * MIB
TOO_LARGE = "larger than 4 MiB"


@contextmanager
def bounded_memory(most: int = 2 * LONGEST + MIB) -> Iterator[None]:
    """Check that no more than some bytes are allocated at any time."""
    assert (attempt.LONGEST_BODY, attempt.LONGEST_ERROR_BODY) == (64 * MIB, 64 * 1024)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attempt, "LONGEST_BODY", LONGEST)
        tracemalloc.start()
        try:
            yield
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < most
