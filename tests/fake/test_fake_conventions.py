"""Where parameters, continuations and keys travel, by `Conventions` and `Profile`."""

import pytest
from cases import each_case
from fake_helpers import asked, refusal, send

from adclient import APIError, Conventions
from adclient.testing import FakeAdService, Profile

ADS, SEARCH, PAUSE = "gamma.list_ads", "gamma.search_targeting", "beta.pause_campaign"
GAMMA = {"account_id": "account_c3d8"}
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

KEYED = Conventions(idempotency_header="Idempotency-Key")


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
