"""Values of callers by kind, to be known before they are compared: arrays refuse that."""

from collections.abc import Collection, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import cast

from adclient._values.json_values import is_array


def as_count(value: object) -> int | None:
    """A whole number, also of NumPy; None of anything else, such as true and false."""
    return None if isinstance(value, bool) or not isinstance(value, Integral) else int(value)


def as_number(value: object) -> int | float | Decimal | None:
    """A number, also of NumPy, with the digits that it shows; None of anything else."""
    if isinstance(value, float | Decimal):
        return value
    if isinstance(value, Real) and not isinstance(value, Integral):
        try:
            return Decimal(str(value))
        except ArithmeticError:  # a fraction
            return None
    return as_count(value)


def as_float(value: object) -> float:
    """A number as a float; NaN of anything else, and of what no float holds."""
    try:
        number = as_number(value)
        return float("nan" if number is None else number)
    except OverflowError:
        return float("nan")


def unboxed(value: object) -> object:
    """A sequence as a list, and an array, such as a pandas Series, as what it holds."""
    cls = type(value)
    if is_array(value) or issubclass(cls, str | bytes | bytearray | memoryview):
        return value
    if isinstance(value, Sequence):
        return [*cast("Sequence[object]", value)]
    to_list = getattr(cls, "tolist", None) or getattr(cls, "to_list", None)
    return to_list(value) if to_list is not None and hasattr(cls, "__array__") else value


def as_tuple(value: object) -> object:
    """A list, another sequence or an array as a tuple; anything else as it is."""
    return tuple(listed) if is_array(listed := unboxed(value)) else value


def is_choice(value: object, choices: Collection[object]) -> bool:
    """Check if a value is one of some texts."""
    return isinstance(value, str) and value in choices
