"""Values of callers and of JSON by kind: what they have inside, as JSON, copied, and compared."""

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from enum import Enum
from functools import wraps
from numbers import Integral, Real
from typing import Any, ClassVar, ParamSpec, Protocol, TypeGuard, TypeVar, Union, cast

import attrs

from adclient._show.signatures import TypeAliasType

P = ParamSpec("P")
R = TypeVar("R")

# A type alias with a name, so that signatures show the name.
JSON = TypeAliasType(
    "JSON", Union[bool, int, float, Decimal, str, "list[JSON]", "dict[str, JSON]", None]
)
"""Any JSON value. A number is an `int` or `float`, or a `Decimal` if a float would lose digits."""


class HasAttrs(Protocol):
    """An instance of any attrs class, for mypy."""

    __attrs_attrs__: ClassVar[Any]


class DataclassInstance(Protocol):
    """An instance of any dataclass; for type checkers other than mypy, also of an attrs class."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


# Not `attrs.AttrsInstance`: type checkers other than mypy accept any object for it.
AttrsInstance = HasAttrs | DataclassInstance


class PydanticModel(Protocol):
    """An instance of any pydantic model, of version 2 or later."""

    def model_dump(self, *, mode: str, by_alias: bool) -> dict[str, Any]:
        """The fields of the model."""
        ...


ObjectLike = TypeAliasType("ObjectLike", Mapping[str, object] | AttrsInstance | PydanticModel)
"""A value that is sent as a JSON object: a mapping, such as a `TypedDict`, or an instance."""


def is_object(value: object) -> TypeGuard[Mapping[object, object]]:
    """Check if a caller's value is encoded as a JSON object."""
    return isinstance(value, (dict, Mapping))  # dict first: `Mapping` alone is slower


def is_array(value: object) -> TypeGuard[Sequence[object]]:
    """Check if a caller's value is encoded as a JSON array."""
    return isinstance(value, (list, tuple))  # faster than with `|`


def fields_of(value: object) -> Mapping[str, object] | None:
    """The fields of an instance of attrs, of a dataclass or of pydantic; None of anything else."""
    cls = type(value)
    if has_fields(cls):
        return as_mapping(value)
    if hasattr(cls, "model_dump"):
        model = cast(PydanticModel, value)
        dumped = model.model_dump(mode="json", by_alias=True)
        exact = model.model_dump(mode="python", by_alias=True)
        return cast("dict[str, object]", _with_decimals(dumped, exact))
    return None


def _with_decimals(dumped: object, exact: object) -> object:
    """Restore the decimals of a model, which pydantic dumps to JSON as text."""
    if isinstance(exact, Decimal):
        return exact
    if is_object(dumped) and is_object(exact) and len(dumped) == len(exact):
        values = map(_with_decimals, dumped.values(), exact.values())
        return dict(zip(dumped, values, strict=True))
    if is_array(dumped) and is_array(exact) and len(dumped) == len(exact):
        return list(map(_with_decimals, dumped, exact))
    return dumped


def has_fields(cls: object) -> TypeGuard[type[Any]]:
    """Check for an attrs class or a dataclass."""
    return isinstance(cls, type) and (attrs.has(cls) or hasattr(cls, "__dataclass_fields__"))


def declared_fields(cls: type[Any]) -> Sequence[Any]:
    """The fields of an attrs class or a dataclass."""
    if attrs.has(cls):
        return cast("Sequence[Any]", attrs.fields(cls))
    from dataclasses import fields  # deferred: slow to import

    return fields(cls)


def as_mapping(value: object) -> Mapping[str, object]:
    """The fields of an instance that were set; one with `init=False` need not be."""
    names = [field.name for field in declared_fields(type(value))]
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def is_deeper(value: object, levels: int) -> bool:
    """Check if a value has more levels of objects and arrays inside each other."""
    if is_object(value):
        value = [*value.values()]
    if not is_array(value):
        return False
    return not levels or any(is_deeper(inner, levels - 1) for inner in value)


