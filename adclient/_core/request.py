"""From the arguments of a call to its HTTP request, by the options and conventions of a client."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from numbers import Integral
from typing import TypeVar
from urllib.parse import quote, urlsplit

import attrs

from adclient._core import jsontext
from adclient._core.operations import Call, Operation, Parameter, ParameterType
from adclient._core.paging import cursor_text, frozen_cursor, query_from_next_url
from adclient._core.redact import one_line
from adclient._version import __version__
from adclient.errors import InvalidRequest
from adclient.models import JSON, Result
from adclient.options import Options

R = TypeVar("R", bound=Result)

Pairs = list[tuple[str, str]]

_UNRESERVED = re.compile(r"[A-Za-z0-9_.~-]*")  # what `quote` leaves alone

LONGEST_URL = 65_536  # httpx takes no longer ones


@attrs.frozen(kw_only=True)
class Request:
    """One HTTP request, as plain data.

    Attributes:
        method: The HTTP method.
        url: The whole URL, query included.
        headers: The headers, with names in lower case. They may hold secrets.
        body: The bytes of the body, or None if there is none.
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
    """A call whose arguments are checked and copied, in the order of the interface.

    None is not sent. The copies serve all pages of a listing, whatever the caller does meanwhile.
    """
    frozen: dict[str, object] = {}
    encoded: dict[str, str] = {}
    for parameter in operation.parameters:
        name = parameter.name
        value = arguments[name]
        if type(value) is str and value and value.isascii() and parameter.is_text:  # most of them
            frozen[name], encoded[name] = value, jsontext.quoted(value)
        elif value is not None or parameter.required:
            _check(operation, parameter, value)
            frozen[name], encoded[name] = _frozen(operation, name, value)
    if cursor is not None:
        cursor = frozen_cursor(operation, cursor)
    return Call(operation, frozen, encoded, cursor)


class RequestBuilder:
    """Builds the requests of one client; what an operation's requests share is built once."""

    def __init__(self, options: Options, auth_headers: Mapping[str, str] | None = None) -> None:
        self._options = options
        self._auth_headers = auth_headers or {}
        self._shared: dict[Operation[Result], tuple[str, dict[str, str]]] = {}

    def build(self, call: Call[Result], idempotency_key: str | None = None) -> Request:
        """The request of a call; every attempt sends this very one."""
        operation, conventions = call.operation, self._options.conventions
        url, headers = self._shared.get(operation) or self._share(operation)
        followed = None if call.cursor is None else query_from_next_url(call, url, conventions)
        if not operation.is_write and conventions.read_parameters == "query":
            query = _query(call, conventions.object_style)
            if followed is not None:
                query += followed
            elif call.cursor is not None:
                cursor = call.cursor
                text = cursor if isinstance(cursor, str) else cursor_text(operation, cursor)
                query.append((conventions.cursor_parameter, text))
            url = _url_with_query(operation, url, query)
            return Request(method=operation.method, url=url, headers=headers)
        encoded = call.encoded
        if call.cursor is not None and followed is None:
            text = cursor_text(operation, call.cursor)
            encoded = {**encoded, conventions.cursor_parameter: text}
        members = [f"{_key(name)}:{text}" for name, text in encoded.items()]
        body = f"{{{','.join(members)}}}".encode()
        headers = {
            **headers,
            "content-type": "application/json",
            "content-length": str(len(body)),
        }
        if idempotency_key is not None and conventions.idempotency_header is not None:
            headers[conventions.idempotency_header.lower()] = idempotency_key
        if followed:
            url = _url_with_query(operation, url, followed)
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


def _url_with_query(operation: Operation[Result], url: str, query: Pairs) -> str:
    encoded = [f"{_quoted(name, '[]')}={_quoted(text)}" for name, text in query]
    whole = f"{url}?{'&'.join(encoded)}"
    if len(whole) > LONGEST_URL:
        raise InvalidRequest(
            f"{operation.full_name}: the URL would have {len(whole)} characters, {LONGEST_URL} are "
            "the most, so nothing was sent; conventions.read_parameters='body' needs no such URL",
            operation=operation.full_name,
            argument=max(query, key=lambda pair: len(pair[1]))[0],
        )
    return whole


def _quoted(text: str, safe: str = "") -> str:
    if _UNRESERVED.fullmatch(text):
        return text
    # A continuation that is a URL may contain bytes that are no text.
    return quote(text, safe, errors="surrogateescape")


def _check(operation: Operation[Result], parameter: Parameter, value: object) -> None:
    expected, fits = _TYPES[parameter.type]
    if not fits(value):
        raise InvalidRequest(
            f"{operation.full_name}: {parameter.name} must be {expected}, "
            f"got {_kind_of(value)}; nothing was sent",
            operation=operation.full_name,
            argument=parameter.name,
        )


def _is_object(value: object) -> bool:
    return jsontext.is_object(value) or attrs.has(type(value))


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float | Decimal | Integral)


def _is_texts(value: object) -> bool:
    return jsontext.is_array(value) and all(isinstance(element, str) for element in value)


_TYPES: dict[ParameterType, tuple[str, Callable[[object], bool]]] = {
    "id": ("a non-empty str", lambda value: isinstance(value, str) and value != ""),
    "text": ("a str", lambda value: isinstance(value, str)),
    "object": ("a mapping or an attrs instance", _is_object),
    "number": ("a finite number (int, float or Decimal)", _is_number),
    "texts": ("a list of str", _is_texts),
}


def _kind_of(value: object) -> str:
    """What was passed instead, without showing it."""
    if value is None or value == "":
        return repr(value)
    if jsontext.is_array(value):
        odd = next((element for element in value if not isinstance(element, str)), "")
        return f"a {type(value).__name__} that holds {type(odd).__name__}"
    return type(value).__name__


@cache
def _key(name: str) -> str:
    """The name of a parameter as JSON; there are few of them."""
    return jsontext.dumps(name, name)


def _frozen(operation: Operation[Result], name: str, value: object) -> tuple[object, str]:
    """An argument as a copy that its caller cannot change, and the JSON of that copy."""
    if isinstance(value, str):
        value = str.__str__(value)  # of a text enum, the text
    try:
        if isinstance(value, int | float):
            return value, jsontext.digits(value, name)
        copy = jsontext.plain(value, name)
        return copy, jsontext.dumps(copy, name)
    except jsontext.JSONError as error:
        raise InvalidRequest(
            f"{operation.full_name}: {one_line(str(error))}; nothing was sent",
            operation=operation.full_name,
            argument=name,
        ) from None


def _query(call: Call[Result], style: str) -> Pairs:
    pairs: Pairs = []
    for name, value in call.arguments.items():
        if isinstance(value, str):
            pairs.append((name, value))
        elif style == "json":
            pairs.append((name, call.encoded[name]))
        else:
            pairs.extend(_bracketed(name, value))
    return pairs


def _bracketed(name: str, value: object) -> Iterator[tuple[str, str]]:
    """The query parameters that carry one argument in many."""
    if isinstance(value, str):
        yield name, str.__str__(value)
    elif children := _children(value):
        for key, child in children:
            text = str.__str__(key) if isinstance(key, str) else key
            yield from _bracketed(f"{name}[{text}]", child)
    else:
        yield name, jsontext.dumps(value, name)


def _children(value: object) -> Sequence[tuple[object, object]]:
    if jsontext.is_array(value):
        return list(enumerate(value))
    return list(value.items()) if jsontext.is_object(value) else []
