"""Builds the HTTP request of a call."""

import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from inspect import signature
from typing import cast
from urllib.parse import quote, urlsplit

import attrs

from adclient._core.call import Call, invalid, validated
from adclient._core.operations import BY_NAME, READS, Operation
from adclient._core.paging import Pairs, lacking, pagination_error, query_from_next_url
from adclient._show.signatures import public_in
from adclient._values import jsontext
from adclient._values.redact import one_line
from adclient._values.text import decoded
from adclient._version import __version__
from adclient.conventions import Conventions, of_read, parameter_in
from adclient.errors import ConfigurationError, PaginationError
from adclient.models import JSON
from adclient.options import ENV_TOKEN, Options

_UNRESERVED = re.compile(r"[A-Za-z0-9_.~-]*")  # what `quote` leaves alone

LONGEST_URL = 65_536  # the limit of httpx


@public_in("adclient")
@attrs.frozen(kw_only=True)
class Request:
    """One HTTP request as plain data; an `auth` function of a client receives it.

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

    method: str
    url: str
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str], repr=False)
    body: bytes | None = attrs.field(default=None, repr=False)


class RequestBuilder:
    """Builds the requests of one client; the URL and headers of an operation are built once."""

    def __init__(
        self,
        options: Options,
        auth_headers: Mapping[str, str] | None = None,
        *,
        new_key: Callable[[], str],
    ) -> None:
        for name in options.conventions.reads.keys() - READS.keys():
            problem = f"conventions: reads: {name!r} is none of {', '.join(READS)}"
            raise ConfigurationError(problem, argument="conventions")
        self._options = options
        self._new_key = new_key  # makes a random idempotency key
        self._auth_headers = auth_headers or {}
        self._shared: dict[Operation, tuple[str, dict[str, str], Conventions]] = {}

    def build(self, call: Call) -> tuple[Request, Conventions]:
        """The request of a call, which every attempt sends unchanged, and the conventions of it."""
        operation = call.operation
        shared = self._shared.get(operation)
        if shared is None:
            url = self._options.base_url + operation.path
            own = {
                "host": urlsplit(url).netloc,
                "accept": "application/json",
                "accept-encoding": "gzip",
                "user-agent": f"adclient/{__version__}",
            }
            headers = {**own, **self._options.headers, **self._auth_headers}
            shared = url, headers, of_read(self._options.conventions, operation.full_name)
            self._shared[operation] = shared
        url, headers, conventions = shared
        followed = None if call.cursor is None else query_from_next_url(call, url, conventions)
        if not operation.is_write and conventions.read_parameters == "query":
            query: Pairs = []
            for name, value in call.arguments.items():
                if isinstance(value, str):
                    query.append((name, value))
                elif conventions.object_style == "json":
                    query.append((name, call.encoded[name]))
                else:
                    query.extend(_bracketed(operation, name, value))
            if followed is not None:
                query = lacking(query, followed)
            for name, value in _page_fields(call, conventions, followed).items():
                text = value if isinstance(value, str) else jsontext.dumps(value, name)
                query.append((name, text))
            url = _url_with_query(operation, url, query, followed or [])
            return Request(method=operation.method, url=url, headers=headers), conventions
        encoded = call.encoded
        if not operation.is_write:
            fields = _page_fields(call, conventions, followed)
            added = {name: jsontext.dumps(value, name) for name, value in fields.items()}
            encoded = {**encoded, **added}
        members = [f"{jsontext.quoted(name)}:{text}" for name, text in encoded.items()]
        body = f"{{{','.join(members)}}}".encode()
        headers = {**headers, "content-type": "application/json", "content-length": str(len(body))}
        if operation.is_write and conventions.idempotency_header is not None:
            name = conventions.idempotency_header.lower()
            # The caller's own key, if the headers of the client contain one; an empty one is none.
            headers[name] = headers.get(name) or self._new_key()
        if followed:
            url = _url_with_query(operation, url, [], followed)
        request = Request(method=operation.method, url=url, headers=headers, body=body)
        return request, conventions


def _page_fields(
    call: Call, conventions: Conventions, followed: list[str] | None
) -> dict[str, JSON]:
    """The parameters that request a page, besides those of the call and of a URL that is followed.

    A cursor may have a page size of its own, which then fits only that one.
    """
    cursor, operation, size = call.cursor, call.operation, conventions.page_size or {}
    if followed is not None:
        named = {decoded(piece)[0] for piece in followed}
        return {name: number for name, number in size.items() if name not in named}
    if cursor is None:
        return {**size}
    if conventions.continuation is None:
        return {**size, conventions.cursor_parameter: cursor}
    try:
        fields: object = conventions.continuation(cursor)
    except PaginationError as error:
        raise pagination_error(call, error.message, cursor) from None
    own = {parameter.name for parameter in operation.parameters}
    try:
        if not jsontext.is_object(fields):
            raise jsontext.JSONError(f"expected a mapping, got {type(fields).__name__}")
        plain = cast("dict[str, JSON]", jsontext.frozen(fields, "its result")[0])
        if "" in plain or not own.isdisjoint(map(parameter_in, plain)):
            raise jsontext.JSONError("a name is empty, or is that of a parameter of the operation")
    except jsontext.JSONError as error:
        problem = one_line(f"{operation.full_name}: conventions.continuation: {error}")
        raise ConfigurationError(
            f"{problem}; nothing was sent", operation=operation.full_name, argument="continuation"
        ) from None
    return {**size, **{name: value for name, value in plain.items() if value is not None}}


def _url_with_query(operation: Operation, url: str, query: Pairs, followed: list[str]) -> str:
    encoded: list[str] = []
    for name, value in query:
        # Most are short and plain, and `quote` is slow.
        left = name if _UNRESERVED.fullmatch(name) else quote(name, "")
        right = value if _UNRESERVED.fullmatch(value) else quote(value, "")
        encoded.append(f"{left}={right}")
    encoded += followed
    whole = f"{url}?{'&'.join(encoded)}" if encoded else url
    if len(whole) > LONGEST_URL:
        raise invalid(
            operation,
            decoded(max(encoded, key=len))[0],
            f"the URL would have {len(whole)} characters, and {LONGEST_URL} are the limit "
            "(Conventions(read_parameters='body') keeps URLs short)",
        )
    return whole


def _bracketed(operation: Operation, name: str, value: JSON) -> Iterator[tuple[str, str]]:
    """One query parameter for each leaf of an argument, as in `targeting[type]=X`."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, list) and value:
        for index, child in enumerate(value):
            yield from _bracketed(operation, f"{name}[{index}]", child)
    elif isinstance(value, dict) and value:
        for key, child in value.items():
            if "[" in key or "]" in key:  # the same query as that of other names
                problem = f"{name}: object_style='deep_object' cannot send a name with a bracket"
                raise invalid(operation, name.partition("[")[0], problem)
            yield from _bracketed(operation, f"{name}[{key}]", child)
    else:
        yield name, jsontext.dumps(value, name)


