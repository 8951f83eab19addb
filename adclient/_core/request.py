"""A call, its options and conventions, made into an HTTP request."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from numbers import Integral
from typing import TypeVar
from urllib.parse import quote, urlsplit

import attrs

from adclient._core import jsontext
from adclient._core.operations import Call, Parameter, ParameterType
from adclient._core.paging import cursor_text, frozen_cursor, query_from_next_url
from adclient._core.redact import one_line
from adclient._version import __version__
from adclient.errors import InvalidRequest
from adclient.models import Result
from adclient.options import Options

R = TypeVar("R", bound=Result)

Pairs = list[tuple[str, str]]

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


def validated(call: Call[R]) -> Call[R]:
    """A call whose arguments are checked, and can no longer change: for all pages of a listing.

    They are in the interface's order; None is not sent.
    """
    arguments: dict[str, object] = {}
    texts: dict[str, str] = {}
    for parameter in call.operation.parameters:
        name = parameter.name
        value = call.arguments[name]
        if value is not None or parameter.required:
            _check(call, parameter, value)
            arguments[name], texts[name] = _kept(call, name, value)
    return Call(call.operation, arguments, frozen_cursor(call), texts)


def build(call: Call[Result], options: Options, idempotency_key: str | None = None) -> Request:
    """The request of a validated call; every attempt sends this very one."""
    assert call.texts, "a call is validated before it is sent"
    operation, conventions, texts = call.operation, options.conventions, call.texts
    url = options.base_url + operation.path
    cursor = None if call.cursor is None else cursor_text(call, call.cursor)
    followed = query_from_next_url(call, url, conventions)
    query, body = followed or [], None
    if operation.kind == "read" and conventions.read_parameters == "query":
        query = _query(call, conventions.object_style) + query
        if cursor is not None and followed is None:
            text = call.cursor if isinstance(call.cursor, str) else cursor
            query.append((conventions.cursor_parameter, text))
    else:
        if cursor is not None and followed is None:
            texts = {**texts, conventions.cursor_parameter: cursor}
        body = "{" + ",".join(f"{_key(name)}:{text}" for name, text in texts.items()) + "}"
    return Request(
        method=operation.method,
        url=_whole_url(call, url, query),
        headers=_headers(url, body, options, idempotency_key),
        body=None if body is None else body.encode(),
    )


def _whole_url(call: Call[Result], url: str, query: Pairs) -> str:
    whole = f"{url}?{_encoded(query)}" if query else url
    if len(whole) > LONGEST_URL:
        operation = call.operation.full_name
        raise InvalidRequest(
            f"{operation}: the URL would have {len(whole)} characters, {LONGEST_URL} are the most, "
            "so nothing was sent; conventions.read_parameters='body' needs no such URL",
            operation=operation,
            argument=max(query, key=lambda pair: len(pair[1]))[0],
        )
    return whole


def _headers(
    url: str, body: str | None, options: Options, idempotency_key: str | None
) -> dict[str, str]:
    headers = {
        "host": urlsplit(url).netloc,
        "accept": "application/json",
        "accept-encoding": "gzip, deflate",
        "user-agent": f"adclient/{__version__}",
        **options.headers,
    }
    if body is not None:
        headers["content-type"] = "application/json"
        headers["content-length"] = str(len(body.encode()))
    if idempotency_key is not None and options.conventions.idempotency_header is not None:
        headers[options.conventions.idempotency_header.lower()] = idempotency_key
    return headers


def _check(call: Call[Result], parameter: Parameter, value: object) -> None:
    expected, fits = _TYPES[parameter.type]
    if not fits(value):
        raise InvalidRequest(
            f"{call.operation.full_name}: {parameter.name} must be {expected}, "
            f"got {_told(value)}; nothing was sent",
            operation=call.operation.full_name,
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


def _told(value: object) -> str:
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


def _kept(call: Call[Result], name: str, value: object) -> tuple[object, str]:
    """An argument as a copy that its caller cannot change, and the JSON of that copy."""
    try:
        copy = jsontext.plain(value, name)
        return copy, jsontext.dumps(copy, name)
    except jsontext.JSONError as error:
        operation = call.operation.full_name
        raise InvalidRequest(
            f"{operation}: {one_line(str(error))}; nothing was sent",
            operation=operation,
            argument=name,
        ) from None


def _query(call: Call[Result], style: str) -> Pairs:
    pairs: Pairs = []
    for name, value in call.arguments.items():
        if isinstance(value, str):
            pairs.append((name, str.__str__(value)))  # of a text enum, the text
        elif style == "json":
            pairs.append((name, call.texts[name]))
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


def _encoded(pairs: Pairs) -> str:
    return "&".join(f"{_quoted(name, '[]')}={_quoted(text)}" for name, text in pairs)


def _quoted(text: str, safe: str = "") -> str:
    # A continuation that is a URL may hold bytes that are no text.
    return quote(text, safe=safe, errors="surrogateescape")
