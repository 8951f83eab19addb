"""Where parameters, continuations and keys travel, by `Conventions` and `Profile`."""

import asyncio
import json

import pytest
from cases import each_case
from fake_helpers import CLIENT_KINDS, READS, call, refusal, send

from adclient import APIError, BadRequest, Conventions, Request, RetryPolicy
from adclient.testing import FakeAdService, Fault, Profile

GAMMA = {"account_id": "account_c3d8"}
SHAPES = ["text", "number", "url", "absolute_url", "object"]
# Every pair of two settings comes together in one of these rows.
PAIRWISE = [
    ("text", "query", "json", "cursor", True),
    ("text", "body", "deep_object", "page_token", False),
    ("number", "query", "json", "page_token", False),
    ("number", "body", "deep_object", "cursor", True),
    ("url", "query", "deep_object", "cursor", False),
    ("url", "body", "json", "page_token", True),
    ("absolute_url", "query", "deep_object", "page_token", True),
    ("absolute_url", "body", "json", "cursor", False),
    ("object", "query", "json", "cursor", False),
    ("object", "body", "deep_object", "page_token", True),
]


@each_case(("continuation", "place", "style", "name", "follow"), PAIRWISE)
def test_all_conventions_return_the_same_items(continuation, place, style, name, follow):
    conventions = Conventions(
        read_parameters=place, object_style=style, cursor_parameter=name, follow_next_urls=follow
    )
    profile = Profile(continuation=continuation)
    plain = FakeAdService(page_size=5).client()
    fake = FakeAdService(page_size=5, conventions=conventions, profile=profile)
    client = fake.client()
    for targeting in (None, {}, {"query": "hiking"}):
        search = {**GAMMA, "targeting": targeting}
        found = list(client.gamma.search_targeting(**search))
        assert found == list(plain.gamma.search_targeting(**search))
    assert len(fake.requests) == 6
    assert {request.operation for request in fake.requests} == {"gamma.search_targeting"}
    assert {request.account_id for request in fake.requests} == {"account_c3d8"}


@each_case("place", ["query", "body"])
@each_case("operation", READS)
def test_reads_are_accepted_in_query_or_body(operation, place):
    conventions, profile = Conventions(read_parameters=place), Profile(read_parameters="either")
    fake, name = FakeAdService(conventions=conventions, profile=profile), operation.full_name
    assert call(fake, "sync", name) == call(FakeAdService(), "sync", name)


@CLIENT_KINDS
@pytest.mark.parametrize(
    ("sent", "expected", "code"),
    [("query", "body", "invalid_json"), ("body", "query", "unexpected_body")],
)
def test_client_with_the_wrong_convention_gets_an_error(client_kind, sent, expected, code):
    conventions, profile = Conventions(read_parameters=sent), Profile(read_parameters=expected)
    fake = FakeAdService(conventions=conventions, profile=profile)
    with pytest.raises(BadRequest) as caught:
        call(fake, client_kind, "gamma.list_ads")
    assert caught.value.code == code


def test_parameters_in_two_places_are_refused():
    for continuation in ("text", "url"):
        profile = Profile(continuation=continuation)
        fake = FakeAdService(conventions=Conventions(read_parameters="body"), profile=profile)
        assert refusal(fake, "gamma.list_ads", GAMMA, query=GAMMA)[1] == "unexpected_query"


def test_objects_in_another_style_are_refused():
    fake = FakeAdService(conventions=Conventions(object_style="deep_object"))
    start = "account_id=account_c3d8&targeting"
    for query, field in [
        (start + '={"query":"x"}', "targeting"),
        (start + "[a]=1&targeting[a][b]=2", "targeting"),
        (start + "[a]=1&account_id[x]=2", "account_id[x]"),
    ]:
        status, code, [detail] = refusal(fake, "gamma.search_targeting", query=query)
        assert (status, code, detail["field"]) == (422, "invalid_parameter", field)


# Continuations.


@pytest.mark.parametrize(
    ("continuation", "kind"), [("text", str), ("number", int), ("url", str), ("object", dict)]
)
def test_continuation_has_the_shape_of_the_profile(continuation, kind):
    fake = FakeAdService(page_size=63, profile=Profile(continuation=continuation))
    page = fake.client().gamma.list_ads(**GAMMA)
    assert type(page.next) is kind
    if continuation == "url":
        assert page.next.startswith("/v1/gamma-ads/list-gamma-ads?cursor=")
    rest = fake.client().gamma.list_ads(**GAMMA, cursor=page.next)
    assert rest.data == list(page.pages())[1].data
    assert (len(rest.data), rest.next) == (63, None), "a full last page is the last"


