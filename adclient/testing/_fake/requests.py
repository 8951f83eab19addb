"""Requests: recorded as they came, and parsed into an operation and its arguments."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from typing import Self, TypeGuard, cast
from urllib.parse import parse_qsl, urlsplit

import attrs

from adclient._core.operations import ParameterType
from adclient._service.model import Listing, Next, Service
from adclient._values import jsontext
from adclient._values.redact import one_line
from adclient._values.text import short
from adclient.conventions import Conventions, of_read
from adclient.extend import OPERATIONS, Operation, Request
from adclient.models import JSON
from adclient.testing._fake.profile import Profile, ReadPlace
from adclient.testing._fake.responses import http_error, invalid_parameter

_MAX_REQUESTS = 20
_MAX_LINE = 300


@attrs.frozen(kw_only=True)
class RecordedRequest:
    """A request that reached the fake service.

    Attributes:
        method: The HTTP method.
        path: The path, without the query.
        query: The parameters in the query, decoded.
        headers: The headers, with names in lower case. They may contain a token.
        body: The bytes of the body; empty if there was none.
        operation: The operation, such as `beta.list_campaigns`; None if there is none.
        account_id: The account that the request named; None if it named none.
        status: The HTTP status of the response; None if the response was lost.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService()
        >>> page = fake.client().gamma.list_ads(account_id="account_c3d8")
        >>> request = fake.requests[0]
        >>> request.method, request.path, request.query
        ('GET', '/v1/gamma-ads/list-gamma-ads', {'account_id': 'account_c3d8'})
        >>> request.body, request.json
        (b'', None)
        >>> request.parameters
        {'account_id': 'account_c3d8'}
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str] = attrs.field(repr=False)
    body: bytes = attrs.field(repr=False)
    operation: str | None
    account_id: str | None
    status: int | None

    @property
    def json(self) -> JSON:
        """The body as JSON values; None if it was not JSON."""
        try:
            return jsontext.loads(self.body)
        except jsontext.JSONError:
            return None

    @property
    def parameters(self) -> dict[str, JSON]:
        """The parameters in the query and in the body."""
        body = self.json
        return {**self.query, **(body if isinstance(body, dict) else {})}

    def __deepcopy__(self, _: object) -> Self:
        return self  # snapshots share what never changes


def recorded(request: Request, operation: Operation | None) -> RecordedRequest:
    """The record of a request without a response; the operation is that at its path."""
    parts = urlsplit(request.url)
    record = RecordedRequest(
        method=request.method,
        path=parts.path,
        query=dict(parse_qsl(parts.query, keep_blank_values=True)),
        headers=request.headers,
        body=request.body or b"",
        operation=operation.full_name if operation and operation.method == request.method else None,
        account_id=None,
        status=None,
    )
    account_id = record.parameters.get("account_id")
    return attrs.evolve(record, account_id=account_id if isinstance(account_id, str) else None)


def report(requests: Sequence[RecordedRequest]) -> str:
    """The last requests, one on each line, without headers, which may hold a token."""
    earlier = len(requests) - _MAX_REQUESTS
    lines = [f"… {earlier} earlier"] if earlier > 0 else []
    for request in requests[-_MAX_REQUESTS:]:
        status = "no response" if request.status is None else request.status
        parameters = request.parameters.items()
        shown = " ".join(f"{short(name)}={short(value)}" for name, value in parameters)
        lines.append(one_line(f"{request.method} {request.path} -> {status} {shown}", _MAX_LINE))
    return "\n".join(lines or ["none"])


MAX_BODY = 1024 * 1024
"""The most bytes that the body of a request may have."""
_BY_PATH = {operation.path: operation for operation in OPERATIONS}


@attrs.frozen
class ParsedRequest:
    """The operation and the arguments of a request, its page size, and what it continues with.

    `conventions`, `listing` and `next` are those of the operation.
    """

    operation: Operation
    url: str
    arguments: Mapping[str, JSON]
    page_size: int | None
    continuation: Mapping[str, JSON]
    conventions: Conventions
    listing: Listing
    next: Next

    def text(self, name: str) -> str | None:
        """A text argument."""
        value = self.arguments.get(name)
        return value if isinstance(value, str) else None

    def object(self, name: str) -> dict[str, JSON]:
        """An object argument; empty if it is missing."""
        return nested(self.arguments, name)

    def texts(self, name: str) -> list[str]:
        """An argument that was checked to be a list of texts."""
        return cast("list[str]", self.arguments[name])


def nested(values: Mapping[str, JSON], key: str) -> dict[str, JSON]:
    """An object inside values; empty if there is none."""
    value = values.get(key)
    return value if isinstance(value, dict) else {}


def operation_at(request: Request, base_url: str) -> Operation | None:
    """The operation at the path of a request to a service whose base URL may have a path, too."""
    path, prefix = urlsplit(request.url).path, urlsplit(base_url).path
    return _BY_PATH.get(path.removeprefix(prefix)) if path.startswith(prefix) else None


