"""Run a table of cases in one test, where one test per case would cost more than the case."""

import functools
import inspect
from collections.abc import Callable

import pytest


def each_case(names: str | tuple[str, ...], *table: object) -> Callable[[Callable], Callable]:
    """Run a test with every row of a table; failures are reported with their rows.

    Use it like `pytest.mark.parametrize`, for rows that need no separate fixtures.
    """
    names = (names,) if isinstance(names, str) else names
    rows = [row if len(names) > 1 else (row,) for row in table]
    assert len(rows) > 1, "a table has more rows than one; pass them, and no list of them"

    def decorate(test: Callable) -> Callable:
        @functools.wraps(test)
        def run(*arguments, **fixtures) -> None:
            failures = []
            for row in rows:
                try:
                    test(*arguments, **fixtures, **dict(zip(names, row, strict=True)))
                except (Exception, pytest.fail.Exception) as failure:
                    failure.add_note(f"with {row!r:.500}")
                    failures.append(failure)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(rows)} cases", failures)

        signature = inspect.signature(test)
        left = [value for name, value in signature.parameters.items() if name not in names]
        run.__signature__ = signature.replace(parameters=left)
        return run

    return decorate
