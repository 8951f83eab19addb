"""Validates the arguments of a call and builds its HTTP request."""

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from numbers import Integral
from typing import TypeVar
from urllib.parse import quote, urlsplit

import attrs

from adclient._core import jsontext
from adclient._core.operations import Call, Operation, ParameterType
from adclient._core.paging import (
    Pairs,
    cursor_fields,
    cursor_text,
    decoded,
    frozen_cursor,
    merged,
    query_from_next_url,
)
from adclient._core.redact import one_line
from adclient._version import __version__
from adclient.errors import InvalidRequest
from adclient.models import JSON, Draft, Item, Result
from adclient.options import Options

R = TypeVar("R", bound=Result)

_UNRESERVED = re.compile(r"[A-Za-z0-9_.~-]*")  # what `quote` leaves alone

_TEXT_TYPES = ("id", "text")

LONGEST_URL = 65_536  # the limit of httpx


@attrs.frozen(kw_only=True)
class Request:
    """One HTTP request, as plain data: what an `auth` function of a client receives.

    Attributes:
        method: The HTTP method, such as `GET`.
        url: The whole URL, including the query.
        headers: The headers, with names in lower case. They may contain credentials.
        body: The bytes of the body; None if there is none.

    Examples:
        >>> import hashlib
        >>> from adclient import AdClient, Request
        >>> def sign(request: Request) -> dict[str, str]:
        ...     return {"x-body-hash": hashlib.sha256(request.body or b"").hexdigest()}
        >>> client = AdClient("https://ads.example.com", auth=sign)
    """

    __module__ = "adclient"  # its public name, which pickles and tracebacks show
    __firstlineno__ = None  # so `??` does not look for it in the file of that name

    method: str
    url: str
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str], repr=False)
    body: bytes | None = attrs.field(default=None, repr=False)


def validated(
    operation: Operation[R], arguments: Mapping[str, object], cursor: JSON = None
) -> Call[R]:
    """Check and copy the arguments of a call, in the order of the interface.

    None is not sent. All pages of a listing are requested with these copies, even if the caller
    changes the originals meanwhile.
    """
    frozen: dict[str, object] = {}
    encoded: dict[str, str] = {}
    for parameter in operation.parameters:
        name = parameter.name
        value = arguments[name]
        # The fast path: most arguments are text.
        if type(value) is str and value and value.isascii() and parameter.type in _TEXT_TYPES:
            frozen[name], encoded[name] = value, jsontext.quoted(value)
        elif value is not None or parameter.required:
            expected, fits = _TYPES[parameter.type]
            if not fits(value):
                problem = f"{name} must be {expected}, got {_kind_of(value)}; nothing was sent"
                raise _invalid(operation, name, problem)
            try:
                frozen[name], encoded[name] = _frozen(name, value)
            except jsontext.JSONError as error:
                problem = f"{one_line(str(error))}; nothing was sent"
                raise _invalid(operation, name, problem) from None
    if cursor is not None:
        cursor = frozen_cursor(operation, cursor)
    target = operation.target
    target_id = str(frozen[target]) if target in frozen else None
    return Call(operation, str(frozen["account_id"]), target_id, frozen, encoded, cursor)


class RequestBuilder:
    """Builds the requests of one client; the URL and headers of an operation are built once."""

    def __init__(
        self,
        options: Options,
        auth_headers: Mapping[str, str] | None = None,
        *,
        new_key: Callable[[], str],
    ) -> None:
        self._options = options
        self._new_key = new_key  # makes a random idempotency key
        self._auth_headers = auth_headers or {}
        self._shared: dict[Operation[Result], tuple[str, dict[str, str]]] = {}

    def build(self, call: Call[Result]) -> Request:
        """The request of a call, which every attempt sends unchanged."""
        operation, conventions = call.operation, self._options.conventions
        url, headers = self._shared.get(operation) or self._share(operation)
        followed = None if call.cursor is None else query_from_next_url(call, url, conventions)
        if not operation.is_write and conventions.read_parameters == "query":
            query: Pairs = []
            for name, value in call.arguments.items():
                if isinstance(value, str):
                    query.append((name, value))
                elif conventions.object_style == "json":
                    query.append((name, call.encoded[name]))
                else:
                    query.extend(_bracketed(name, value))
            if followed is not None:
                query, followed = merged(call, query, followed)
            elif call.cursor is not None:
                for name, value in cursor_fields(call, conventions).items():
                    text = value if isinstance(value, str) else cursor_text(operation, value)
                    query.append((name, text))
            url = _url_with_query(operation, url, query, followed or [])
            return Request(method=operation.method, url=url, headers=headers)
        encoded = call.encoded
        if call.cursor is not None and followed is None:
            fields = cursor_fields(call, conventions)
            added = {name: cursor_text(operation, value) for name, value in fields.items()}
            encoded = {**encoded, **added}
        members = [f"{jsontext.quoted(name)}:{text}" for name, text in encoded.items()]
        body = f"{{{','.join(members)}}}".encode()
        headers = {
            **headers,
            "content-type": "application/json",
            "content-length": str(len(body)),
        }
        if operation.is_write and conventions.idempotency_header is not None:
            # The caller's own key, if the headers of the client contain one.
            headers.setdefault(conventions.idempotency_header.lower(), self._new_key())
        if followed:
            _, followed = merged(call, [], followed)
            url = _url_with_query(operation, url, [], followed)
        return Request(method=operation.method, url=url, headers=headers, body=body)

    def _share(self, operation: Operation[Result]) -> tuple[str, dict[str, str]]:
        url = self._options.base_url + operation.path
        headers = {
            "host": urlsplit(url).netloc,
            "accept": "application/json",
            "accept-encoding": "gzip, deflate",
            "user-agent": f"adclient/{__version__}",
            **self._options.headers,
            **self._auth_headers,
        }
        self._shared[operation] = url, headers
        return url, headers


