"""A fake like a service that a file describes."""

import base64
import json
import os
import re
from urllib.parse import urlencode

import attrs
import pytest
from cases import each_case
from fake_helpers import PATHS, approve, send
from hypothesis import given, settings, strategies as st

from adclient import AdClient, APIError, ConfigurationError, Conventions, Request
from adclient._core import jsontext
from adclient._core.operations import READS
from adclient._service.model import AuthShape, ErrorShape, Listing, Next, Service, Shape
from adclient._service.shapes import shapes_of
from adclient._service.writing import text_of
from adclient.conventions import query_of_url
from adclient.testing import FakeAdService, Profile
from adclient.testing._like.items import rows_of

CAMPAIGNS, ADS, FATIGUE = "beta.list_campaigns", "gamma.list_ads", "beta.detect_creative_fatigue"
TEXT = Shape(types=("string",), min_length=1, max_length=30)
ITEM = {"id": TEXT, "name": TEXT, "status": TEXT}
BUDGET = Shape(types=("integer",), minimum=5, maximum=90)
LISTING = Listing(account_id="account_7", count=7, is_complete=True, page_size=3, item=ITEM)
SERVICE = Service(url="https://ads.example.com/api", accounts=("account_7",))


def like(tmp_path, service=SERVICE, listings=None, **arguments):
    """A fake like a service whose listings are given by read, or those of the service itself."""
    if listings is not None:
        service = attrs.evolve(service, listings=listings)
    path = tmp_path / "service.toml"
    path.write_text(text_of(service), "utf-8")
    return FakeAdService.like(path, **arguments)


def pages_of(fake, read, account_id="account_7"):
    """All pages of a read, as a client of the fake gets them."""
    namespace, name = read.split(".")
    method = getattr(getattr(fake.client(), namespace), name)
    return list(method(account_id=account_id).pages())


def items_of(fake, read, account_id="account_7"):
    return [item.to_dict() for page in pages_of(fake, read, account_id) for item in page.data]


def sent(fake, read=CAMPAIGNS, headers=None, **query):
    """The response to a read with these parameters."""
    pairs = urlencode({"account_id": "account_7", **query})
    url = f"{fake.base_url}{PATHS[read].path}?{pairs}"
    return fake.handle(Request(method="GET", url=url, headers=headers or {}))


# How listings continue.

URL = Next(form="URL", parameters=("account_id", "after", "limit"))
OTHER = attrs.evolve(URL, host="other")
# What a file says, the settings that follow from it, and the text that each `next` is like.
FORMS = [
    (Next(form="string"), {}, r'"\w+"'),
    (Next(form="string"), {"cursor_parameter": "page[after]"}, r'"\w+"'),
    (Next(form="number"), {"cursor_parameter": "pageNumber"}, "[23]"),
    (Next(form="number"), {"cursor_parameter": "offset"}, "[36]"),
    (Next(form="number"), {"cursor_parameter": "last_id"}, r"\d{6,}"),
    (Next(form="object", parameters=("key",)), {}, r'\{"key": "\w+"\}'),
    (
        Next(form="object", parameters=("page", "size", "seen")),
        {"continuation": dict},
        r'\{"page": [23], "size": 3, "seen": "\w+"\}',
    ),
    (
        attrs.evolve(URL, host="same"),
        {},
        r'"https://fake\..*/api/v1/\S+\?account_id=account_7&after=\w+&limit=3"',
    ),
    (
        Next(form="URL", host="relative", parameters=("page",)),
        {},
        r'"/api/v1/[^?]+\?page=[23]"',
    ),
    (
        OTHER,
        {"continuation": query_of_url},
        r'"http://ads.internal:8080/api/v1/\S+after=\w+&limit=3"',
    ),
    (
        Next(form="object", host="relative", key="href", parameters=("offset",)),
        {"continuation": query_of_url},
        r'\{"href": "/api/v1/\S+\?offset=[36]"\}',
    ),
]
ENDS = {"null": {"next": None}, "missing": {}, "empty": {"next": ""}, "false": {"next": False}}


