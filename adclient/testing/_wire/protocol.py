"""The wire: a request read into an operation and its arguments, and answers written."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import cast
from urllib.parse import parse_qsl, urlsplit

import attrs

from adclient._core import jsontext
from adclient._core.operations import OPERATIONS, Operation, Parameter, ParameterType
from adclient._core.request import Request
from adclient._core.response import RawResponse
from adclient.conventions import Conventions
from adclient.models import JSON, Result
from adclient.testing._profile import Place, Profile

Arguments = Mapping[str, JSON]
Pairs = list[tuple[str, str]]


class Refusal(Exception):
    """The service says no, with a status, a code and what is wrong with which field."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        details: Mapping[str, JSON] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, code, message)  # what pickle makes it from
        self.message = message
        self.status = status
        self.code = code
        self.details: list[dict[str, JSON]] = [] if details is None else [dict(details)]
        self.headers: Mapping[str, str] = dict(headers or {})

    def __str__(self) -> str:
        return self.message


def invalid(field: str, reason: str) -> Refusal:
    """The refusal of a parameter."""
    message = f"{field}: {reason.replace('_', ' ')}"
    details = {"field": field, "reason": reason}
    return Refusal(422, "invalid_parameter", message, details=details)


def json_reply(status: int, body: JSON, headers: Mapping[str, str] | None = None) -> RawResponse:
    """An answer that holds JSON."""
    content = jsontext.dumps(body, "answer").encode()
    return RawResponse(status=status, headers=dict(headers or {}), body=content)


_AT_PATH = {operation.path: operation for operation in OPERATIONS}


def operation_at(request: Request) -> Operation[Result] | None:
    """The operation at the path of a request; the base URL of a client may hold a prefix."""
    _, version, path = urlsplit(request.url).path.rpartition("/v1/")
    return _AT_PATH.get(version + path)


def operation_of(request: Request) -> Operation[Result]:
    """The operation that a request is for."""
    operation = operation_at(request)
    if operation is None:
        raise Refusal(404, "not_found", "there is nothing at this path")
    if operation.method != request.method:
        raise Refusal(
            405,
            "method_not_allowed",
            f"this path takes {operation.method}",
            headers={"allow": operation.method},
        )
    return operation


@attrs.frozen
class Asked:
    """What a request asks for."""

    operation: Operation[Result]
    url: str
    arguments: Arguments
    cursor: JSON = None

    def text(self, name: str) -> str | None:
        """An argument that is a text."""
        value = self.arguments.get(name)
        return value if isinstance(value, str) else None

    def object(self, name: str) -> dict[str, JSON]:
        """An argument that is an object; empty if it did not come."""
        value = self.arguments.get(name)
        return value if isinstance(value, dict) else {}


def asked_by(
    request: Request, operation: Operation[Result], conventions: Conventions, profile: Profile
) -> Asked:
    """The arguments of a request, checked against the interface."""
    url, _, text = request.url.partition("?")
    query = parse_qsl(text, keep_blank_values=True)
    place = _place(operation, conventions, profile)
    cursor: JSON = None
    if place == "query" or (place == "either" and not request.body):
        if request.body:
            raise Refusal(400, "unexpected_body", "the parameters go in the query")
        given = _from_query(query, operation, conventions)
    else:
        given = _from_body(request.body)
        extra = dict(query)
        if not operation.is_write and profile.continuation in ("url", "absolute_url"):
            cursor = extra.pop(conventions.cursor_parameter, None)
        if extra:
            raise Refusal(400, "unexpected_query", "the parameters go in the body")
    if not operation.is_write:
        cursor = given.pop(conventions.cursor_parameter, cursor)
    return Asked(operation, url, _checked(operation, given), cursor)


def _place(operation: Operation[Result], conventions: Conventions, profile: Profile) -> Place:
    """Where the parameters of an operation travel."""
    if not operation.is_write:
        return profile.read_parameters or conventions.read_parameters
    return profile.delete_parameters if operation.method == "DELETE" else "body"


def _from_body(body: bytes | None) -> dict[str, JSON]:
    try:
        value = _loads(body or b"")
    except jsontext.JSONError as error:
        raise Refusal(400, "invalid_json", f"the body cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise Refusal(400, "invalid_json", "the body is not a JSON object")
    return value


def _from_query(
    query: Pairs, operation: Operation[Result], conventions: Conventions
) -> dict[str, JSON]:
    objects = {parameter.name for parameter in operation.parameters if parameter.type == "object"}
    given: dict[str, JSON] = {}
    for name, text in query:
        root, *path = name.replace("]", "").split("[")
        deep = conventions.object_style == "deep_object"
        if path and deep and root in objects:
            _put(given, [root, *path], text)
        elif name in given:
            raise invalid(name, "repeated")
        else:
            is_cursor = name == conventions.cursor_parameter and text.startswith("{")
            given[name] = _decoded(name, text) if is_cursor or name in objects else text
            if deep and name in objects and given[name] != {}:
                raise invalid(name, "expected_one_value_for_each_leaf")
    return given


def _put(given: dict[str, JSON], path: list[str], text: str) -> None:
    """Set the leaf of a deep object."""
    *parents, last = path
    for key in parents:
        inner = given.setdefault(key, {})
        if not isinstance(inner, dict):
            raise invalid(path[0], "mixed_forms")
        given = inner
    given[last] = text


def _decoded(name: str, text: str) -> JSON:
    try:
        return _loads(text.encode())
    except jsontext.JSONError:
        raise invalid(name, "not_json") from None


_DEEPEST = 100


def _loads(content: bytes) -> JSON:
    """JSON of a depth that every part of the fake can walk and write again."""
    value = jsontext.loads(content)
    jsontext.dumps(value, "value")  # half of a surrogate pair can be read, but not written
    level = [value]
    for _ in range(_DEEPEST):
        level = [child for parent in level for child in _inside(parent)]
        if not level:
            return value
    raise jsontext.JSONError("nested too deeply")


def _inside(value: JSON) -> list[JSON]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _checked(operation: Operation[Result], given: dict[str, JSON]) -> Arguments:
    known = {parameter.name: parameter for parameter in operation.parameters}
    for name, value in given.items():
        if name not in known:
            raise invalid(name, "unknown")
        _check(known[name], value)
    for parameter in operation.parameters:
        if parameter.required and parameter.name not in given:
            raise invalid(parameter.name, "required")
    return given


def _check(parameter: Parameter, value: JSON) -> None:
    expected, fits = _TYPES[parameter.type]
    if not fits(value):
        raise invalid(parameter.name, f"expected_{expected}")


def is_number(value: JSON) -> bool:
    """Whether a JSON value is a number, which true and false are not."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_texts(value: JSON) -> bool:
    return isinstance(value, list) and all(isinstance(element, str) for element in value)


_TYPES: dict[ParameterType, tuple[str, Callable[[JSON], bool]]] = {
    "id": ("text", lambda value: isinstance(value, str) and value != ""),
    "text": ("text", lambda value: isinstance(value, str)),
    "object": ("object", lambda value: isinstance(value, dict)),
    "number": ("number", is_number),
    "texts": ("list_of_texts", _is_texts),
}


def texts(value: JSON) -> list[str]:
    """An argument that was checked to be a list of texts."""
    return cast("list[str]", value)
