"""JSON text: decoding of responses and encoding of arguments.

No number loses a digit, except numbers in listings that are too small for a float.
"""

import functools
import json
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import cast

from adclient._values.json_values import (
    JSON,
    as_number,
    fields_of as fields_of,
    is_array as is_array,
    is_deeper,
    is_object as is_object,
    unboxed,
)

# Objects and arrays inside each other. Functions that recurse over a value need three frames for
# each level at most, of the thousand that Python allows.
DEEPEST = 100
# The response to a write may repeat its arguments some levels further down.
_DEEPEST_ARGUMENT = DEEPEST // 2

# Prepares the search for numbers that a float would change: digits and dots become 0, and each
# byte that can precede a number becomes a comma.
_NORMALIZED = bytes.maketrans(b"123456789.E:[- \t\n\r", b"0000000000e,,,,,,,")
# A float keeps any 15 digits, and every number that its own `repr` writes.
_LONG = b"," + b"0" * 16
# Above this size, bodies are decoded without orjson, which may need eight times their size.
_ORJSON_LIMIT = 16 * 1024 * 1024


class JSONError(Exception):
    """A value or document is not valid; the message contains the path, such as `$.data[3].id`."""


def misfit(path: str, expected: str, value: object) -> JSONError:
    """The error for a value of another type than expected."""
    return JSONError(f"{path}: expected {expected}, got {kind_of(value)}")


def kind_of(value: object) -> str:
    """The type of a JSON value in words."""
    return "empty text" if value == "" else _KINDS.get(type(value), "a number")


_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "true or false",
    str: "text",
    dict: "an object",
    list: "an array",
}


def loads(body: bytes, *, unique: bool = False, deepest: int | None = DEEPEST) -> JSON:
    """Decode a JSON document, or raise a `JSONError`.

    The last of several equal names in an object wins, and a number too small for a float may become
    the closest one. With `unique`, equal names are an error, and every number keeps its digits.
    With a `deepest` of None, whoever walks the value has to expect a `RecursionError`.
    """
    value = _decoded(body, unique)
    # Few brackets, which is usual, need no look at the value; many may be next to each other.
    if deepest and body.count(b"{") + body.count(b"[") > deepest and is_deeper(value, deepest):
        raise JSONError("$: nested too deeply")
    return value


