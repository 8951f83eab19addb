"""Where parameters, continuations and keys travel, by `Conventions` and `Profile`."""

import json

import pytest
from cases import each_case
from fake_helpers import READS, asked, call, refusal, send

from adclient import APIError, BadRequest, Conventions, Request, RetryPolicy
from adclient.testing import FakeAccount, FakeAdService, Fault, Profile

ADS, SEARCH, PAUSE = "gamma.list_ads", "gamma.search_targeting", "beta.pause_campaign"
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
    assert {request.operation for request in fake.requests} == {SEARCH}
    assert {request.account_id for request in fake.requests} == {"account_c3d8"}


@each_case("place", ["query", "body"])
@each_case("operation", READS)
def test_reads_are_accepted_in_query_or_body(operation, place):
    conventions, profile = Conventions(read_parameters=place), Profile(read_parameters="either")
    fake, name = FakeAdService(conventions=conventions, profile=profile), operation.full_name
    assert call(fake, "sync", name) == call(FakeAdService(), "sync", name)


@each_case(
    ("sent", "expected", "code"),
    [("query", "body", "invalid_json"), ("body", "query", "unexpected_body")],
)
def test_client_with_the_wrong_convention_gets_an_error(sent, expected, code):
    conventions, profile = Conventions(read_parameters=sent), Profile(read_parameters=expected)
    fake = FakeAdService(conventions=conventions, profile=profile)
    with pytest.raises(BadRequest) as caught:
        call(fake, "sync", ADS)
    assert caught.value.code == code


@each_case("continuation", ["text", "url"])
def test_parameters_in_two_places_are_refused(continuation):
    profile = Profile(continuation=continuation)
    fake = FakeAdService(conventions=Conventions(read_parameters="body"), profile=profile)
    assert refusal(send(fake, ADS, GAMMA, query=GAMMA)) == "400 unexpected_query"


@each_case(
    ("query", "field"),
    [
        ('targeting={"query":"x"}', "targeting"),
        ("targeting[a]=1&targeting[a][b]=2", "targeting"),
        ("targeting[a]=1&account_id[x]=2", "account_id[x]"),
    ],
)
def test_objects_in_another_style_are_refused(query, field):
    fake = FakeAdService(conventions=Conventions(object_style="deep_object"))
    answer = send(fake, SEARCH, query=f"account_id=account_c3d8&{query}")
    assert refusal(answer) == f"422 invalid_parameter {field}"


# Continuations.


@each_case(
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


def test_continuation_none_returns_everything_on_one_page():
    fake = FakeAdService(profile=Profile(continuation="none"))
    assert call(fake, "sync", ADS) == call(FakeAdService(), "sync", ADS)
    assert len(fake.requests) == 1
    assert fake.client().gamma.list_ads(account_id="account_e000").next is None


ODD = ["", "zz", "12", "0" * 12, "9" * 5000, "\u0663" * 12, "/x?a=1", -1, 7.5, True, {}, []]


@each_case("continuation", [*SHAPES, "none"])
@each_case("cursor", [*ODD, {"cursor": 1}])
def test_malformed_continuation_is_refused(continuation, cursor):
    conventions = Conventions(read_parameters="body")
    fake = FakeAdService(profile=Profile(continuation=continuation), conventions=conventions)
    assert refusal(send(fake, ADS, {**GAMMA, "cursor": cursor})) == "400 invalid_page"


def test_continuation_of_another_listing_or_name_is_refused():
    fake = FakeAdService(page_size=3)
    cursor = fake.client().gamma.list_ads(**GAMMA).next
    other_dates = {"date_range": "LAST_7_DAYS", "cursor": cursor}
    assert refusal(asked(fake, ADS, other_dates)) == "400 invalid_page"
    assert refusal(asked(fake, SEARCH, {"cursor": cursor})) == "400 invalid_page"
    renamed = FakeAdService(conventions=Conventions(cursor_parameter="page_token"))
    assert refusal(asked(renamed, ADS, {"cursor": cursor})) == "422 invalid_parameter cursor"


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


@each_case(("continuation", "life"), [("text", None), ("number", 10**8)])
def test_listing_of_many_items_ends(continuation, life):
    ads = [{"id": f"{number:x}"} for number in range(70_000)]
    profile = Profile(continuation=continuation, continuation_life=life)
    fake = FakeAdService(accounts=[], page_size=66_000, profile=profile)
    fake.add_account(FakeAccount("account_c3d8", ads=ads))
    fake.clock.advance(10**7)
    first, last = fake.client().gamma.list_ads(**GAMMA).pages()
    assert (first.data[0].id, last.data[-1].id) == ("0", f"{69_999:x}")


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


def test_idempotency_key_makes_a_lost_response_safe_to_retry():
    fake = FakeAdService(conventions=KEYED)
    fake.faults.add(Fault.dropped(taken=True))
    draft = call(fake, "sync", retry=RetryPolicy(backoff_first=0))
    assert [staged.draft_id for staged in fake.drafts] == [draft.draft_id]
    assert [request.status for request in fake.requests] == [None, 201]


@each_case(("names", "header"), [(("Trace-Id", "x-other"), "trace-id"), ((), "x-request-id")])
def test_every_response_has_a_request_id(names, header):
    fake = FakeAdService(conventions=Conventions(request_id_headers=names))
    replies = [
        fake.handle(Request(method="GET", url=f"{fake.base_url}{path}"))
        for path in ("/", READS[0].path + "?account_id=account_b204", READS[0].path)
    ]
    ids = [reply.headers[header] for reply in replies]
    assert len(set(ids)) == 3
    assert json.loads(replies[0].body)["error"]["request_id"] == ids[0]
