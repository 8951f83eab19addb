"""The behaviour of the fake service where its interface leaves it open."""

import re
from typing import Literal, get_args

import attrs

from adclient.conventions import is_free_header

ErrorStyle = Literal[
    "error_object",
    "problem",
    "detail",
    "fastapi",
    "success_false",
    "errors_list",
    "text",
    "html",
    "empty",
    "truncated",
]
Continuation = Literal["text", "number", "url", "absolute_url", "object", "none"]
Place = Literal["query", "body", "either"]
UnknownDateRanges = Literal["refuse", "ignore"]
_CHOICES: dict[str, tuple[object, ...]] = {
    "errors": get_args(ErrorStyle),
    "continuation": get_args(Continuation),
    "read_parameters": (*get_args(Place), None),
    "delete_parameters": get_args(Place),
    "unknown_date_ranges": get_args(UnknownDateRanges),
    "extras": (True, False),
    "dedupe": (True, False),
    "two_reviewers": (True, False),
}


@attrs.frozen(kw_only=True)
class Profile:
    """The behaviour of the fake where the interface leaves it open.

    By default it is a strict service whose listings are paged by opaque texts. What clients must
    know, such as the name of the continuation parameter, is part of `Conventions` instead.

    Attributes:
        errors: The shape of error bodies: `"error_object"`, `"problem"` (RFC 9457), `"detail"`
            (a text), `"fastapi"` (a list), `"success_false"`, `"errors_list"`, plain `"text"`,
            the `"html"` of a proxy, `"empty"`, or `"truncated"` JSON.
        continuation: The shape of `page.next`: a `"text"`, a `"number"`, an `"object"`, a `"url"`
            or `"absolute_url"` of the same endpoint; or `"none"`, where one page has all items.
        continuation_life: Seconds, by the fake's clock, after which a continuation is refused with
            410 `page_expired`; None for never.
        read_parameters: Where reads take their parameters from; None for the place that the
            conventions name.
        delete_parameters: Where the DELETE takes its parameters from.
        key_header: The header that carries the bare token; None for a bearer token.
        read_only_token: A second token, which may read; its writes are refused with 403
            `insufficient_scope`.
        unknown_date_ranges: Whether to `"refuse"` or `"ignore"` an unknown `date_range`.
        extras: Whether responses have unknown keys and statuses, in another order; and the second
            ad of a listing has no name, which `gamma.list_ads` does not accept.
        dedupe: Whether a write that repeats the change of an open draft gets that draft.
        two_reviewers: Whether whoever armed a draft is refused when they confirm it.
        latency: Seconds that each response takes: of the fake's clock, or real ones over HTTP.
        most_open_drafts: How many drafts of an account may be open, before 409
            `too_many_open_drafts`; None for no limit.
        drafts_a_day: How many drafts an account may stage in a day, before 409
            `envelope_exhausted`; None for no limit.
        requests_a_minute: How many requests are accepted in a minute, before 429 with a
            `Retry-After`; None for no limit.

    Raises:
        ValueError: An argument has a value that is not listed above; the message names it.

    Examples:
        >>> from adclient.testing import FakeAdService, Profile
        >>> fake = FakeAdService(profile=Profile(errors="problem", requests_a_minute=60))
        >>> fake.client().gamma.list_ads(account_id="account_e000").data
        <Items of 0 × item>
    """

    errors: ErrorStyle = "error_object"
    continuation: Continuation = "text"
    continuation_life: float | None = None
    read_parameters: Place | None = None
    delete_parameters: Place = "body"
    key_header: str | None = None
    read_only_token: str | None = attrs.field(default=None, repr=False)
    unknown_date_ranges: UnknownDateRanges = "refuse"
    extras: bool = False
    dedupe: bool = False
    two_reviewers: bool = False
    latency: float = 0.0
    most_open_drafts: int | None = 500
    drafts_a_day: int | None = None
    requests_a_minute: int | None = None

    def __attrs_post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            expected = f"one of {', '.join(map(repr, choices))}"
            _require(name, getattr(self, name) in choices, expected)
        for name in ("most_open_drafts", "drafts_a_day", "requests_a_minute"):
            most = getattr(self, name)
            is_count = most is None or (type(most) is int and most >= 1)
            _require(name, is_count, "a whole number from 1, or None")
        _require("latency", _is_seconds(self.latency), "seconds, 0 or more")
        life, header, token = self.continuation_life, self.key_header, self.read_only_token
        is_life = life is None or (_is_seconds(life) and life > 0)
        _require("continuation_life", is_life, "seconds, more than 0, or None")
        is_header = header is None or is_free_header(header)
        _require("key_header", is_header, "the name of a header that nothing else uses, or None")
        is_token = token is None or (isinstance(token, str) and re.fullmatch("[!-~]+", token))
        _require("read_only_token", bool(is_token), "text without blanks, or None")


def _is_seconds(value: object) -> bool:
    return type(value) in (int, float) and 0 <= float(str(value)) < float("inf")


def _require(name: str, valid: bool, expected: str) -> None:
    if not valid:
        raise ValueError(f"profile: {name} must be {expected}")