@each_case(("number", "form"), enumerate(FORMS))
@each_case("place", ["query", "body"])
def test_client_of_the_file_reads_every_listing_to_its_end(number, form, place, tmp_path):
    following, own, pattern = form
    end = list(ENDS)[number % 4]
    conventions = Conventions(read_parameters=place, end_of_listing=end, **own)
    service = attrs.evolve(SERVICE, conventions=conventions)
    listing = attrs.evolve(LISTING, next=following)
    fake = like(tmp_path, service, dict.fromkeys(READS, listing))
    for read in READS:
        pages = pages_of(fake, read)
        assert [len(page.data) for page in pages] == [3, 3, 1]
        assert len({item.id for page in pages for item in page.data}) == 7
        for page in pages[:-1]:
            assert re.fullmatch(pattern, json.dumps(page.next))
        assert pages[-1].next is None
    # Nothing else is taken for a continuation, so that a doctor finds the same settings.
    names = {name for request in fake.requests for name in (*request.query, *(request.json or ()))}
    for name in {"cursor", "page", "key", "after", "last_id"} - names:
        refused = 422 if place == "query" else 400
        assert sent(fake, **{name: "1"}).status == refused


@each_case("form", FORMS)
@each_case("place", ["query", "body"])
def test_page_size_of_the_file_is_that_of_the_pages(form, place, tmp_path):
    following, own, _ = form
    conventions = Conventions(read_parameters=place, page_size={"limit": 2}, **own)
    service = attrs.evolve(SERVICE, conventions=conventions)
    fake = like(tmp_path, service, {CAMPAIGNS: attrs.evolve(LISTING, next=following)})
    pages = pages_of(fake, CAMPAIGNS)
    assert [len(page.data) for page in pages] == [2, 2, 2, 1]
    assert len({item.id for page in pages for item in page.data}) == 7


@each_case("end", ENDS)
def test_last_page_ends_as_in_the_file(end, tmp_path):
    fake = like(tmp_path, attrs.evolve(SERVICE, conventions=Conventions(end_of_listing=end)))
    assert json.loads(sent(fake).body)["page"] == ENDS[end]


def test_continuation_comes_back_only_as_the_file_says(tmp_path):
    following = Next(form="object", parameters=("cursor", "size"))
    in_body = Conventions(read_parameters="body", continuation=dict)
    for conventions in (in_body, attrs.evolve(in_body, read_parameters="query")):
        service = attrs.evolve(SERVICE, conventions=conventions)
        fake = like(tmp_path, service, {CAMPAIGNS: attrs.evolve(LISTING, next=following)})
        whole = pages_of(fake, CAMPAIGNS)[0].next
        client = attrs.evolve(conventions, continuation=None)
        with AdClient(fake.base_url, conventions=client, transport=fake.transport) as other:
            other.beta.list_campaigns(account_id="account_7")
            with pytest.raises(APIError, match="does not belong"):
                other.beta.list_campaigns(account_id="account_7", cursor=whole)
    fake = like(tmp_path, attrs.evolve(SERVICE, conventions=in_body), {CAMPAIGNS: LISTING})
    in_both = {"query": {"cursor": "x"}, "body": {"account_id": "account_7"}}
    assert send(fake, CAMPAIGNS, **in_both)[1]["error"]["code"] == "unexpected_query"
    write = {"account_id": "account_7", "campaign_id": "c", "cursor": "x"}
    assert send(fake, "beta.pause_campaign", write)[0] == 422


def test_reads_differ_where_the_file_says_so(tmp_path):
    conventions = Conventions(
        reads={
            ADS: {"cursor_parameter": "page", "end_of_listing": "missing"},
            FATIGUE: {"read_parameters": "body", "continuation": dict},
        }
    )
    listings = {
        CAMPAIGNS: attrs.evolve(
            LISTING, next=Next(form="URL", host="relative", parameters=("date_range", "after"))
        ),
        ADS: attrs.evolve(LISTING, next=Next(form="number"), page_size=4),
        FATIGUE: attrs.evolve(LISTING, next=Next(form="object", parameters=("after",))),
        "alpha.explain_objectives": attrs.evolve(LISTING, page_size=None, item={"id": TEXT}),
    }
    fake = like(tmp_path, attrs.evolve(SERVICE, conventions=conventions), listings)
    sizes = {read: [len(page.data) for page in pages_of(fake, read)] for read in READS}
    assert sizes == {
        **{read: [0] for read in READS},
        CAMPAIGNS: [3, 3, 1],
        ADS: [4, 3],
        FATIGUE: [3, 3, 1],
        "alpha.explain_objectives": [7],
    }
    assert {request.operation for request in fake.requests if request.query == {}} == {FATIGUE}