def parsed(request: Request, base_url: str, service: Service, profile: Profile) -> ParsedRequest:
    """The arguments of a request for the operation at its path, if there is one.

    Reads take them from the place that the conventions name, or from another one.
    """
    if len(request.body or b"") > MAX_BODY:
        raise http_error("request_too_large", limit=MAX_BODY)
    operation = operation_at(request, base_url)
    if operation is None:
        raise http_error("not_found")
    if operation.method != request.method:
        method = operation.method
        raise http_error("method_not_allowed", headers={"allow": method}, method=method)
    conventions = of_read(service.conventions, operation.full_name)
    listing = service.listings.get(operation.full_name, Listing(account_id=""))
    next_ = listing.next or Next(form="string")
    known = {parameter.name: parameter for parameter in operation.parameters}
    place: ReadPlace = "body"
    names, sizes = list[str](), list[str]()  # of a continuation, and of the size of a page
    if not operation.is_write:
        place = profile.read_parameters or conventions.read_parameters
        is_followed = next_.form == "URL" and conventions.follow_next_urls
        # Those of the next URL or object where clients take it apart, else only one.
        parts = next_.parameters if is_followed or conventions.continuation else ()
        names = [each for each in parts if each not in known] or [conventions.cursor_parameter]
        own = profile.page_size_parameter
        sizes = [*([own] if own else []), *(conventions.page_size or {})]
    url, _, text = request.url.partition("?")
    query = parse_qsl(text, keep_blank_values=True)
    if place == "query" or (place == "either" and not request.body):
        if request.body:
            raise http_error("unexpected_body")
        arguments = _from_query(query, operation, names, conventions.object_style)
    else:
        arguments = _from_body(request.body or b"")
        in_query = {name: text for name, text in query if name not in known}
        is_next_url = next_.form == "URL" and in_query.keys() <= set(names)
        if query and not (in_query and is_next_url):
            raise http_error("unexpected_query")
        arguments |= in_query
    page_sizes = [_page_size(name, arguments.pop(name)) for name in sizes if name in arguments]
    continuation = {name: arguments.pop(name) for name in names if name in arguments}
    for name, value in arguments.items():
        if name not in known:
            raise invalid_parameter(name, "unknown")
        expected, fits = _TYPES[known[name].type]
        if not fits(value):
            raise invalid_parameter(name, f"expected_{expected}")
    for name, parameter in known.items():
        if parameter.required and name not in arguments:
            raise invalid_parameter(name, "required")
    size = page_sizes[0] if page_sizes else None
    return ParsedRequest(operation, url, arguments, size, continuation, conventions, listing, next_)


def _page_size(name: str, value: JSON) -> int:
    if re.fullmatch("[1-9][0-9]{,8}", str(value)) is None:
        raise invalid_parameter(name, "expected_whole_number")
    return int(str(value))


def _from_body(body: bytes) -> dict[str, JSON]:
    try:
        arguments = jsontext.loads(body)
    except jsontext.JSONError as error:
        raise http_error("invalid_json", error=error) from None
    if not isinstance(arguments, dict):
        raise http_error("invalid_json:shape")
    return arguments


def _from_query(
    query: list[tuple[str, str]], operation: Operation, cursors: Collection[str], style: str
) -> dict[str, JSON]:
    objects = {parameter.name for parameter in operation.parameters if parameter.type == "object"}
    is_deep = style == "deep_object"
    arguments: dict[str, JSON] = {}
    for name, text in query:
        root, *path = name.replace("]", "").split("[")
        if path and is_deep and root in objects:
            values = arguments
            for key in (root, *path[:-1]):
                inner = values.setdefault(key, {})
                if not isinstance(inner, dict):
                    raise invalid_parameter(root, "mixed_forms")
                values = inner
            values[path[-1]] = text
        elif name in arguments:
            raise invalid_parameter(name, "repeated")
        elif name in objects or (name in cursors and text.startswith("{")):
            try:
                arguments[name] = jsontext.loads(text.encode())
            except jsontext.JSONError:
                raise invalid_parameter(name, "not_json") from None
            if is_deep and name in objects and arguments[name] != {}:
                raise invalid_parameter(name, "expected_one_value_for_each_leaf")
        else:
            arguments[name] = text
    return arguments


def is_number(value: JSON) -> TypeGuard[int | float | Decimal]:
    """Check if a JSON value is a number; true and false are not."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


_TYPES: dict[ParameterType, tuple[str, Callable[[JSON], bool]]] = {
    "id": ("text", lambda value: isinstance(value, str) and value != ""),
    "text": ("text", lambda value: isinstance(value, str)),
    "object": ("object", lambda value: isinstance(value, dict)),
    "number": ("number", is_number),
    "texts": (
        "list_of_texts",
        lambda value: isinstance(value, list) and all(isinstance(text, str) for text in value),
    ),
}
