"""Settings for the points that the interface leaves open, each with a default."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, Literal, TypedDict, TypeGuard, cast, get_args, get_origin
from urllib.parse import parse_qs, urlsplit

import attrs

from adclient._values.json_values import JSON, as_count, as_tuple, is_choice, is_object
from adclient.errors import ConfigurationError, PaginationError

# The parameters of reads in the interface.
_READ_PARAMETERS = frozenset(
    {"account_id", "campaign_id", "creative_id", "date_range", "targeting"}
)
_IN_NAME = rf"(?i)\W*({'|'.join(_READ_PARAMETERS)})\b".replace("_", ".")

# Headers that the client derives from the request.
MADE_BY_CLIENT = frozenset(
    {"accept-encoding", "connection", "content-length", "content-type", "cookie", "host"}
    | {"transfer-encoding"}
)

_HEADER_NAME_CHARACTERS = frozenset(
    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)


EndOfListing = Literal["null", "missing", "empty", "false"]
Continuation = Callable[[Any], Mapping[str, JSON]]


class ReadConventions(TypedDict, total=False):
    """The settings of `Conventions` that one read can have for itself.

    Examples:
        >>> from adclient import Conventions
        >>> from adclient.conventions import ReadConventions
        >>> ads: ReadConventions = {"cursor_parameter": "page", "end_of_listing": "missing"}
        >>> conventions = Conventions(reads={"gamma.list_ads": ads})
    """

    read_parameters: Literal["query", "body"]
    object_style: Literal["json", "deep_object"]
    cursor_parameter: str
    follow_next_urls: bool
    continuation: Continuation | None
    end_of_listing: EndOfListing
    page_size: Mapping[str, int] | None


def query_of_url(next: JSON) -> dict[str, JSON]:
    """Continue a listing by the query of a URL, wherever the URL points.

    For `Conventions(continuation=query_of_url)`: for a service whose `page.next` is the URL of
    another host or path, such as one behind a proxy, or an object that holds the URL, such as
    `{"href": …}`. The request goes to the client's own address; only the query is taken over,
    without the parameters of the operation, which are those of the call.

    Args:
        next: The `page.next` of a response.

    Returns:
        The parameters to send, by name.

    Raises:
        PaginationError: There is no URL with a query in it, or an object has several and none of
            them is its `href`, `next` or `url`.

    Examples:
        >>> from adclient.conventions import query_of_url
        >>> query_of_url({"href": "http://internal:8080/v1/ads?account_id=a1&after=x7"})
        {'after': 'x7'}
    """
    values = next if isinstance(next, dict) else {"next": next}
    queries: dict[str, str] = {}
    for name, value in values.items():
        with suppress(ValueError):  # it is no URL
            if isinstance(value, str) and (query := urlsplit(value).query):
                queries[name] = query
    usual = [queries[name] for name in ("href", "next", "url") if name in queries]
    found = usual[:1] or [*queries.values()]
    if len(found) != 1:
        problem = (
            "is an object with several URLs, none of them its `href`, `next` or `url`"
            if found
            else "is neither a URL with a query, nor an object that holds one"
        )
        raise PaginationError(f"the next {problem}", cursor=next)
    return {
        name: texts[-1]
        for name, texts in parse_qs(found[0], keep_blank_values=True).items()
        if parameter_in(name) not in _READ_PARAMETERS
    }


def parameter_in(name: str) -> str:
    """The parameter of a read that services may find in a name, or else the name.

    Some ignore case, read `account.id` like `account_id`, or brackets as a list or an object.
    """
    found = re.match(_IN_NAME, name)
    return name if found is None else re.sub(r"\W", "_", found[1].lower())


def _as_tuple(values: Sequence[Any]) -> Sequence[Any]:
    return cast("Sequence[Any]", as_tuple(values))


@attrs.frozen(kw_only=True)
class Conventions:
    """The client's assumptions about points that the interface of the service leaves open.

    The interface names the parameters and results of the sixteen operations, and nothing of what
    is below. So the defaults are guesses; `adclient doctor` finds out what a service expects.

    Attributes:
        read_parameters: Where the parameters of the seven `GET` operations are sent: in the
            `"query"`, the default, as many proxies drop the body of a GET, or as a JSON object in
            the `"body"`.
        object_style: How `targeting` is encoded in the query of
            `GET /v1/gamma-ads/search-gamma-targeting`: as one value of compact JSON, `"json"`, or
            as one value for each leaf, `"deep_object"`, as in `targeting[type]=X`.
        cursor_parameter: The parameter in which the `page.next` of a response is sent back. A
            service that expects another one may return the first page each time; the listing then
            ends with a `PaginationError`.
        follow_next_urls: Whether a `page.next` that is a URL of the same endpoint is followed, by
            sending its query. If False, it is sent back unchanged, like any other string.
        continuation: For a service that no other setting fits: your function from `page.next` to
            the names and values that the next request adds to its query or body, such as `dict`
            for the entries of an object, or `adclient.conventions.query_of_url`. A string is sent
            unchanged, other values as JSON; None is not sent. `cursor_parameter` and
            `follow_next_urls` then have no effect.
        end_of_listing: What ends a listing, besides a `page.next` of null, which always does: a
            `page` without `next`, `"missing"`; an empty text, `"empty"`; or `"false"`. With
            `"null"`, the default, each of these is an error, so that no listing ends early.
        page_size: How many items a page should have, by the name of the parameter that sets it,
            such as `{"limit": 200}`; it is sent with every read. A URL or a `continuation` that
            names the same parameter wins. None, the default, sends nothing.
        idempotency_header: The name of a header for a key of each call, the same on every attempt.
            Set it only if the service honours it: writes are then retried like reads. None, the
            default, sends no key.
        rate_limit_scope: Which calls a 429 with a `Retry-After` pauses: those of the same
            `"account"`, all of the `"client"`, or only the `"call"` itself. An account is the only
            scope in the interface, so it is the default.
        rate_limit_errors: What means that a limit was exceeded, besides a 429: statuses as
            numbers, and codes in an error body as texts, such as `[503, "17"]`. Such a response,
            unless it is a 201 or a success with a draft or a page, is taken like a 429: the call
            raises `RateLimited` or is sent again, writes too, as the service did not process it.
            None by default.
        retry_after_headers: The headers of such a response that may tell when to come back; the
            first one that can be read is used. Each can hold seconds, a date, seconds or
            milliseconds since 1970, as `x-ratelimit-reset` often does, milliseconds if its name
            ends with `-ms`, or the parameters of `ratelimit`. `retry-after` by default.
        request_id_headers: The response headers that may contain the request id; the first one
            found is used.
        reads: The settings in which a read differs from the others, by its name, such as
            `{"gamma.list_ads": {"cursor_parameter": "page"}}`. It can have its own of those above
            that end with `page_size`.

    Raises:
        ConfigurationError: A value is not one of those above; `argument` names the setting.

    Examples:
        >>> from adclient import AdClient, Conventions
        >>> conventions = Conventions(cursor_parameter="page_token")
        >>> client = AdClient("https://ads.example.com", conventions=conventions)
    """

    read_parameters: Literal["query", "body"] = "query"
    object_style: Literal["json", "deep_object"] = "json"
    cursor_parameter: str = "cursor"
    follow_next_urls: bool = True
    continuation: Continuation | None = None
    end_of_listing: EndOfListing = "null"
    page_size: Mapping[str, int] | None = attrs.field(default=None, hash=False)
    idempotency_header: str | None = None
    rate_limit_scope: Literal["account", "client", "call"] = "account"
    rate_limit_errors: Sequence[int | str] = attrs.field(default=(), converter=_as_tuple)
    retry_after_headers: Sequence[str] = attrs.field(default=("retry-after",), converter=_as_tuple)
    request_id_headers: Sequence[str] = attrs.field(
        default=("x-request-id", "request-id"),
        converter=_as_tuple,
    )
    reads: Mapping[str, ReadConventions] = attrs.field(
        factory=dict[str, ReadConventions], hash=False
    )

    def __attrs_post_init__(self) -> None:
        for field in attrs.fields(Conventions):
            if choices := get_args(field.type if get_origin(field.type) is Literal else None):
                value = getattr(self, field.name)
                _require(is_choice(value, choices), field.name, " or ".join(map(repr, choices)))
        _require(
            _is_name(self.cursor_parameter)
            and parameter_in(self.cursor_parameter) not in _READ_PARAMETERS,
            "cursor_parameter",
            "a non-empty string that is not the name of another parameter",
        )
        _require(isinstance(self.follow_next_urls, bool), "follow_next_urls", "True or False")
        _require(
            self.continuation is None or callable(self.continuation), "continuation", "a function"
        )
        _require(
            self.page_size is None or is_page_size(self.page_size, self.cursor_parameter),
            "page_size",
            "one whole number, 1 or more, by the name of a parameter that nothing else uses",
        )
        _require(
            self.idempotency_header is None or is_free_header(self.idempotency_header),
            "idempotency_header",
            "the name of an unused header, or None",
        )
        _require(
            isinstance(self.rate_limit_errors, tuple)
            and all(
                _is_name(e) or 400 <= (as_count(e) or 0) <= 599 for e in self.rate_limit_errors
            ),
            "rate_limit_errors",
            "a list of statuses from 400 to 599, and of codes as texts",
        )
        for name in ("retry_after_headers", "request_id_headers"):
            names: Sequence[object] = getattr(self, name)
            is_valid = isinstance(names, tuple) and all(map(is_header_name, names))
            _require(is_valid, name, "a list of header names")
        _require(isinstance(self.reads, Mapping), "reads", "settings by the names of reads")
        known = ReadConventions.__annotations__
        for own in self.reads.values():
            is_valid = isinstance(own, Mapping) and known.keys() >= own.keys()
            expected = f"settings by the names of reads; each can have its own {', '.join(known)}"
            _require(is_valid, "reads", expected)
        # Copies: what was checked must not change.
        object.__setattr__(self, "reads", {name: {**own} for name, own in self.reads.items()})
        if self.page_size is not None:
            size = {name: int(number) for name, number in self.page_size.items()}
            object.__setattr__(self, "page_size", size)
        of_read(self, "")  # now: this checks the settings of each read

    @cached_property
    def __of_reads__(self) -> "dict[str, Conventions]":
        return {name: attrs.evolve(self, reads={}, **own) for name, own in self.reads.items()}


def of_read(conventions: Conventions, name: str) -> Conventions:
    """The conventions of one operation, by its name."""
    return conventions.__of_reads__.get(name, conventions)


def _is_name(value: object) -> TypeGuard[str]:
    # UTF-8 cannot encode a lone surrogate.
    return isinstance(value, str) and value != "" and not re.search("[\ud800-\udfff]", value)


def is_page_size(value: object, cursor_parameter: str = "") -> bool:
    """Check if a value is a page size by the name of a parameter that nothing else uses."""
    if not is_object(value) or len(value) != 1:
        return False
    [(name, size)] = value.items()
    is_free = _is_name(name) and parameter_in(name) not in _READ_PARAMETERS
    return is_free and name != cursor_parameter and (as_count(size) or 0) > 0


def is_free_header(value: object) -> bool:
    """Check if a value is the name of a header that the client does not set itself."""
    return is_header_name(value) and value.lower() not in {*MADE_BY_CLIENT, "authorization"}


def is_header_name(value: object) -> TypeGuard[str]:
    """Check if a value is a valid HTTP header name."""
    return isinstance(value, str) and value != "" and _HEADER_NAME_CHARACTERS.issuperset(value)


def _require(valid: bool, name: str, expected: str) -> None:
    if not valid:
        raise ConfigurationError(f"conventions: {name} must be {expected}", argument=name)
