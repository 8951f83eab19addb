"""Errors, credentials, limits and other switches of `Profile`, as clients see them."""

import attrs
import pytest
from cases import each_case
from fake_helpers import call

from adclient import Conventions, RateLimited, Request, Unauthenticated, Unprocessable
from adclient.testing import FakeAdService, Profile

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