def test_listing_that_was_not_read_to_its_end_has_another_page(tmp_path):
    listing = attrs.evolve(LISTING, count=6, is_complete=False, next=Next(form="string"))
    fake = like(tmp_path, listings={CAMPAIGNS: listing})
    assert [len(page.data) for page in pages_of(fake, CAMPAIGNS)] == [3, 3, 3]


def test_totals_beside_the_items_are_true_and_the_rest_is_like_the_file(tmp_path):
    number, flag = Shape(types=("integer",), minimum=1, maximum=1), Shape(types=("boolean",))
    listing = attrs.evolve(
        LISTING,
        next=Next(form="string"),
        page={
            "total_count": number,
            "total_pages": number,
            "has_more": flag,
            "is_last": flag,
            "server": TEXT,
            "next_cursor": Shape(types=("string", "null")),
            "hint": Shape(types=("integer",), is_optional=True),
            "account_number": number,
            "discount": number,
            "next_step_done": Shape(types=("boolean",)),
            "hasNextPage": flag,
            "itemsTotal": number,
        },
        extra={"meta": Shape(types=("object",), properties={"total": number, "v": number})},
    )
    fake = like(tmp_path, listings={CAMPAIGNS: listing})
    first, *_, last = (page.to_dict() for page in pages_of(fake, CAMPAIGNS))
    assert first["meta"] == last["meta"] == {"total": 7, "v": 1}
    page = first["page"]
    expected = {"total_count": 7, "total_pages": 3, "has_more": True, "is_last": False}
    expected |= {"account_number": 1, "discount": 1, "hasNextPage": True, "itemsTotal": 7}
    assert {name: page[name] for name in expected} == expected
    assert isinstance(page["next_cursor"], str)
    assert isinstance(page["hint"], int)
    assert page["next_step_done"] == last["page"]["next_step_done"]
    expected["next_step_done"] = page["next_step_done"]
    is_last = {"has_more": False, "hasNextPage": False, "is_last": True, "next_cursor": None}
    assert last["page"] == {**expected, **is_last, "server": page["server"], "next": None}


@each_case("place", ["query", "body"])
@each_case("parameters", [("cursor", "limit"), ("page", "limit"), ("cursor",)])
def test_object_whose_entries_are_parameters_does_not_continue_a_listing(
    place, parameters, tmp_path
):
    conventions = Conventions(continuation=dict, read_parameters=place)
    listing = attrs.evolve(LISTING, next=Next(form="object", parameters=parameters))
    fake = like(tmp_path, attrs.evolve(SERVICE, conventions=conventions), {CAMPAIGNS: listing})
    following, name = pages_of(fake, CAMPAIGNS)[0].next, parameters[0]
    in_text = json.dumps if place == "query" else dict
    for continuation, expected in ((following, 200), ({name: in_text(following)}, 400)):
        given = {"account_id": "account_7", **continuation}
        status, _ = send(fake, CAMPAIGNS, **{place: given})
        assert status == expected


# Errors and credentials.


def test_errors_are_like_those_of_the_file(tmp_path):
    errors = ErrorShape(
        content_type="application/vnd.api+json",
        body='{"errors": [{"title": "{message}", "code": "{code}", "see": "{this}"}]}',
        statuses={"unknown_account": 403, "unknown_parameter": 400},
    )
    fake = like(tmp_path, attrs.evolve(SERVICE, errors=errors))
    reply = sent(fake, account_id='"x"')
    assert (reply.status, reply.headers["content-type"]) == (403, "application/vnd.api+json")
    assert json.loads(reply.body) == {
        "errors": [
            {
                "title": "no account '\"x\"' is connected",
                "code": "account_not_found",
                "see": "{this}",
            }
        ]
    }
    assert sent(fake, odd="1").status == 400
    text = "no account '\"x\"' is connected"
    for body, expected in (
        ('["{message}"]', [text]),
        (' "{message}"', text),
        ('\n{"e":"{message}"}', {"e": text}),
    ):
        fake = like(tmp_path, attrs.evolve(SERVICE, errors=attrs.evolve(errors, body=body)))
        assert json.loads(sent(fake, account_id='"x"').body) == expected