def _decoded(body: bytes, unique: bool) -> JSON:
    fast = _orjson_loads()
    if fast is not None and not unique and len(body) <= _ORJSON_LIMIT and _keeps_digits(body):
        # `json` below accepts or explains what orjson refuses, such as a lone surrogate, or a
        # number that is too large for a float.
        try:
            return fast(body)
        except ValueError:
            pass
    try:
        return cast(JSON, _decoder(unique=unique).decode(body.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 text at byte {error.start}"
    except RecursionError:
        problem = "nested too deeply"
    except (ValueError, ArithmeticError) as error:
        problem = f"not JSON: {error}"
    # Outside their blocks: those errors hold the whole body, and would be the context of this one.
    raise JSONError(f"$: {problem}")


def _keeps_digits(body: bytes) -> bool:
    """Check if 64-bit integers and floats keep every digit of a body's numbers."""
    # 16 digits in a row have four at every fourth byte, so a quarter of the body is searched.
    if b"0000" not in body[::4].translate(_NORMALIZED):
        return True
    text = b"," + body.translate(_NORMALIZED)
    number_at = re.compile(rb"[0-9.]+(?:[eE][+-]?[0-9]+)?").match
    numbers = (number_at(body, found.start()) for found in re.finditer(_LONG, text))
    return all(number is not None and _is_kept(number[0]) for number in numbers)


def _is_kept(number: bytes) -> bool:
    if number.isdigit():
        return len(number) < 20 and int(number) < 2**63
    try:
        digits = repr(float(number))
        return digits.encode() == number or Decimal(digits) == Decimal(number.decode())
    except (ValueError, ArithmeticError):  # it is no number
        return False


@functools.cache
def _orjson_loads() -> Callable[[bytes], JSON] | None:
    """The decoder of orjson, which is not available for every Python."""
    try:
        from orjson import loads
    except ImportError:
        return None
    return loads


@functools.cache
def _decoder(*, unique: bool) -> json.JSONDecoder:
    def parse_float(digits: str) -> float | Decimal:
        close = float(digits)
        try:
            decimal = Decimal(digits)
        except ArithmeticError:  # its exponent is too large, or too small
            if unique or math.isinf(close):
                raise ValueError("the exponent of a number is too large") from None
            return close
        return close if math.isfinite(close) and Decimal(repr(close)) == decimal else decimal

    def refuse_constant(name: str) -> float:
        raise ValueError(f"{name} is not a JSON value")

    def refuse_duplicates(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            raise ValueError("an object has the same name twice")
        return fields

    return json.JSONDecoder(
        parse_constant=refuse_constant,
        parse_float=parse_float,
        object_pairs_hook=refuse_duplicates if unique else None,
    )


def dumps(value: object, name: str, *, errors: str = "strict") -> str:
    """Encode a mapping, an instance with fields or a JSON value as compact JSON.

    `name` is the argument that a `JSONError` refers to. With `errors="backslashreplace"`, a lone
    surrogate becomes the escape that JSON has for it.
    """
    try:
        text = _encode(value, name)
        encoded = text.encode("utf-8", errors)
        return text if errors == "strict" else encoded.decode()
    except RecursionError:
        problem = "nested too deeply, or contains itself"
    except UnicodeEncodeError:
        problem = "contains a lone surrogate"
    # Outside of its block: that error holds the whole text, and would be the context of this one.
    raise JSONError(f"{name}: {problem}")


quoted = json.encoder.encode_basestring


def _encode(value: object, path: str) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return quoted(str.__str__(value))
    if isinstance(value, int | float):
        return digits(value, path)
    if is_object(value):
        members: list[str] = []
        for key, inner in value.items():
            if not isinstance(key, str):
                raise JSONError(f"{path}: expected a string as key, got {type(key).__name__}")
            members.append(f"{quoted(str.__str__(key))}:{_encode(inner, f'{path}.{key}')}")
        return "{" + ",".join(members) + "}"
    if is_array(value):
        return "[" + ",".join(_encode(v, f"{path}[{i}]") for i, v in enumerate(value)) + "]"
    if (number := as_number(value)) is not None:
        return digits(number, path)
    held = fields_of(value) if (listed := unboxed(value)) is value else listed
    if held is not None:
        return _encode(held, path)
    kind = f"{type(value).__name__}{'; pass its isoformat()' * hasattr(value, 'isoformat')}"
    raise JSONError(f"{path}: expected a JSON value, got {kind}")


def digits(value: int | float | Decimal, path: str) -> str:
    """Encode a number with its own digits; NaN and infinities are refused."""
    if isinstance(value, int):
        try:
            return int.__repr__(value)
        except ValueError:
            raise JSONError(f"{path}: expected a number of at most 4300 digits") from None
    if isinstance(value, float) and math.isfinite(value):
        return float.__repr__(value)
    if isinstance(value, Decimal) and value.is_finite():
        return str(value)
    raise JSONError(f"{path}: expected a finite number, got {value}")


def frozen(value: object, name: str) -> tuple[JSON, str]:
    """A caller's value as the JSON that is sent, which the caller cannot change, and as its text.

    An object that has a name twice is refused, because services differ in what they read.
    """
    if type(value) in (int, float):  # most numbers
        return cast(JSON, value), digits(cast(float, value), name)
    text = dumps(value, name)
    try:
        copy = cast(JSON, _decoder(unique=True).decode(text))
        if is_deeper(copy, _DEEPEST_ARGUMENT):
            raise RecursionError
        return copy, text
    except RecursionError:
        problem = "nested too deeply"
    except ValueError as error:
        problem = str(error)
    raise JSONError(f"{name}: {problem}")
