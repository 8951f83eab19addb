"""How the fake service behaves where its interface leaves it open."""

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


@attrs.frozen(kw_only=True)
class Profile:
    """What kind of service the fake is, beyond what the interface says.

    The defaults are a strict service whose listings are paged by opaque texts. What clients must
    know to speak with it, such as the name of the continuation, stands in `Conventions` instead.

    Args:
        errors: The shape of error bodies: `"error_object"`, `"problem"` (RFC 9457), `"detail"`
            (a text), `"fastapi"` (a list), `"success_false"`, `"errors_list"`, plain `"text"`,
            the `"html"` of a proxy, `"empty"`, or `"truncated"` JSON.
        continuation: The shape of `page.next`: a `"text"`, a `"number"`, an `"object"`, a `"url"`
            or `"absolute_url"` of the same endpoint; or `"none"`, where one page holds all.
        continuation_life: Seconds, by the fake's clock, after which a continuation is answered
            with 410 `page_expired`; None for never.
        read_parameters: Where a read's parameters are taken from; None for where the conventions
            say.
        delete_parameters: Where the parameters of the DELETE are taken from.
        key_header: The header that carries the token as it is; None for a bearer token.
        read_only_token: A second token, which may read; its writes are answered with 403
            `insufficient_scope`.
        unknown_date_ranges: Whether to `"refuse"` a `date_range` nobody knows, or `"ignore"` it.
        extras: Whether answers hold keys and statuses that nobody knows, in another order; and
            the second ad of a listing has no name, which `gamma.list_ads` does not accept.
        dedupe: Whether a write that asks for what an open draft holds is answered with that draft.
        latency: Seconds that each answer takes: of the fake's clock, or real ones over HTTP.
        most_open_drafts: How many drafts of an account may be open, before 409
            `too_many_open_drafts`; None for no limit.
        drafts_a_day: How many drafts an account may stage in a day, before 409
            `envelope_exhausted`; None for no limit.
        requests_a_minute: How many requests are answered in a minute, before 429 with a
            `Retry-After`; None for no limit.

    Raises:
        ValueError: A value is not one of those above; the text names it.

    Example:
        >>> from adclient.testing import FakeAdService, Profile
        >>> fake = FakeAdService(profile=Profile(errors="problem", requests_a_minute=60))
        >>> fake.client().gamma.list_ads(account_id="account_e000").data
        ()
    """

    errors: ErrorStyle = "error_object"
    continuation: Continuation = "text"
    continuation_life: float | None = None
    read_parameters: Place | None = None
    delete_parameters: Place = "body"
    key_header: str | None = None
    read_only_token: str | None = attrs.field(default=None, repr=False)
    unknown_date_ranges: Literal["refuse", "ignore"] = "refuse"
    extras: bool = False
    dedupe: bool = False
    latency: float = 0.0
    most_open_drafts: int | None = 500
    drafts_a_day: int | None = None
    requests_a_minute: int | None = None

    def __attrs_post_init__(self) -> None:
        self._require_one_of("errors", get_args(ErrorStyle))
        self._require_one_of("continuation", get_args(Continuation))
        self._require_one_of("read_parameters", (*get_args(Place), None))
        self._require_one_of("delete_parameters", get_args(Place))
        self._require_one_of("unknown_date_ranges", ("refuse", "ignore"))
        self._require_one_of("extras", (True, False))
        self._require_one_of("dedupe", (True, False))
        for name in ("most_open_drafts", "drafts_a_day", "requests_a_minute"):
            _require(name, _is_count(getattr(self, name)), "a whole number from 1, or None")
        _require("latency", _is_seconds(self.latency), "seconds, 0 or more")
        life, header, token = self.continuation_life, self.key_header, self.read_only_token
        is_life = life is None or (_is_seconds(life) and life > 0)
        _require("continuation_life", is_life, "seconds, more than 0, or None")
        is_header = header is None or is_free_header(header)
        _require("key_header", is_header, "the name of a header that nothing else uses, or None")
        is_token = token is None or (isinstance(token, str) and re.fullmatch("[!-~]+", token))
        _require("read_only_token", bool(is_token), "a text without blanks, or None")

    def _require_one_of(self, name: str, choices: tuple[object, ...]) -> None:
        _require(name, getattr(self, name) in choices, f"one of {', '.join(map(repr, choices))}")


def _is_count(value: object) -> bool:
    return value is None or (type(value) is int and value >= 1)


def _is_seconds(value: object) -> bool:
    return type(value) in (int, float) and 0 <= float(str(value)) < float("inf")


def _require(name: str, valid: bool, expected: str) -> None:
    if not valid:
        raise ValueError(f"profile: {name} must be {expected}")
