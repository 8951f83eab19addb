"""The `next` of a page: how it is sent back, as a cursor, and when an iteration must stop."""

import re
from urllib.parse import quote, urljoin, urlsplit

import attrs

from adclient._core.call import Call
from adclient._values import jsontext
from adclient._values.text import cursor_shown, decoded, pieces_of
from adclient.conventions import Conventions, parameter_in
from adclient.errors import PaginationError
from adclient.models import JSON

Pairs = list[tuple[str, str]]

_DEFAULT_PORTS = {"http": 80, "https": 443}
MOST_REPEATS = 100  # pages in a row that are empty, or repeat an earlier one
_SCHEME = r"[A-Za-z][A-Za-z0-9+.\-]*://"
_PAIR = r"\?[^=&]+="
_ILLEGAL = r"[^!$-;=?-~]+"  # never part of a URL


def query_from_next_url(call: Call, endpoint: str, conventions: Conventions) -> list[str] | None:
    """The query of a cursor that is a URL of the same endpoint; None if it is a token.

    It is a list of `name=value`, exactly as received: the service may have signed them.
    """
    cursor = call.cursor
    is_custom = conventions.continuation is not None
    if is_custom or not conventions.follow_next_urls or not isinstance(cursor, str):
        return None
    is_absolute = re.match(_SCHEME, cursor) is not None
    is_relative = "?" in cursor and (cursor[0] != "?" or re.match(_PAIR, cursor) is not None)
    if not (is_absolute or is_relative):
        return None
    try:
        is_same = _endpoint(urljoin(endpoint, cursor)) == _endpoint(endpoint)
    except ValueError:
        is_same = False
    if not is_same and not is_absolute:
        return None
    if not is_same:
        advice = "if it is not a URL, set conventions.follow_next_urls=False"
        raise _error(call, f"points to another endpoint, so nothing was sent; {advice}")
    query = cursor.partition("#")[0].partition("?")[2]
    query = re.sub(_ILLEGAL, lambda match: quote(match[0]), query)
    ids = {each.name for each in call.operation.parameters if each.type == "id"}
    for name, value in map(decoded, pieces_of(query)):
        own, spelled = parameter_in(name), re.sub(r"\W", "_", name.lower().removesuffix("[]"))
        # Other brackets may change the meaning, such as `account_id[ne]`.
        if own in ids and (spelled, value) != (own, call.arguments.get(own)):
            raise _error(call, f"names another {own}, so nothing was sent")
    return query.split("&") if query else []


def lacking(own: Pairs, pieces: list[str]) -> Pairs:
    """The parameters of the call that the query of a URL lacks."""
    names = {decoded(piece)[0] for piece in pieces}
    # An id in another spelling does not replace the own one: the service may not read it.
    named = names | {name for name in map(parameter_in, names) if not name.endswith("_id")}
    return [pair for pair in own if parameter_in(pair[0]) not in named]


def _endpoint(url: str) -> tuple[object, ...]:
    """The parts that two URLs of one endpoint share, user info included."""
    parts = urlsplit(url)
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    return parts.scheme, parts.username, parts.password, parts.hostname, port, parts.path


def following(call: Call, cursor: JSON) -> Call:
    """The call for the page that the `next` of another leads to."""
    try:
        jsontext.dumps(cursor, "cursor")
    except jsontext.JSONError as error:
        raise _error(call, f"cannot be sent: {error}", cursor) from None
    return attrs.evolve(call, cursor=cursor)


def endless(call: Call, problem: str, cursor: JSON) -> PaginationError:
    """The error for a `next` that leads to no new page."""
    advice = "set how the service expects it: Conventions(cursor_parameter=…) or continuation=…"
    return _error(call, f"{problem}, so the listing would never end; {advice}", cursor)


class SeenPages:
    """The pages of one iteration, to detect one that never ends."""

    def __init__(self, call: Call, cursor: JSON) -> None:
        self._call = call
        self._cursors: set[bytes] = set() if cursor is None else {_key(cursor)}
        self._pages: set[bytes] = set()
        self._previous: tuple[JSON, ...] = ()
        self._requested = cursor
        self._repeats = 0

    def add(self, next: JSON, ids: tuple[JSON, ...] = ()) -> None:
        """Add a page, by its `next` and the ids of its items, before it is returned."""
        if next is None:
            return
        # A page of one item may repeat without a fault, such as after an item was added at the
        # front of the listing.
        if len(ids) > 1 and ids == self._previous:
            problem = f"leads to the same {len(ids)} items as the page before"
            raise endless(self._call, problem, self._requested)
        try:
            key, page = _key(next), _digest("\0".join(map(str, ids)))
        except jsontext.JSONError:  # `following` raises, after the items of the page
            return
        if key in self._cursors:
            raise endless(self._call, "was received before", next)
        repeats = self._repeats + 1 if not ids or page in self._pages else 0
        if repeats > MOST_REPEATS:
            problem = f"leads to page {repeats} in a row that is empty or a repetition"
            raise endless(self._call, problem, self._requested)
        self._cursors.add(key)
        self._pages.add(page)
        self._previous, self._requested, self._repeats = ids or self._previous, next, repeats


def _key(cursor: JSON) -> bytes:
    return _digest(jsontext.dumps(cursor, "cursor"))


def _digest(text: str) -> bytes:
    """A digest, so that a long iteration needs little memory."""
    import hashlib  # deferred: it loads OpenSSL

    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


def _error(call: Call, problem: str, cursor: JSON = None) -> PaginationError:
    cursor = call.cursor if cursor is None else cursor
    return pagination_error(call, f"the next {cursor_shown(cursor)} {problem}", cursor)


def pagination_error(call: Call, problem: str, cursor: JSON) -> PaginationError:
    """An error that names the operation."""
    operation = call.operation
    return PaginationError(
        f"{operation.full_name}: {problem}",
        operation=operation.full_name,
        method=operation.method,
        path=operation.path,
        cursor=cursor,
    )
