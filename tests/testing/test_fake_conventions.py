import asyncio
import json

import pytest
from cases import each_case
from fake_helpers import ACCOUNTS, READS, refusal, send

from adclient import AsyncAdClient, BadRequest, Conventions, Request, RetryPolicy
from adclient.testing import FakeAdService, Fault, Profile

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


HUGE = ["9" * 5000, "f" * 5000, " 0x1f ", "1F" * 8, "-1", "\u0663" * 12, "{" * 5000]


@each_case("continuation", [*SHAPES, "none"])
@each_case("cursor", HUGE)
def test_huge_cursor_is_refused(continuation, cursor):
    fake = FakeAdService(profile=Profile(continuation=continuation))
    query = {"account_id": "account_c3d8", "cursor": cursor}
    status, code, _ = refusal(fake, "gamma.list_ads", query=query)
    assert (status, code) in [(400, "invalid_page"), (422, "invalid_parameter")]


@each_case(("continuation", "place", "style", "name", "follow"), PAIRWISE)
def test_all_conventions_return_the_same_items(continuation, place, style, name, follow):
    conventions = Conventions(
        read_parameters=place, object_style=style, cursor_parameter=name, follow_next_urls=follow
    )
    plain = FakeAdService(page_size=5).client()
    fake = FakeAdService(
        page_size=5, conventions=conventions, profile=Profile(continuation=continuation)
    )
    client = fake.client()
    for targeting in (None, {}, {"query": "hiking"}):
        search = {"account_id": "account_c3d8", "targeting": targeting}
        found = list(client.gamma.search_targeting(**search))
        assert found == list(plain.gamma.search_targeting(**search))
    assert len(fake.requests) == 6
    assert {request.operation for request in fake.requests} == {"gamma.search_targeting"}
    assert {request.account_id for request in fake.requests} == {"account_c3d8"}


@pytest.mark.parametrize(
    ("continuation", "kind"), [("text", str), ("number", int), ("url", str), ("object", dict)]
)
def test_continuation_has_the_shape_of_the_profile(continuation, kind):
    fake = FakeAdService(page_size=50, profile=Profile(continuation=continuation))
    page = fake.client().gamma.list_ads(account_id="account_c3d8")
    assert type(page.next) is kind
    if continuation == "url":
        assert page.next.startswith("/v1/gamma-ads/list-gamma-ads?cursor=")
    rest = fake.client().gamma.list_ads(account_id="account_c3d8", cursor=page.next)
    assert rest.data == list(page.pages())[1].data


def test_full_last_page_has_no_continuation():
    pages = list(FakeAdService(page_size=63).client().gamma.list_ads(
        account_id="account_c3d8").pages())  # fmt: skip
    assert [len(page.data) for page in pages] == [63, 63]
    assert pages[-1].next is None


@each_case("continuation", SHAPES)
@each_case("cursor", ["", "zz", "12", "000000000000", -1, 7.5, {"cursor": 1}, {}, []])
def test_malformed_continuation_is_refused(continuation, cursor):
    conventions = Conventions(read_parameters="body")
    fake = FakeAdService(profile=Profile(continuation=continuation), conventions=conventions)
    given = {"account_id": "account_c3d8", "cursor": cursor}
    assert refusal(fake, "gamma.list_ads", given) == (400, "invalid_page", [])


def test_continuation_of_another_listing_is_refused():
    fake = FakeAdService(page_size=3)
    client = fake.client()
    cursor = client.beta.list_campaigns(account_id="account_b204").next
    with pytest.raises(BadRequest) as other_filter:
        client.beta.list_campaigns(
            account_id="account_b204", date_range="LAST_7_DAYS", cursor=cursor
        )
    assert other_filter.value.code == "invalid_page"
    options = client.gamma.search_targeting(account_id="account_c3d8")
    with pytest.raises(BadRequest):
        client.gamma.list_ads(account_id="account_c3d8", cursor=options.next)


def test_parameters_in_another_place_are_refused():
    fake = FakeAdService(conventions=Conventions(read_parameters="body"))
    query = {"account_id": "account_c3d8"}
    assert refusal(fake, "gamma.list_ads", query=query) == (400, "invalid_json", [])
    assert refusal(fake, "gamma.list_ads", query, query=query)[1] == "unexpected_query"
    assert send(fake, "gamma.list_ads", query)[0] == 200
    with_url = FakeAdService(
        conventions=Conventions(read_parameters="body"), profile=Profile(continuation="url")
    )
    assert refusal(with_url, "gamma.list_ads", query, query=query)[1] == "unexpected_query"


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


def test_continuation_under_another_name_is_refused():
    fake = FakeAdService(conventions=Conventions(cursor_parameter="page_token"))
    query = {"account_id": "account_c3d8", "cursor": "000000000000"}
    assert refusal(fake, "gamma.list_ads", query=query)[1] == "invalid_parameter"


def test_repeated_idempotency_key_returns_the_same_draft():
    fake = FakeAdService(conventions=Conventions(idempotency_header="Idempotency-Key"))
    body = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
    key = {"idempotency-key": "k1"}
    first = send(fake, "beta.pause_campaign", body, headers=key)
    assert send(fake, "beta.pause_campaign", body, headers=key) == first
    assert len(fake.drafts) == 1
    other = {**body, "campaign_id": "campaign_cb1a"}
    found = refusal(fake, "beta.pause_campaign", other, headers=key)
    assert found == (422, "idempotency_key_reused", [])
    assert send(fake, "beta.pause_campaign", body, headers={"idempotency-key": "k2"})[0] == 201
    assert send(fake, "beta.pause_campaign", body)[0] == 201
    assert len({draft.draft_id for draft in fake.drafts}) == 3


def test_idempotency_key_makes_a_lost_response_safe_to_retry():
    fake = FakeAdService(conventions=Conventions(idempotency_header="Idempotency-Key"))
    fake.faults.add(Fault.dropped(taken=True))
    client = fake.client(retry=RetryPolicy(backoff_first=0))
    draft = client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
    assert [staged.draft_id for staged in fake.drafts] == [draft.draft_id]
    assert [request.status for request in fake.requests] == [None, 201]


def test_idempotency_key_is_ignored_without_the_convention():
    fake = FakeAdService()
    body = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
    for _ in range(2):
        send(fake, "beta.pause_campaign", body, headers={"idempotency-key": "k1"})
    assert len(fake.drafts) == 2


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


def test_sync_and_async_clients_share_the_service():
    fake = FakeAdService(token="sesame", page_size=2)

    async def stage():
        async with fake.async_client(timeout=5, max_retries=0, headers={"x-team": "1"}) as client:
            names = [
                [o.name async for o in client.alpha.explain_objectives(account_id="account_a91f")]
            ]
            draft = await client.beta.pause_campaign(
                account_id="account_b204", campaign_id="campaign_57a7"
            )
            return names, draft

    [names], draft = asyncio.run(stage())
    assert len(names) == 7
    assert fake.drafts[0].draft_id == draft.draft_id
    assert {request.headers["x-team"] for request in fake.requests} == {"1"}
    with fake.client(timeout=5, max_retries=0, headers={"x-team": "2"}) as client:
        client.delta.infer_business_profile(account_id=ACCOUNTS["delta"])
    assert fake.requests[-1].headers["x-team"] == "2"
    assert isinstance(fake.async_client(), AsyncAdClient)
