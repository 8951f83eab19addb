"""Errors, credentials, limits and other switches of `Profile`, as clients see them."""

import attrs
import pytest
from cases import each_case
from fake_helpers import call, send

from adclient import AdClient, Conventions, RateLimited, Request, Unauthenticated, Unprocessable
from adclient.testing import FakeAdService, Profile

GAMMA = {"account_id": "account_c3d8"}
MESSAGE, CODE = "id: this cannot be changed", "immutable_field"


@each_case(
    ("style", "message", "code", "has_details", "content_type"),
    [
        ("error_object", MESSAGE, CODE, True, "application/json"),
        ("problem", MESSAGE, CODE, True, "application/problem+json"),
        ("detail", MESSAGE, None, False, "application/json"),
        ("fastapi", MESSAGE, CODE, True, "application/json"),
        ("success_false", MESSAGE, None, False, "application/json"),
        ("errors_list", MESSAGE, CODE, True, "application/json"),
        ("text", MESSAGE, None, False, "text/plain; charset=utf-8"),
        ("html", f"422 {MESSAGE}", None, False, "text/html; charset=utf-8"),
        ("empty", "no reason given", None, False, "text/plain; charset=utf-8"),
        ("truncated", '{"error":{"code":"immutable_fi', None, False, "application/json"),
    ],
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


def test_error_without_a_field_is_readable():
    fake = FakeAdService(profile=Profile(errors="fastapi"))
    status, answer = send(fake, "gamma.list_ads", query={"account_id": "account_0000"})
    assert (status, answer["detail"][0]["loc"]) == (404, ["body"])


@each_case("place", ["query", "body"])
def test_page_has_the_size_that_the_request_names(place):
    profile = Profile(page_size_parameter="limit")
    conventions = Conventions(read_parameters=place, page_size={"per_page": 7})
    fake = FakeAdService(page_size=5, profile=profile, conventions=conventions)

    def length(page_size):
        asking = attrs.evolve(conventions, page_size=page_size)
        client = AdClient(fake.base_url, transport=fake.transport, conventions=asking)
        return len(client.gamma.list_ads(**GAMMA).data)

    sizes = {"limit": 3}, {"per_page": 12}, None
    assert [length(size) for size in sizes] == [3, 12, 5]
    for size, problem in (({"size": 3}, "unknown"), ({"limit": 10**9}, "expected whole number")):
        with pytest.raises(Unprocessable, match=problem):
            length(size)


@each_case(
    ("header", "sent"),
    [
        (None, {"authorization": "Bearer sesame"}),
        ("X-Api-Key", {"x-api-key": "sesame", "authorization": None}),
    ],
)
def test_token_is_read_from_the_key_header(header, sent):
    fake = FakeAdService(token="sesame", profile=Profile(key_header=header))
    assert call(fake, "sync").draft_id
    assert {name: fake.requests[0].headers.get(name) for name in sent} == sent
    for token in ("other", None):
        stranger = AdClient(fake.base_url, token=token, transport=fake.transport)
        with pytest.raises(Unauthenticated):
            stranger.gamma.list_ads(**GAMMA)
    assert "sesame" not in repr(fake) + repr(fake.requests)


def test_request_beyond_the_rate_limit_is_refused():
    fake = FakeAdService(profile=Profile(requests_a_minute=3))
    fake.clock.advance(3600)
    for _ in range(3):
        call(fake, "sync", "alpha.explain_objectives")
    fake.clock.advance(12.5)
    with pytest.raises(RateLimited) as caught:
        call(fake, "sync")
    assert (caught.value.code, caught.value.retry_after) == ("rate_limited", 48)
    assert not caught.value.outcome_unknown
    fake.clock.advance(47.5)
    assert call(fake, "sync").draft_id


@each_case(
    ("name", "values"),
    [
        ("errors", ["xml", None]),
        ("continuation", ["none ", None]),
        ("continuation_life", [0, -1, "1", True, float("inf"), float("nan")]),
        ("read_parameters", ["path"]),
        ("page_size_parameter", ["", 7, "account_id"]),
        ("key_header", ["", "a b", "Authorization", "host"]),
        ("latency", [-1, float("nan"), float("inf")]),
        ("requests_a_minute", [0, 1.5, True, "1"]),
    ],
)
def test_invalid_profile_is_refused(name, values):
    for value in values:
        with pytest.raises(ValueError, match=f"^{name} must be "):
            Profile(**{name: value})
