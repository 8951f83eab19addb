"""The behaviour of the fake service where its interface leaves it open."""

from collections.abc import Collection
from difflib import get_close_matches
from math import inf
from typing import Literal, get_args

import attrs

from adclient._core.operations import READS
from adclient._service.model import AuthShape, ErrorShape, Listing, Next, Service
from adclient._values.json_values import as_float, is_choice
from adclient.conventions import Conventions, is_free_header, is_page_size
from adclient.options import check_count, check_timeout, check_type
from adclient.testing._fake import load

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
NextStyle = Literal["text", "number", "url", "absolute_url", "object", "none"]
ReadPlace = Literal["query", "body", "either"]

_SHAPES = load("shapes.json")
ERROR_SHAPES = {style: ErrorShape(**shape) for style, shape in _SHAPES["errors"].items()}
_NEXT = {name: Next(**form) for name, form in _SHAPES["continuations"].items()}


@attrs.frozen(kw_only=True)
class Profile:
    """The behaviour of the fake where the interface leaves it open.

    By default it refuses only what its interface does, and pages listings by opaque texts. What
    clients must know, such as the name of the continuation parameter, is part of `Conventions`
    instead.

    Attributes:
        errors: The shape of error bodies: `"error_object"`, `"problem"` (RFC 9457), `"detail"`
            (a text), `"fastapi"` (a list), `"success_false"`, `"errors_list"`, plain `"text"`,
            the `"html"` of a proxy, `"empty"`, or `"truncated"` JSON.
        continuation: The shape of `page.next`: a `"text"`, a `"number"`, an `"object"`, a `"url"`
            or `"absolute_url"` of the same endpoint; or `"none"`, where one page has all items.
            Where it is not a text and the cursor parameter is named `page`, `offset` or the like,
            it is the number of the next page or item.
        continuation_life: Seconds, by the fake's clock, after which a continuation is refused with
            410 `page_expired`; None for never.
        read_parameters: Where reads take their parameters from; None for the place that the
            conventions name.
        page_size_parameter: The parameter in which reads take how many items a page has, instead
            of the fake's `page_size`. The one that the conventions name, if any, works as well.
        key_header: The header that carries the bare token; None for a bearer token.
        business_rules: Whether to refuse what the interface allows and ad platforms do not: a
            budget below a minimum, a change of a campaign that has ended, a write that changes
            nothing, a keyword that exists already, an unknown `date_range`, and more.
        two_reviewers: Whether whoever armed a draft is refused when they confirm it.
        latency: Seconds that each response takes: of the fake's clock, or real ones over HTTP.
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
    continuation: NextStyle = "text"
    continuation_life: float | None = None
    read_parameters: ReadPlace | None = None
    page_size_parameter: str | None = None
    key_header: str | None = None
    business_rules: bool = False
    two_reviewers: bool = False
    latency: float = 0.0
    requests_a_minute: int | None = None

    def __attrs_post_init__(self) -> None:
        check_choice("errors", self.errors, ErrorStyle)
        check_choice("continuation", self.continuation, NextStyle)
        check_seconds("latency", self.latency)
        check_type("business_rules", self.business_rules, bool)
        check_type("two_reviewers", self.two_reviewers, bool)
        if self.read_parameters is not None:
            check_choice("read_parameters", self.read_parameters, ReadPlace)
        name = self.page_size_parameter
        if name is not None and not (isinstance(name, str) and is_page_size({name: 1})):
            raise ValueError(
                "page_size_parameter must be the name of a parameter that nothing else uses"
            )
        if self.continuation_life is not None:
            check_timeout(self.continuation_life, "continuation_life")
        if self.requests_a_minute is not None:
            check_count("requests_a_minute", self.requests_a_minute, least=1)
        if self.key_header is not None and not is_free_header(self.key_header):
            raise ValueError("key_header must be the name of a header that nothing else uses")


def describe_service(profile: Profile, conventions: Conventions, page_size: int) -> Service:
    """The service that a fake with this profile is like."""
    header = profile.key_header
    listing = Listing(account_id="", page_size=page_size, next=_NEXT.get(profile.continuation))
    return Service(
        url="",
        auth=AuthShape() if header is None else AuthShape(scheme="", header=header),
        conventions=conventions,
        listings=dict.fromkeys(READS, listing),
    )


def check_choice(name: str, value: object, kind: object) -> None:
    """Refuse a value that is not one of those of a `Literal`."""
    if not is_choice(value, get_args(kind)):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, get_args(kind)))}")


def unknown(what: str, name: object, known: Collection[str]) -> str:
    """The message for a name that is not one of those known; it suggests the nearest one."""
    near = get_close_matches(str(name), known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(known))}"
    return f"there is no {what} {name!r}: {hint}"


def check_seconds(name: str, value: object) -> None:
    """Refuse a time that is negative or not finite."""
    if not 0 <= as_float(value) < inf:
        raise ValueError(f"{name} must be a finite number, 0 or more")
