"""The switches of `Profile`, and `Conventions`, as clients see them."""

import attrs
import pytest
from cases import each_case
from clients import KEYED
from fake_helpers import asked, call, refusal, send

from adclient import APIError, Conventions, RateLimited, Request, Unauthenticated, Unprocessable
from adclient.testing import FakeAdService, Profile

ADS, SEARCH, PAUSE = "gamma.list_ads", "gamma.search_targeting", "beta.pause_campaign"
GAMMA = {"account_id": "account_c3d8"}
MESSAGE, CODE, JSON = "id: this cannot be changed", "immutable_field", "application/json"


@each_case(
    ("style", "message", "code", "has_details", "content_type"),
    ("error_object", MESSAGE, CODE, True, JSON),
    ("problem", MESSAGE, CODE, True, "application/problem+json"),
    ("fastapi", MESSAGE, CODE, True, JSON),
    ("errors_list", MESSAGE, CODE, True, JSON),
    ("text", MESSAGE, None, False, "text/plain; charset=utf-8"),
    ("empty", "no reason given", None, False, "text/plain; charset=utf-8"),
)
def test_client_reads_errors_of_every_shape(style, message, code, has_details, content_type):
    fake = FakeAdService(profile=Profile(errors=style))
    reply = fake.handle(Request(method="GET", url=fake.base_url))
    assert reply.headers["content-type"] == content_type
    with pytest.raises(Unprocessable) as caught:
        fake.client().alpha.update_campaign_budget(
            account_id="account_a91f", campaign_id="campaign_4c10", fields={"id": "x"}
        )
    assert caught.value.message.startswith(message)
    assert (caught.value.code, bool(caught.value.details)) == (code, has_details)
    assert caught.value.request_id.startswith("req_")


@each_case("place", "query", "body")
def test_page_has_the_size_that_the_request_names(place):
    profile = Profile(page_size_parameter="limit")
    conventions = Conventions(read_parameters=place, page_size={"per_page": 7})
    fake = FakeAdService(page_size=5, profile=profile, conventions=conventions)

    def length(page_size):
        client = fake.client(conventions=attrs.evolve(conventions, page_size=page_size))
        return len(client.gamma.list_ads(**GAMMA).data)

    assert [length(size) for size in ({"limit": 3}, {"per_page": 12}, None)] == [3, 12, 5]
    for size, problem in (({"size": 3}, "unknown"), ({"limit": 10**9}, "expected whole number")):
        with pytest.raises(Unprocessable, match=problem):
            length(size)


@each_case(
    ("header", "sent"),
    (None, {"authorization": "Bearer sesame"}),
    ("X-Api-Key", {"x-api-key": "sesame", "authorization": None}),
)
def test_token_is_read_from_the_key_header(header, sent):
    fake = FakeAdService(token="sesame", profile=Profile(key_header=header))
    assert call(fake).draft_id
    assert {name: fake.requests[0].headers.get(name) for name in sent} == sent
    for credentials in ({"token": "other"}, {"auth": lambda _: {}}):
        with pytest.raises(Unauthenticated):
            fake.client(**credentials).gamma.list_ads(**GAMMA)
    assert "sesame" not in repr(fake) + repr(fake.requests)


def test_request_beyond_the_rate_limit_is_refused():
    fake = FakeAdService(profile=Profile(requests_a_minute=3))
    fake.clock.advance(3600)
    for _ in range(3):
        call(fake, "alpha.explain_objectives")
    fake.clock.advance(12.5)
    with pytest.raises(RateLimited) as caught:
        call(fake)
    assert (caught.value.code, caught.value.retry_after) == ("rate_limited", 48)
    assert not caught.value.outcome_unknown
    fake.clock.advance(47.5)
    assert call(fake).draft_id


@each_case(
    ("name", "values"),
    ("errors", ["xml", None]),
    ("continuation_life", [0, -1, "1", True, float("inf"), float("nan")]),
    ("page_size_parameter", ["", 7, "account_id"]),
    ("key_header", ["", "a b", "Authorization", "host"]),
    ("requests_a_minute", [0, 1.5, True, "1"]),
)
def test_invalid_profile_is_refused(name, values):
    for value in values:
        with pytest.raises(ValueError, match=f"^{name} must be "):
            Profile(**{name: value})


# Conventions.

SHAPES = ["text", "number", "url", "absolute_url", "object"]
PAIRWISE = [
    ("text", "query", "json", "cursor", True),
    ("number", "body", "deep_object", "cursor", True),
    ("url", "query", "deep_object", "cursor", False),
    ("absolute_url", "body", "json", "page_token", False),
    ("object", "query", "json", "cursor", True),
]


@each_case(("continuation", "place", "style", "name", "follow"), *PAIRWISE)
def test_all_conventions_return_the_same_items(continuation, place, style, name, follow):
    conventions = Conventions(
        read_parameters=place, object_style=style, cursor_parameter=name, follow_next_urls=follow
    )
    profile = Profile(continuation=continuation)
    plain = FakeAdService(page_size=5).client()
    fake = FakeAdService(page_size=5, conventions=conventions, profile=profile)
    for targeting in (None, {}, {"query": "hiking"}):
        search = {**GAMMA, "targeting": targeting}
        found = list(fake.client().gamma.search_targeting(**search))
        assert found == list(plain.gamma.search_targeting(**search))
    assert [request.operation for request in fake.requests] == [SEARCH] * 6
    assert {request.account_id for request in fake.requests} == {"account_c3d8"}


# Continuations.

ODD = ["", "zz", "12", "0" * 12, "9" * 5000, "\u0663" * 12, "/x?a=1", -1, 7.5, True, {}, []]


@each_case("continuation", *SHAPES, "none")
def test_malformed_continuation_is_refused(continuation):
    conventions = Conventions(read_parameters="body")
    fake = FakeAdService(profile=Profile(continuation=continuation), conventions=conventions)
    for cursor in [*ODD, {"cursor": 1}]:
        assert refusal(send(fake, ADS, {**GAMMA, "cursor": cursor})) == "400 invalid_page"


@each_case("continuation", *SHAPES)
def test_continuation_is_valid_for_its_life(continuation):
    profile = Profile(continuation=continuation, continuation_life=600)
    fake = FakeAdService(profile=profile)
    fake.clock.advance(86_400.5)
    client = fake.client()
    page = client.gamma.list_ads(**GAMMA)
    fake.clock.advance(599.9)
    assert client.gamma.list_ads(**GAMMA, cursor=page.next).data
    fake.clock.advance(0.1)
    with pytest.raises(APIError) as caught:
        client.gamma.list_ads(**GAMMA, cursor=page.next)
    assert (caught.value.status, caught.value.code) == (410, "page_expired")


# Keys and request ids.


def test_repeated_idempotency_key_returns_the_same_draft():
    fake, plain = FakeAdService(conventions=KEYED), FakeAdService()
    body, key = {"campaign_id": "campaign_57a7"}, {"idempotency-key": "k1"}
    first = asked(fake, PAUSE, body, headers=key)
    assert asked(fake, PAUSE, body, headers=key) == first
    other = {**body, "campaign_id": "campaign_cb1a"}
    assert refusal(asked(fake, PAUSE, other, headers=key)) == "422 idempotency_key_reused"
    for headers in ({"idempotency-key": "k2"}, {}, {}):
        assert asked(fake, PAUSE, body, headers=headers)[0] == 201
    assert len(fake.drafts) == 4
    for _ in range(2):
        asked(plain, PAUSE, body, headers=key)
    assert len(plain.drafts) == 2, "without the convention, the header means nothing"