def _url_with_query(
    operation: Operation[Result], url: str, query: Pairs, followed: list[str]
) -> str:
    encoded: list[str] = []
    for name, value in query:
        # Most are short and plain, and `quote` is slow.
        left = name if _UNRESERVED.fullmatch(name) else quote(name, "")
        right = value if _UNRESERVED.fullmatch(value) else quote(value, "")
        encoded.append(f"{left}={right}")
    encoded += followed
    whole = f"{url}?{'&'.join(encoded)}" if encoded else url
    if len(whole) > LONGEST_URL:
        raise _invalid(
            operation,
            decoded(max(encoded, key=len))[0],
            f"the URL would have {len(whole)} characters, and {LONGEST_URL} are the limit; nothing "
            "was sent (Conventions(read_parameters='body') keeps URLs short)",
        )
    return whole


def _invalid(operation: Operation[Result], argument: str, problem: str) -> InvalidRequest:
    text = f"{operation.full_name}: {problem}"
    return InvalidRequest(text, operation=operation.full_name, argument=argument)


_TYPES: dict[ParameterType, tuple[str, Callable[[object], bool]]] = {
    "id": ("a non-empty str", lambda value: isinstance(value, str) and value != ""),
    "text": ("a str", lambda value: isinstance(value, str)),
    "object": (
        "a mapping, or an instance of attrs, a dataclass or pydantic",
        lambda value: jsontext.is_object(value) or jsontext.fields_of(value) is not None,
    ),
    "number": (
        "a finite number (int, float or Decimal)",
        lambda value: (
            isinstance(value, int | float | Decimal | Integral) and not isinstance(value, bool)
        ),
    ),
    "texts": (
        "a list of str",
        lambda value: (
            jsontext.is_array(value) and all(isinstance(element, str) for element in value)
        ),
    ),
}


def _kind_of(value: object) -> str:
    """What was passed instead; the value itself may be private, and is not shown."""
    if value is None or value == "":
        return repr(value)
    if isinstance(value, Draft):
        return "a Draft, which is only a proposal: pass the id of what it would change"
    if isinstance(value, Item):
        return f"{type(value).__name__}: pass an id, such as its own"
    if jsontext.is_array(value):
        odd = next((element for element in value if not isinstance(element, str)), "")
        return f"a {type(value).__name__} that holds {type(odd).__name__}"
    return type(value).__name__


def _frozen(name: str, value: object) -> tuple[object, str]:
    """An argument as a copy that its caller cannot change, and the JSON of that copy."""
    if isinstance(value, str):
        value = str.__str__(value)  # an enum of strings
    if isinstance(value, int | float):
        return value, jsontext.digits(value, name)
    copy = jsontext.plain(value, name)
    return copy, jsontext.dumps(copy, name)


def _bracketed(name: str, value: object) -> Iterator[tuple[str, str]]:
    """One query parameter for each leaf of an argument, as in `targeting[type]=X`."""
    if isinstance(value, str):
        yield name, str.__str__(value)
    elif jsontext.is_array(value) and value:
        for index, child in enumerate(value):
            yield from _bracketed(f"{name}[{index}]", child)
    elif jsontext.is_object(value) and value:
        for key, child in value.items():
            text = str.__str__(key) if isinstance(key, str) else key
            yield from _bracketed(f"{name}[{text}]", child)
    else:
        yield name, jsontext.dumps(value, name)