@CLIENT_KINDS
def test_continuation_none_returns_everything_on_one_page(client_kind):
    fake = FakeAdService(profile=Profile(continuation="none"))
    whole = call(FakeAdService(), client_kind, "gamma.list_ads")
    assert call(fake, client_kind, "gamma.list_ads") == whole
    assert len(fake.requests) == 1
    assert fake.client().gamma.list_ads(account_id="account_e000").next is None


ODD = ["", "zz", "12", "0" * 12, "9" * 5000, "\u0663" * 12, "/x?a=1", -1, 7.5, True, {}, []]


@each_case("continuation", [*SHAPES, "none"])
@each_case("cursor", [*ODD, {"cursor": 1}])
def test_malformed_continuation_is_refused(continuation, cursor):
    conventions = Conventions(read_parameters="body")
    fake = FakeAdService(profile=Profile(continuation=continuation), conventions=conventions)
    given = {**GAMMA, "cursor": cursor}
    assert refusal(fake, "gamma.list_ads", given) == (400, "invalid_page", [])


def test_continuation_of_another_listing_or_name_is_refused():
    fake = FakeAdService(page_size=3)
    client = fake.client()
    cursor = client.gamma.list_ads(**GAMMA).next
    for read, arguments in [
        (client.gamma.list_ads, {**GAMMA, "date_range": "LAST_7_DAYS"}),
        (client.gamma.search_targeting, GAMMA),
    ]:
        with pytest.raises(BadRequest) as caught:
            read(**arguments, cursor=cursor)
        assert caught.value.code == "invalid_page"
    renamed = FakeAdService(conventions=Conventions(cursor_parameter="page_token"))
    query = {**GAMMA, "cursor": cursor}
    assert refusal(renamed, "gamma.list_ads", query=query)[1] == "invalid_parameter"


@each_case("continuation", SHAPES)
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


# Keys, request ids, and both kinds of clients.

KEYED = Conventions(idempotency_header="Idempotency-Key")


def test_repeated_idempotency_key_returns_the_same_draft():
    fake = FakeAdService(conventions=KEYED)
    body = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
    key = {"idempotency-key": "k1"}
    first = send(fake, "beta.pause_campaign", body, headers=key)
    assert send(fake, "beta.pause_campaign", body, headers=key) == first
    other = {**body, "campaign_id": "campaign_cb1a"}
    found = refusal(fake, "beta.pause_campaign", other, headers=key)
    assert found == (422, "idempotency_key_reused", [])
    for headers in ({"idempotency-key": "k2"}, {}, {}):
        assert send(fake, "beta.pause_campaign", body, headers=headers)[0] == 201
    assert len(fake.drafts) == 4
    plain = FakeAdService()
    for _ in range(2):
        send(plain, "beta.pause_campaign", body, headers=key)
    assert len(plain.drafts) == 2, "without the convention, the header means nothing"


def test_idempotency_key_makes_a_lost_response_safe_to_retry():
    fake = FakeAdService(conventions=KEYED)
    fake.faults.add(Fault.dropped(taken=True))
    draft = call(fake, "sync", retry=RetryPolicy(backoff_first=0))
    assert [staged.draft_id for staged in fake.drafts] == [draft.draft_id]
    assert [request.status for request in fake.requests] == [None, 201]


@pytest.mark.parametrize(
    ("names", "header"), [(("Trace-Id", "x-other"), "trace-id"), ((), "x-request-id")]
)
def test_every_response_has_a_request_id(names, header):
    fake = FakeAdService(conventions=Conventions(request_id_headers=names))
    replies = [
        fake.handle(Request(method="GET", url=f"{fake.base_url}{path}"))
        for path in ("/", READS[0].path + "?account_id=account_b204", READS[0].path)
    ]
    ids = [reply.headers[header] for reply in replies]
    assert len(set(ids)) == 3
    assert json.loads(replies[0].body)["error"]["request_id"] == ids[0]


def test_sync_and_async_clients_share_the_service_and_take_options():
    fake = FakeAdService(token="sesame", page_size=2)

    async def names():
        async with fake.async_client(timeout=5, max_retries=0, headers={"x-team": "1"}) as client:
            return [
                o.name async for o in client.alpha.explain_objectives(account_id="account_a91f")
            ]

    assert len(asyncio.run(names())) == 7
    with fake.client(timeout=5, max_retries=0, headers={"x-team": "2"}) as client:
        client.gamma.list_ads(**GAMMA)
    assert [request.headers["x-team"] for request in fake.requests] == ["1"] * 4 + ["2"]