def walks(function: Callable[P, R]) -> Callable[P, R]:
    """Turn the `RecursionError` of a function about a value nested too deeply into our error."""

    @wraps(function)
    def walk(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except RecursionError:
            pass  # raised below, without this error and its thousand frames as a context
        from adclient._values.text import short  # deferred: it imports this module
        from adclient.errors import UnexpectedResponse

        what = f"{type(args[0]).__name__} {short(getattr(args[0], 'id', ''))}".strip()
        advice = "sys.setrecursionlimit allows more levels"
        raise UnexpectedResponse(f"{what}: nested too deeply to be converted; {advice}")

    return walk


SCALARS = frozenset({str, int, float, bool, type(None), Decimal})  # most values


def copied(value: JSON) -> JSON:
    """A deep copy."""
    if isinstance(value, dict):
        return copied_fields(value)
    if isinstance(value, list):
        return [each if type(each) in SCALARS else copied(each) for each in value]
    return value


def copied_fields(fields: Mapping[str, JSON]) -> dict[str, JSON]:
    """A deep copy of an object's fields."""
    return {k: v if type(v) in SCALARS else copied(v) for k, v in fields.items()}


def differ(one: JSON, other: JSON) -> bool:
    """Check if two values are different JSON: true and 1 are, though equal in Python."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() != other.keys() or any(differ(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) != len(other) or any(map(differ, one, other))
    return one != other or isinstance(one, bool) is not isinstance(other, bool)


def folded(name: str) -> str:
    """The name of a field as a service may read it: `dailyBudget` and `daily_budget` are one."""
    from unicodedata import normalize  # deferred: few calls have a policy

    letters = "".join(filter(str.isalnum, normalize("NFKC", name).casefold()))
    return letters or name


def values_named(values: Iterable[JSON], name: str) -> list[JSON]:
    """What the objects among some values have under a name, as a service may read it."""
    objects = (each for each in values if isinstance(each, dict))
    return [each[key] for each in objects for key in each if folded(key) == folded(name)]


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


class ToJSON:
    """What has `to_dict` has `to_json` as well."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> Mapping[str, object]:
        """The result as a dictionary of JSON values."""

    def to_json(self) -> str:
        """Convert what `to_dict` returns to JSON text, in which each number has all its digits.

        Returns:
            One line, without spaces between values.

        Raises:
            ValueError: It has a value of yours that is not JSON, such as NaN.

        Examples:
            >>> from adclient import Diff
            >>> Diff(field="daily_budget", before=100, after=120).to_json()
            '{"field":"daily_budget","before":100,"after":120}'
        """
        return json_of(self, self.to_dict())


def json_of(result: object, value: object) -> str:
    """The JSON text of a value that a result contains."""
    from adclient._values import jsontext  # deferred: it imports this module

    try:
        return jsontext.dumps(value, type(result).__name__, errors="backslashreplace")
    except jsontext.JSONError as error:
        raise ValueError(str(error)) from None


@walks
def as_objects(items: Iterable[object]) -> list[dict[str, JSON]]:
    """Each item as a JSON object."""
    return [cast("dict[str, JSON]", as_json(item)) for item in items]


def as_json(value: object) -> JSON:
    """A value of a field of a caller's class as JSON."""
    return cast(JSON, plain(value, keeps_times=False))


def plain(value: object, *, keeps_times: bool = True) -> object:
    """A value of a field as plain Python: dictionaries, lists, scalars, and times or their text."""
    if type(value) in SCALARS:
        return value
    if isinstance(value, ToJSON):
        return value.to_dict()
    if isinstance(value, Enum):
        return plain(value.value, keeps_times=keeps_times)
    if isinstance(value, date):  # or a time
        return value if keeps_times else value.isoformat()
    if isinstance(value, set | frozenset):
        value = sorted(cast("set[object]", value), key=repr)
    if is_array(value):
        return [plain(element, keeps_times=keeps_times) for element in value]
    fields = value if is_object(value) else fields_of(value)
    if fields is None:
        return value
    return {str(name): plain(inner, keeps_times=keeps_times) for name, inner in fields.items()}
