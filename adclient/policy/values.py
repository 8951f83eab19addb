"""The values of a policy's rules: conversions, and checks that name the rule."""

import difflib
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, cast

from adclient._values.arguments import as_number, as_tuple
from adclient._values.json_values import is_array, is_object
from adclient._values.text import short
from adclient.errors import ConfigurationError
from adclient.extend import OPERATIONS

LONGEST_KEY = 1000
_MOST = 10**15  # in any currency; a larger amount is a mistake
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


# The converters return unchanged what they cannot convert; the checks refuse it later.


def texts_of(value: Sequence[str] | None) -> tuple[str, ...] | None:
    """A list as a tuple."""
    return cast("tuple[str, ...] | None", as_tuple(value))


def amount_of(value: int | float | Decimal | None) -> Decimal | None:
    """A number as a decimal with the same digits."""
    if (number := as_number(value)) is None:
        return cast("Decimal | None", value)
    return Decimal(float.__repr__(number) if isinstance(number, float) else number)


def amounts_of(value: Mapping[str, int | float | Decimal] | None) -> Mapping[str, Decimal] | None:
    """A mapping of amounts, which cannot be changed."""
    money: object = value
    if isinstance(value, Mapping):
        money = MappingProxyType({key: amount_of(amount) for key, amount in value.items()})
    return cast("Mapping[str, Decimal] | None", money)


def seconds_of(value: str | int | float | Decimal | None) -> Decimal | None:
    """A time as seconds."""
    number: Any = value
    if isinstance(value, str) and (text := re.fullmatch("([0-9]{1,9})([smhd])", value)):
        number = int(text[1]) * _SECONDS[text[2]]
    return amount_of(number)


def check_texts(rule: str, texts: object) -> None:
    """Check a list of strings."""
    if not is_array(texts):
        raise refused(rule, f"must be a list of strings, not {type(texts).__name__}")
    for index, text in enumerate(texts):
        if not isinstance(text, str) or not text or text != text.strip() or not text.isprintable():
            what = "printable strings without surrounding blanks"
            raise refused(rule, f"must have {what}, not {short(text)!r}")
        if text in texts[:index]:
            raise refused(rule, f"has {short(text)} twice")


def check_patterns(patterns: Sequence[str]) -> None:
    """Check that each pattern matches an operation."""
    names = [operation.full_name for operation in OPERATIONS]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            near = difflib.get_close_matches(short(pattern), names, 1) or names
            problem = f"has {short(pattern)}, which matches no operation, such as {near[0]}"
            raise refused("operations", problem)


def check_keys(rule: str, keys: Sequence[str]) -> None:
    """Check that a write can set each key; one of `fields` may end in `.*`."""
    check_texts(rule, keys)
    for key in keys:
        path = key.removesuffix(".*") if rule == "fields" else key
        if "" in (names := path.split(".")) or "*" in path or len(key) > LONGEST_KEY:
            what = "which is no key: write names joined by dots, such as bidding.max_cpc"
            more = ", or targeting.* for whatever is inside" if rule == "fields" else ""
            raise refused(rule, f"has {short(key)}, {what}{more}")
        if names[0] == "fields":
            raise refused(rule, f"has {short(key)}: leave out `fields.`")


def check_money(money: object) -> None:
    """Check the keys and their amounts."""
    if not is_object(money):
        raise refused("money", f"must map keys to amounts, not be a {type(money).__name__}")
    check_keys("money", cast("list[str]", [*money]))
    for key, amount in money.items():
        check_amount(f"money.{key}", amount)


def check_amount(
    name: str, value: object, most: int = _MOST, expected: str = "a number from 0 to 10^15"
) -> None:
    """Check a number."""
    if not isinstance(value, Decimal) or not value.is_finite() or not 0 <= value <= most:
        got = repr(value) if isinstance(value, str) else value
        raise refused(name, f"must be {expected}, got {short(got)}")


def refused(rule: str, problem: str) -> ConfigurationError:
    """An error about a rule."""
    return ConfigurationError(f"{short(rule)} {problem}", argument=rule)
