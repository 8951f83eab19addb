"""How a listing goes on: what a continuation value means, and when a walk must stop."""

import re
from typing import cast
from urllib.parse import parse_qsl, urljoin, urlsplit

import attrs

from adclient._core import jsontext
from adclient._core.operations import Call, Listing
from adclient._core.redact import one_line
from adclient.conventions import Conventions
from adclient.errors import InvalidRequest, PaginationError
from adclient.models import JSON, Result

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://|[^?]*\?")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def query_from_next_url(
    call: Call[Result], endpoint: str, conventions: Conventions
) -> list[tuple[str, str]] | None:
    """The query of a continuation that is a URL of the same endpoint; None if it is no URL."""
    cursor = call.cursor
    if not (conventions.follow_next_urls and isinstance(cursor, str) and _URL.match(cursor)):
        return None
    try:
        same = _place(urljoin(endpoint, cursor)) == _place(endpoint)
    except ValueError:
        same = False
    if not same:
        raise _error(
            call,
            "leads away from this endpoint, so nothing was sent there; if it is no URL, "
            "set conventions.follow_next_urls=False",
        )
    query = parse_qsl(urlsplit(cursor).query, keep_blank_values=True, errors="surrogateescape")
    for parameter in call.operation.parameters:
        wanted = call.arguments.get(parameter.name)
        asked = {text for name, text in query if name == parameter.name}
        if parameter.type == "id" and not asked <= {wanted}:
            raise _error(call, f"asks for another {parameter.name}, so nothing was sent")
    # Every page carries the parameters of the first, whatever the URL says of them.
    own = {parameter.name for parameter in call.operation.parameters}
    return [(name, text) for name, text in query if name.partition("[")[0] not in own]


def _place(url: str) -> tuple[object, ...]:
    """What two URLs must have in common to be the same endpoint; user info is part of it."""
    parts = urlsplit(url)
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    return parts.scheme, parts.username, parts.password, parts.hostname, port, parts.path


def check_progress(call: Call[Result], answer: object) -> None:
    """Refuse a page that gives back the very continuation that it was asked with."""
    if isinstance(answer, Listing) and call.cursor is not None:
        SeenCursors(call).add(answer.page.next)


class SeenCursors:
    """The continuation values of one walk, none of which may come twice."""

    def __init__(self, call: Call[Result]) -> None:
        self._call = call
        self._keys: set[bytes] = set() if call.cursor is None else {_key(call, call.cursor)}

    def add(self, cursor: JSON) -> None:
        """Note the continuation of a page, before that page is handed out."""
        if cursor is None:
            return
        key = _key(self._call, cursor)
        if key in self._keys:
            raise _error(
                self._call,
                "came before, so the listing would never end; the service may expect it under "
                "another name than conventions.cursor_parameter says",
                cursor,
            )
        self._keys.add(key)


def _key(call: Call[Result], cursor: JSON) -> bytes:
    """A few bytes for a value of any size, so that a long walk stays small."""
    import hashlib  # which loads OpenSSL

    return hashlib.blake2b(cursor_text(call, cursor).encode(), digest_size=16).digest()


def frozen_cursor(call: Call[Result]) -> JSON:
    """The continuation of a call as a copy that its caller cannot change."""
    if call.cursor is None:
        return None
    cursor_text(call, call.cursor)
    return cast(JSON, jsontext.plain(call.cursor, "cursor"))


def cursor_text(call: Call[Result], cursor: JSON) -> str:
    """The JSON text of a continuation."""
    try:
        if attrs.has(type(cursor)):
            kind = type(cursor).__name__
            raise jsontext.JSONError(f"cursor: expected a page's `next`, got {kind}")
        return jsontext.dumps(cursor, "cursor")
    except jsontext.JSONError as error:
        operation = call.operation.full_name
        text = one_line(f"{operation}: {error}; nothing was sent")
        raise InvalidRequest(text, operation=operation, argument="cursor") from None


def _error(call: Call[Result], problem: str, cursor: JSON = None) -> PaginationError:
    cursor = call.cursor if cursor is None else cursor
    operation = call.operation
    return PaginationError(
        f"{operation.full_name}: the continuation {_shown(cursor)} {problem}",
        operation=operation.full_name,
        method=operation.method,
        path=operation.path,
        cursor=cursor,
    )


def _shown(cursor: JSON) -> str:
    """A continuation for a text; the query of a URL may hold credentials that a service put in."""
    if isinstance(cursor, str) and _URL.match(cursor) and "?" in cursor:
        cursor = cursor.partition("?")[0] + "?…"
    return one_line(repr(cursor), 80)