_NOT_COPIED = ("accept-encoding", "authorization", "content-length", "host", "user-agent")


def call_of(
    method: Callable[..., object], arguments: Collection[object], named: Mapping[str, object]
) -> Call:
    """The call that a method of a namespace would make; its errors are those of the method."""
    namespace = type(getattr(method, "__self__", None)).__name__.removeprefix("Async").lower()
    name = f"{namespace}.{getattr(method, '__name__', '')}"
    if name not in BY_NAME:
        raise TypeError("the first argument must be a method such as client.beta.pause_campaign")
    bound = signature(method).bind(*arguments, **named)
    bound.apply_defaults()
    cursor = bound.arguments.pop("cursor", None)
    return validated(BY_NAME[name], bound.arguments, cursor)


def curl_of(call: Call, builder: RequestBuilder, private: Collection[str], credentials: str) -> str:
    """A command for `curl` that sends the request of a call, without values that may be secret.

    These are the values of a cursor, and those of the `private` headers.
    """
    (request, _), (first, _) = map(builder.build, (call, attrs.evolve(call, cursor=None)))
    url, mark, query = request.url.partition("?")
    known = first.url.partition("?")[2].split("&")
    pieces: list[str] = []
    for piece in query.split("&"):
        name, has_name, _ = piece.partition("=")
        pieces.append(piece if piece in known else f"{name}=…" if has_name else "…")
    lines = [f"curl -X {request.method} {shlex.quote(url + mark + '&'.join(pieces))}"]
    if credentials == "token":  # in double quotes, in which a shell replaces the variable
        lines.append(f'-H "authorization: Bearer ${ENV_TOKEN}"')
    for name, value in request.headers.items():
        if name not in _NOT_COPIED:
            header = f"{name}: {'…' if name in private else value}"
            lines.append(f"-H {shlex.quote(header)}")
    if request.body is not None:
        body = request.body.decode()
        if request.body != first.body:
            fields, own = (
                cast("dict[str, JSON]", jsontext.loads(each.body or b"{}"))
                for each in (request, first)
            )
            shown = {k: value if own.get(k) == value else "…" for k, value in fields.items()}
            body = jsontext.dumps(shown, "body")
        lines.append(f"--data-raw {shlex.quote(body)}")
    text = " \\\n  ".join(lines)
    return f"{text}\n# and the headers of auth=" if credentials == "auth" else text
