"""The work of `typed()`: reads items into an attrs class of the caller."""

from collections.abc import Iterable
from typing import TypeVar

import attrs

from adclient._core.jsontext import JSONError
from adclient._core.redact import one_line
from adclient._values.json_values import AttrsInstance
from adclient.errors import UnexpectedResponse
from adclient.models import JSON

A = TypeVar("A", bound=AttrsInstance)


def read_items(items: Iterable[dict[str, JSON]], cls: type[A], operation: str) -> tuple[A, ...]:
    """Read items into an attrs class; the items must not be used afterwards."""
    candidate: object = cls
    if not (isinstance(candidate, type) and attrs.has(candidate)):
        raise TypeError(f"typed() takes an attrs class, not {cls!r}")
    from adclient._core.converter import NoReaderError, structure  # deferred: it loads cattrs

    try:
        return tuple(structure(item, cls, f"$.data[{i}]") for i, item in enumerate(items))
    except NoReaderError as error:
        raise TypeError(f"typed() cannot read {cls.__name__}: {error}") from None
    except JSONError as error:
        raise UnexpectedResponse(
            one_line(f"{operation}: the items do not fit {cls.__name__}: {error}", 400),
            operation=operation,
        ) from error.__cause__