def test_error_of_a_write_is_like_those_of_the_file(tmp_path):
    errors = ErrorShape(body='{"message": "{message}", "code": "{code}"}')
    fake = like(tmp_path, attrs.evolve(SERVICE, errors=errors))
    with pytest.raises(APIError) as caught:
        fake.client().beta.pause_campaign(account_id="account_7", campaign_id="other")
    assert (caught.value.status, caught.value.code) == (404, "campaign_not_found")


@each_case("body", ['{"error": "{message}"}', ""])
def test_unknown_account_has_an_empty_page_where_the_file_says(body, tmp_path):
    errors = ErrorShape(body=body, statuses={"unknown_account": 200})
    conventions = Conventions(end_of_listing="missing")
    listing = attrs.evolve(
        LISTING,
        next=Next(form="number"),
        page={"total": BUDGET, "has_more": Shape(types=("boolean",))},
    )
    service = attrs.evolve(SERVICE, errors=errors, conventions=conventions)
    fake = like(tmp_path, service, {CAMPAIGNS: listing})
    reply = sent(fake, account_id="account_8")
    empty = {"data": [], "page": {"total": 0, "has_more": False}}
    assert (reply.status, json.loads(reply.body)) == (200, empty)
    for read in READS:
        assert items_of(fake, read, "account_8") == []
    with pytest.raises(APIError) as caught:
        fake.client().delta.remove_auto_search_themes(account_id="account_8")
    assert caught.value.status == 404
    assert fake.drafts == ()
    assert len(items_of(fake, CAMPAIGNS)) == 7


def test_errors_that_the_file_lacks_are_those_of_the_profile(tmp_path):
    fake = like(tmp_path, profile=Profile(errors="detail"))
    assert json.loads(sent(fake, odd="1").body) == {"detail": "odd: unknown"}


@each_case(
    ("auth", "token", "headers"),
    [
        (None, None, {}),
        (None, "s", {"authorization": "Bearer s"}),
        (AuthShape(env="X"), None, {"authorization": "Bearer fake-token"}),
        (AuthShape(env="X", scheme="Token"), "s", {"authorization": "Token s"}),
        (AuthShape(env="X", scheme="", header="X-Key"), None, {"x-key": "fake-token"}),
        (
            AuthShape(file="key", scheme="Basic"),
            None,
            {"authorization": f"Basic {base64.b64encode(b'fake:token').decode()}"},
        ),
        (AuthShape(env="X", scheme="Basic"), "coded", {"authorization": "Basic coded"}),
    ],
)
def test_secret_is_required_where_the_file_says(auth, token, headers, tmp_path):
    service = attrs.evolve(SERVICE, auth=auth, headers={"x-tenant": "t"})
    fake = like(tmp_path, service, {CAMPAIGNS: LISTING}, token=token)
    assert len(items_of(fake, CAMPAIGNS)) == 7
    assert sent(fake, headers=headers).status == 200
    others = {"authorization": "Bearer other", "x-key": "other"}
    assert sent(fake, headers=others).status == (401 if headers else 200)


def test_code_that_reads_the_file_reaches_the_fake(tmp_path, monkeypatch):
    monkeypatch.setenv("X", "of-production")
    conventions = Conventions(cursor_parameter="after", read_parameters="body")
    service = attrs.evolve(SERVICE, auth=AuthShape(env="X", scheme="Key"), conventions=conventions)
    listing = attrs.evolve(LISTING, next=Next(form="string"))
    fake = like(tmp_path, service, {CAMPAIGNS: listing})
    makers = (AdClient, AdClient.from_service, lambda: fake.client())
    with fake.as_environment():
        for make in (*makers, lambda: AdClient.from_service(tmp_path / "service.toml")):
            campaigns = make().beta.list_campaigns(account_id="account_7")
            assert len(campaigns.collect()) == 7
    assert len(fake.requests) == 12
    assert {request.path for request in fake.requests} == {"/api" + PATHS[CAMPAIGNS].path}
    monkeypatch.delenv("X")
    assert len(items_of(fake, CAMPAIGNS)) == 7, "its own clients need no environment"
    with like(tmp_path, SERVICE, {CAMPAIGNS: LISTING}).as_environment(), AdClient() as client:
        assert client.beta.list_campaigns(account_id="account_7").data


def test_block_of_a_fake_like_a_service_sets_the_token_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("ADCLIENT_TOKEN", "of-production")
    for auth in (AuthShape(env="X"), AuthShape(file="key")):
        with like(tmp_path, attrs.evolve(SERVICE, auth=auth)).as_environment():
            assert os.environ["ADCLIENT_TOKEN"] == "fake-token"
    with like(tmp_path).as_environment():
        assert os.environ["ADCLIENT_TOKEN"] == ""


