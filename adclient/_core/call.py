"""One call of an operation, with arguments that were checked and copied."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import attrs

from adclient._core.operations import Operation, ParameterType
from adclient._show.signatures import public_in
from adclient._values import jsontext
from adclient._values.json_values import as_number, unboxed
from adclient._values.redact import one_line
from adclient.errors import InvalidRequest
from adclient.models import JSON, LAST_30_DAYS, Draft, Item

_TEXT_TYPES = ("id", "text")


@public_in("adclient.extend")
@attrs.frozen(eq=False, repr=False)
class Call:
    """One call of an operation with arguments that were checked; see `validated`.

    `arguments` are the JSON values that are sent, `encoded` are the same as text, and
    `cursor` is where a listing continues. `target_id` is the campaign, creative or ad, if one is
    named.
    """

    operation: Operation
    account_id: str
    target_id: str | None
    arguments: Mapping[str, JSON]
    encoded: Mapping[str, str]
    cursor: JSON = None


def validated(operation: Operation, arguments: Mapping[str, object], cursor: JSON = None) -> Call:
    """Check and copy the arguments of a call, in the order of the interface.

    Each parameter has an argument; None is not sent. All pages of a listing are requested with
    these copies, even if the caller changes the originals meanwhile.
    """
    if len(arguments) != len(operation.parameters):
        raise TypeError(f"{operation.full_name} does not have the parameters {[*arguments]}")
    return checked(operation, [arguments[name] for name in operation.names], cursor)


def checked(operation: Operation, values: Sequence[object], cursor: JSON = None) -> Call:
    """The same, by the values alone: a dictionary takes 5,000 instructions more."""
    frozen: dict[str, JSON] = {}
    encoded: dict[str, str] = {}
    name = "cursor"
    try:
        if cursor is not None:
            if jsontext.fields_of(cursor) is not None or unboxed(cursor) is not cursor:
                kind = type(cursor).__name__
                raise jsontext.JSONError(f"cursor: expected a page's `next`, got {kind}")
            cursor, _ = jsontext.frozen(cursor, name)
        for parameter, value in zip(operation.parameters, values, strict=True):
            name = parameter.name
            # The fast path: most arguments are text.
            if type(value) is str and value and value.isascii() and parameter.type in _TEXT_TYPES:
                frozen[name], encoded[name] = value, jsontext.quoted(value)
            elif value is not None or parameter.required:
                expected, fits = _TYPES[parameter.type]
                if not fits(value):
                    raise jsontext.JSONError(f"{name} must be {expected}, got {_kind_of(value)}")
                frozen[name], encoded[name] = jsontext.frozen(value, name)
    except jsontext.JSONError as error:
        raise invalid(operation, name, one_line(str(error))) from None
    # Which value counts of a parameter that `fields` holds, too, is the service's guess.
    if "fields" in frozen:
        fields = cast("dict[str, JSON]", frozen["fields"])
        for name in frozen:
            if name != "fields" and name in fields:
                problem = f"{name} is given twice, as an argument and in fields"
                raise invalid(operation, name, problem)
    target = operation.target
    target_id = str(frozen[target]) if target in frozen else None
    return Call(operation, str(frozen["account_id"]), target_id, frozen, encoded, cursor)


_TYPES: dict[ParameterType, tuple[str, Callable[[object], bool]]] = {
    "id": ("a non-empty str", lambda value: isinstance(value, str) and value != ""),
    "text": (f"a str, such as {LAST_30_DAYS}", lambda value: isinstance(value, str)),
    "object": (
        "a mapping, or an instance of attrs, a dataclass or pydantic",
        lambda value: jsontext.is_object(value) or jsontext.fields_of(value) is not None,
    ),
    "number": (
        "a finite number (int, float or Decimal)",
        lambda value: as_number(value) is not None,
    ),
    "texts": (
        "a list of str",
        lambda value: (
            jsontext.is_array(listed := unboxed(value)) and all(isinstance(e, str) for e in listed)
        ),
    ),
}


def _kind_of(value: object) -> str:
    """Describe a wrong argument without its value, which may be private."""
    if value is None or (isinstance(value, str) and not value):
        return repr(value)
    if isinstance(value, Draft):
        return "a Draft, which is only a proposal: pass the id of what it would change"
    if isinstance(value, Item):
        return f"{type(value).__name__}: pass an id, such as its own"
    if jsontext.is_array(listed := unboxed(value)):
        odd = next((element for element in listed if not isinstance(element, str)), "")
        return f"a {type(value).__name__} that holds {type(odd).__name__}"
    return type(value).__name__


def invalid(operation: Operation, argument: str, problem: str) -> InvalidRequest:
    """The error for an argument that is refused before anything is sent."""
    text = f"{operation.full_name}: {problem}; nothing was sent"
    return InvalidRequest(text, operation=operation.full_name, argument=argument)
