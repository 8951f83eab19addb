"""JSON text: bytes to values, and what callers pass to text. No number loses a digit either way."""

import functools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from numbers import Integral
from typing import TypeGuard, cast

import attrs

from adclient._json import JSON


class JSONError(Exception):
    """Something is not as it should be; the text says where, such as `$.data[3].id`."""


# Bytes that mean the same for the search below: a digit or a dot, and what a number comes after.
_ALIKE = bytes.maketrans(b"123456789.E:[ \t\n\r", b"0000000000e,,,,,,")
_LONG, _LARGE_EXPONENT = b"," + b"0" * 16, b"0e000"
_TINY = re.compile(rb"-(?<=[eE]-)\d\d\d")
# Beside a body, orjson may need eight times its size, for nothing but brackets and digits.
_LONGEST_FAST = 16 * 1024 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def loads(body: bytes, *, unique: bool = False) -> JSON:
    """The value of a JSON document, or a `JSONError` if it is not one.

    Of names that come twice in an object, the last counts, unless they are to be `unique`.
    """
    body = body.removeprefix(_BYTE_ORDER_MARK)
    fast = _fast_loads()
    if fast is not None and not unique and len(body) <= _LONGEST_FAST and _is_plain(body):
        # What it refuses, such as a lone surrogate, is taken or explained below.
        with suppress(ValueError):
            return fast(body)
    try:
        decoder = _decoder(_is_delicate(body), unique)
        return cast(JSON, decoder.decode(body.decode()))
    except UnicodeDecodeError as error:
        raise JSONError(f"$: not UTF-8 text at byte {error.start}") from None
    except RecursionError:
        raise JSONError("$: nested too deeply") from None
    except (ValueError, ArithmeticError) as error:
        raise JSONError(f"$: not JSON: {error}") from None


@functools.cache
def _fast_loads() -> Callable[[bytes], JSON] | None:
    """The decoder of orjson, which not every Python has."""
    try:
        from orjson import loads
    except ImportError:
        return None
    return loads


# A number of up to 15 digits and a small exponent survives a float; all others need care.


def _is_plain(body: bytes) -> bool:
    """Whether orjson keeps every digit of a body; it refuses numbers that are too large."""
    return not _has_long_number(body) and _TINY.search(body) is None


def _is_delicate(body: bytes) -> bool:
    """Whether a body may hold a number that a float would change."""
    return _has_long_number(body) or _LARGE_EXPONENT in body.translate(_ALIKE, b"+-")


def _has_long_number(body: bytes) -> bool:
    """Whether more than 15 digits may stand in a row, outside of texts as a rule."""
    # Of 16 bytes in a row, every fourth byte of a body shows four, which is a quicker search.
    if b"0000" not in body[::4].translate(_ALIKE):
        return False
    return _LONG in b"," + body.translate(_ALIKE, b"-")


def _number(digits: str) -> float | Decimal:
    """A float if it keeps every digit, else a decimal."""
    exact, close = Decimal(digits), float(digits)
    return close if math.isfinite(close) and Decimal(repr(close)) == exact else exact


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON value")


def _without_twins(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name comes twice in one object")
    return found


@functools.cache
def _decoder(careful: bool, unique: bool) -> json.JSONDecoder:
    return json.JSONDecoder(
        parse_constant=_refuse_constant,
        parse_float=_number if careful else None,
        object_pairs_hook=_without_twins if unique else None,
    )


def dumps(value: object, name: str) -> str:
    """Compact JSON text of any mapping, attrs instance or JSON value.

    `name` is where the value came from, for the `JSONError` about what is not JSON in it.
    """
    try:
        text = _encode(value, name)
        text.encode("utf-8")
    except RecursionError:
        raise JSONError(f"{name}: nested too deeply, or holds itself") from None
    except UnicodeEncodeError:
        raise JSONError(f"{name}: holds a text with a lone surrogate") from None
    return text


quoted = json.encoder.encode_basestring


def _encode(value: object, path: str) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return quoted(str.__str__(value))
    if isinstance(value, int | float | Decimal | Integral):
        return digits(value, path)
    if is_object(value):
        return "{" + ",".join(_members(value, path)) + "}"
    if is_array(value):
        return "[" + ",".join(_encode(v, f"{path}[{i}]") for i, v in enumerate(value)) + "]"
    if attrs.has(type(value)):
        return _encode(as_mapping(value), path)
    raise JSONError(f"{path}: expected a JSON value, got {type(value).__name__}")


def is_object(value: object) -> TypeGuard[Mapping[object, object]]:
    """Whether a caller's value stands for a JSON object."""
    return isinstance(value, (dict, Mapping))  # to ask for a dict costs less


def is_array(value: object) -> TypeGuard[Sequence[object]]:
    """Whether a caller's value stands for a JSON array."""
    return isinstance(value, list | tuple)


def _members(value: Mapping[object, object], path: str) -> list[str]:
    members: list[str] = []
    for key, inner in value.items():
        if not isinstance(key, str):
            raise JSONError(f"{path}: expected text as a key, got {type(key).__name__}")
        members.append(f"{quoted(str.__str__(key))}:{_encode(inner, f'{path}.{key}')}")
    return members


def digits(value: object, path: str) -> str:
    """The digits of a number as its owner wrote them; NaN, infinities and bools are no numbers."""
    if isinstance(value, bool):
        raise JSONError(f"{path}: expected a finite number, got {value}")
    if isinstance(value, int | Integral):
        return _whole(int(value), path)
    if isinstance(value, float) and math.isfinite(value):
        return float.__repr__(value)
    if isinstance(value, Decimal) and value.is_finite():
        return str(value)
    got = str(value) if isinstance(value, float | Decimal) else type(value).__name__
    raise JSONError(f"{path}: expected a finite number, got {got}")


def _whole(value: int, path: str) -> str:
    try:
        return int.__repr__(value)
    except ValueError:
        raise JSONError(f"{path}: expected a number of at most 4300 digits") from None


def plain(value: object, name: str) -> object:
    """A copy of a caller's value that the caller cannot change any more, or a `JSONError`."""
    try:
        return _plain(value)
    except RecursionError:
        raise JSONError(f"{name}: nested too deeply, or holds itself") from None


def _plain(value: object) -> object:
    if isinstance(value, str | int | float):
        return value
    if is_array(value):
        return [_plain(element) for element in value]
    if is_object(value):
        return {key: _plain(inner) for key, inner in value.items()}
    return _plain(as_mapping(value)) if attrs.has(type(value)) else value


def as_mapping(value: object) -> Mapping[str, object]:
    """The fields of an attrs instance, not copied and not converted."""
    fields = attrs.fields(cast("type[attrs.AttrsInstance]", type(value)))
    return {field.name: getattr(value, field.name) for field in fields}