# Accounts and drafts.


def test_listing_that_was_not_read_is_empty(tmp_path):
    service = attrs.evolve(SERVICE, accounts=("account_1", "account_7"))
    fake = like(tmp_path, service, {ADS: attrs.evolve(LISTING, account_id="account_1")})
    sizes = {read: len(items_of(fake, read, "account_1")) for read in READS}
    assert sizes == {**dict.fromkeys(READS, 0), ADS: 7}
    assert {read for read in READS if items_of(fake, read)} == set()


def test_drafts_change_the_items(tmp_path):
    listing = attrs.evolve(LISTING, item={**ITEM, "daily_budget": BUDGET})
    fake = like(tmp_path, listings={CAMPAIGNS: listing, ADS: LISTING})
    client, before = fake.client(), items_of(fake, CAMPAIGNS)
    campaign = {"account_id": "account_7", "campaign_id": before[0]["id"]}
    budget = client.alpha.update_campaign_budget(**campaign, daily_budget=123.5)
    assert (budget.diff.before, budget.diff.after) == (before[0]["daily_budget"], 123.5)
    pause = client.beta.pause_campaign(**campaign)
    assert (pause.diff.before, pause.diff.after) == ("ENABLED", "PAUSED")
    assert items_of(fake, CAMPAIGNS) == before
    for draft in (budget, pause):
        approve(fake, draft)
    changed = {**before[0], "daily_budget": 123.5, "status": "PAUSED"}
    assert items_of(fake, CAMPAIGNS) == [changed, *before[1:]]


def test_everything_follows_from_the_seed(tmp_path):
    listings = {CAMPAIGNS: attrs.evolve(LISTING, item={**ITEM, "cost": BUDGET})}
    first, again, other = (
        items_of(like(tmp_path, listings=listings, seed=seed), CAMPAIGNS) for seed in "aab"
    )
    assert first == again
    assert first != other


def test_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match=r"service\.toml"):
        FakeAdService.like(tmp_path / "service.toml")


# Items.


def rows(shape, count=12, **arguments):
    return [row["field"] for row in rows_of({"field": shape}, count, **arguments)]


def test_items_are_as_those_of_the_service(tmp_path):
    """What is seen of the fake is what was seen of the service."""
    seen = [
        {
            "id": f"c-{n:06}",
            "name": f"Campaign of autumn {n}",
            "status": ["ENABLED", "PAUSED"][n % 2],
            "cost_micros": 10**6 * n,
            "rate": round(0.125 * n, 3),
            "starts": f"2025-03-{n + 1:02}",
            "seen_at": "2025-03-01T10:00:00.000Z",
            "link": f"https://ads.example.com/campaigns/{n}",
            "key": f"1b4e28ba-2fa1-41d2-883f-0016d3cca4{n:02}",
            "number": f"{n:04}",
            "end": None if n % 3 else "never",
            "labels": [{"text": "x" * n, "is_on": n % 2 == 0}] * (n % 3),
            "budget": {"amount": n, "currency": "EUR"},
        }
        | ({"parent_id": f"c-{n - 1:06}"} if n else {})
        for n in range(20)
    ]
    ids = {CAMPAIGNS: [row["id"] for row in seen]}
    shapes = shapes_of(seen, keep_texts=False, ids=ids)
    listing = attrs.evolve(LISTING, count=20, page_size=None, item=shapes)
    made = items_of(like(tmp_path, listings={CAMPAIGNS: listing}), CAMPAIGNS)
    ids = {CAMPAIGNS: [row["id"] for row in made]}
    found = shapes_of(made, keep_texts=False, ids=ids)
    assert list(found) == list(shapes)
    assert shapes["parent_id"].reference == CAMPAIGNS
    loose = {"id", "status", "link"}  # whose lengths are their own
    assert {k: v for k, v in found.items() if k not in loose} == {
        k: v for k, v in shapes.items() if k not in loose
    }
    assert {row["status"] for row in made} == {"ENABLED", "STATUS_2"}
    assert all(re.fullmatch("cam_[0-9a-f]{4}", row["id"]) for row in made)
    assert not {row["name"] for row in seen} & {row["name"] for row in made}


def test_kept_texts_are_used(tmp_path):
    kept = Shape(types=("string",), distinct=2, values=("Spring", "Herbst"))
    own = Shape(types=("string",), values=("c1", "c2"), min_length=2, max_length=2)
    listing = attrs.evolve(LISTING, item={"id": own, "name": kept})
    made = items_of(like(tmp_path, listings={CAMPAIGNS: listing}), CAMPAIGNS)
    assert {row["name"] for row in made} == {"Spring", "Herbst"}
    ids = [row["id"] for row in made]
    assert ids[:2] == ["c1", "c2"]
    assert len(set(ids)) == 7


@each_case(
    ("shape", "pattern"),
    [
        (Shape(), "campaign_[0-9a-f]{4}"),
        (Shape(min_length=20, max_length=24), "campaign_[0-9a-f]{11}"),
        (Shape(min_length=10, max_length=12), "campaig_[0-9a-f]{4}"),
        (Shape(min_length=1, max_length=1), "[0-9a-f]{1,2}"),
        (Shape(format="digits", min_length=4, values=("1001",)), "10[0-9]{2}"),
        (Shape(format="digits", min_length=6, max_length=6), "[0-9]{6}"),
        (Shape(format="uuid"), "[0-9a-f-]{36}"),
    ],
)
def test_ids_are_different_and_as_long_as_those_of_the_service(shape, pattern, tmp_path):
    shape = attrs.evolve(shape, types=("string",))
    listing = attrs.evolve(LISTING, count=60, page_size=60, item={**ITEM, "id": shape})
    made = items_of(like(tmp_path, listings={CAMPAIGNS: listing}), CAMPAIGNS)
    assert len({row["id"] for row in made}) == 60
    for row in made:
        assert re.fullmatch(pattern, row["id"])


NAMES = st.text(st.characters(categories=["L"], codec="ascii"), min_size=1, max_size=5)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-99, 10**20)
    | st.floats(-1e9, 1e9).map(lambda number: round(number, 20))
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(NAMES, VALUES, max_size=4), min_size=1, max_size=5))
def test_objects_of_any_shape_have_the_fields_and_types_of_the_shape(seen):
    shapes = shapes_of(seen, keep_texts=False, ids={})
    made = rows_of(shapes, 200, "s")
    found = shapes_of(made, keep_texts=False, ids={})
    assert found.keys() == shapes.keys()
    for name, shape in shapes.items():
        assert (found[name].types, found[name].is_optional) == (shape.types, shape.is_optional)
        assert found[name].minimum == shape.minimum
        assert found[name].maximum == shape.maximum
        inner = found[name].properties.keys()
        # Objects without a common field look like those whose keys are data.
        is_data = not inner and all(each.is_optional for each in shape.properties.values())
        assert inner == shape.properties.keys() or is_data


def any_shape(inner):
    sizes = st.none() | st.integers(0, 5)
    return st.builds(
        Shape,
        types=st.lists(st.sampled_from(list(BY_TYPE)), max_size=3, unique=True).map(tuple),
        is_optional=st.booleans(),
        minimum=st.none() | st.integers(-9, 1) | st.decimals(-9, 1, places=1),
        maximum=st.none() | st.integers(1, 9) | st.decimals(1, 9, places=1),
        decimals=sizes,
        min_length=st.none() | st.integers(0, 2),
        max_length=st.none() | st.integers(2, 5),
        format=st.sampled_from([None, "date", "date-time", "uri", "uuid", "digits"]),
        distinct=sizes,
        values=st.lists(st.text(max_size=3), max_size=3).map(tuple),
        reference=st.sampled_from([None, CAMPAIGNS, ADS]),
        items=st.none() | inner,
        properties=st.dictionaries(NAMES, inner, max_size=2),
    )


BY_TYPE = {
    "boolean": bool,
    "integer": int,
    "number": float,
    "string": str,
    "array": list,
    "object": dict,
    "null": type(None),
}


@settings(max_examples=200)
@given(st.recursive(st.builds(Shape), any_shape, max_leaves=4), st.integers(0, 9))
def test_shape_that_a_person_wrote_has_values_too(shape, count):
    made = rows(shape, count, seed="s", ids={CAMPAIGNS: ["c1"]}) if not shape.is_optional else []
    jsontext.dumps(made, "rows")
    expected = {BY_TYPE[kind] for kind in shape.types} or {type(None)}
    assert {type(value) for value in made} <= expected
