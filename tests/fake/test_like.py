"""A fake like a service that a file describes."""

import base64
import json
import os
import re
from operator import attrgetter
from urllib.parse import urlencode

import attrs
import pytest
from cases import each_case
from fake_helpers import PATHS

from adclient import AdClient, APIError, Conventions, Request
from adclient._core.operations import READS
from adclient._service.file import text_of
from adclient._service.model import AuthShape, ErrorShape, Listing, Next, Service
from adclient.conventions import query_of_url
from adclient.testing import FakeAdService

CAMPAIGNS, ADS, FATIGUE = "beta.list_campaigns", "gamma.list_ads", "beta.detect_creative_fatigue"
ROWS = tuple({"id": f"c_0{n}", "name": f"Name {n}", "status": "ENABLED"} for n in (1, 2))
LISTING = Listing(account_id="account_7", count=7, is_complete=True, page_size=3, rows=ROWS)
SERVICE = Service(url="https://ads.example.com/api", accounts=("account_7",))


def like(tmp_path, listings=None, *, arguments=None, **changes):
    """A fake like a service that differs from SERVICE; one listing is that of campaigns."""
    if isinstance(listings, Listing):
        listings = {CAMPAIGNS: listings}
    service = attrs.evolve(SERVICE, listings=listings or {}, **changes)
    path = tmp_path / "service.toml"
    path.write_text(text_of(service), "utf-8")
    return FakeAdService.like(path, **arguments or {})


def listing(**changes):
    return attrs.evolve(LISTING, **changes)


def pages_of(fake, read=CAMPAIGNS, account_id="account_7"):
    """All pages of a read, as a client of the fake gets them."""
    return list(attrgetter(read)(fake.client())(account_id=account_id).pages())


def items_of(fake, read=CAMPAIGNS, account_id="account_7"):
    return [item.to_dict() for page in pages_of(fake, read, account_id) for item in page.data]


def sent(fake, read=CAMPAIGNS, headers=None, **query):
    """The response to a read with these parameters."""
    pairs = urlencode({"account_id": "account_7", **query})
    url = f"{fake.base_url}{PATHS[read].path}?{pairs}"
    return fake.handle(Request(method="GET", url=url, headers=headers or {}))


# How listings continue.

URL = ("account_id", "after", "limit")
OBJECT = ("page", "size", "seen")
RELATIVE = {"form": "object", "host": "relative", "key": "href", "parameters": ("offset",)}
LIKE_OBJECT = r'\{"page": [23], "size": 3, "seen": "\w+"\}'
LIKE_URL = r'"https://fake\..*/api/v1/\S+\?account_id=account_7&after=\w+&limit=3"'
FOREIGN = r'"http://ads.internal:8080/api/v1/\S+after=\w+&limit=3"'
# What a file contains, the settings that follow from it, and the text that each `next` is like.
FORMS = [
    ({"form": "string"}, {"cursor_parameter": "page[after]"}, r'"\w+"'),
    ({"form": "number"}, {"cursor_parameter": "pageNumber"}, "[23]"),
    ({"form": "number"}, {"cursor_parameter": "last_id"}, r"\d{6,}"),
    ({"form": "object", "parameters": OBJECT}, {"continuation": dict}, LIKE_OBJECT),
    ({"form": "URL", "host": "same", "parameters": URL}, {}, LIKE_URL),
    (
        {"form": "URL", "host": "other", "parameters": URL},
        {"continuation": query_of_url},
        FOREIGN,
    ),
    (RELATIVE, {"continuation": query_of_url}, r'\{"href": "/api/v1/\S+\?offset=[36]"\}'),
]
ENDS = {"null": {"next": None}, "missing": {}, "empty": {"next": ""}, "false": {"next": False}}


@each_case(("number", "form"), *enumerate(FORMS))
@each_case("place", "query", "body")
def test_client_of_the_file_reads_every_listing_to_its_end(number, form, place, tmp_path):
    following, own, pattern = form
    end = list(ENDS)[number % 4]
    conventions = Conventions(read_parameters=place, end_of_listing=end, **own)
    described = listing(next=Next(**following))
    fake = like(tmp_path, dict.fromkeys(READS, described), conventions=conventions)
    for read in (CAMPAIGNS, ADS, FATIGUE):
        pages = pages_of(fake, read)
        assert [len(page.data) for page in pages] == [3, 3, 1]
        assert len({item.id for page in pages for item in page.data}) == 7
        for page in pages[:-1]:
            assert re.fullmatch(pattern, json.dumps(page.next))
        assert pages[-1].next is None
    # Nothing else is taken for a continuation, so that a doctor finds the same settings.
    names = {name for request in fake.requests for name in (*request.query, *(request.json or ()))}
    for name in {"cursor", "page", "key", "after", "last_id"} - names:
        assert sent(fake, **{name: "1"}).status == (422 if place == "query" else 400)


def test_totals_beside_the_items_are_true_and_the_rest_is_like_the_file(tmp_path):
    first = {"total_count": 1, "total_pages": 1, "itemsTotal": 1, "account_number": 1}
    first |= {"has_more": True, "hasNextPage": True, "is_last": True, "discount": 1}
    first |= {"next_step_done": True, "server": "Server 1", "next_cursor": "Next cursor 1"}
    last = {**first, "next_cursor": None}
    pages = tuple({"page": page, "meta": {"total": "1", "v": 1}} for page in (first, last))
    fake = like(tmp_path, listing(next=Next(form="string"), pages=pages))
    begin, *_, end = (page.to_dict() for page in pages_of(fake))
    assert begin["meta"] == end["meta"] == {"total": "7", "v": 1}
    true = {"total_count": 7, "total_pages": 3, "itemsTotal": 7, "is_last": False}
    assert begin["page"] == {**first, **true, "next": begin["page"]["next"]}
    is_last = {"has_more": False, "hasNextPage": False, "is_last": True}
    assert end["page"] == {**last, **true, **is_last, "next": None}


# Errors and credentials.


def test_errors_are_like_those_of_the_file(tmp_path):
    errors = ErrorShape(
        content_type="application/vnd.api+json",
        body='{"errors": [{"title": "{message}", "code": "{code}", "see": "{this}"}]}',
        statuses={"unknown_account": 403, "unknown_parameter": 400},
    )
    fake = like(tmp_path, errors=errors)
    reply, text = sent(fake, account_id='"x"'), "no account '\"x\"' is connected"
    assert (reply.status, reply.headers["content-type"]) == (403, "application/vnd.api+json")
    error = {"title": text, "code": "account_not_found", "see": "{this}"}
    assert json.loads(reply.body) == {"errors": [error]}
    assert sent(fake, odd="1").status == 400
    with pytest.raises(APIError) as caught:
        fake.client().beta.pause_campaign(account_id="account_7", campaign_id="other")
    assert (caught.value.status, caught.value.code) == (404, "campaign_not_found")
    fake = like(tmp_path, errors=attrs.evolve(errors, body='["{message}"]'))
    assert json.loads(sent(fake, account_id='"x"').body) == [text]


@each_case("body", '{"error": "{message}"}', "")
def test_unknown_account_has_an_empty_page_where_the_file_says(body, tmp_path):
    errors = ErrorShape(body=body, statuses={"unknown_account": 200})
    conventions = Conventions(end_of_listing="missing")
    pages = ({"page": {"total": 30, "has_more": True}},)
    described = listing(next=Next(form="number"), pages=pages)
    listings = {CAMPAIGNS: described, ADS: listing(account_id="account_1")}
    fake = like(tmp_path, listings, errors=errors, conventions=conventions)
    assert (len(items_of(fake)), items_of(fake, ADS)) == (7, [])
    reply = sent(fake, account_id="account_8")
    empty = {"data": [], "page": {"total": 0, "has_more": False}}
    assert (reply.status, json.loads(reply.body)) == (200, empty)
    assert items_of(fake, ADS, "account_8") == []
    with pytest.raises(APIError) as caught:
        fake.client().delta.remove_auto_search_themes(account_id="account_8")
    assert (caught.value.status, fake.drafts) == (404, ())


BASIC = f"Basic {base64.b64encode(b'fake:token').decode()}"


@each_case(
    ("auth", "token", "headers"),
    (None, "s", {"authorization": "Bearer s"}),
    (AuthShape(env="X"), None, {"authorization": "Bearer fake-token"}),
    (AuthShape(env="X", scheme="", header="X-Key"), None, {"x-key": "fake-token"}),
    (AuthShape(file="key", scheme="Basic"), None, {"authorization": BASIC}),
    (AuthShape(env="X", scheme="Basic"), "coded", {"authorization": "Basic coded"}),
    (AuthShape(headers={"x-key": "X"}), None, {}),
)
def test_secret_is_required_where_the_file_says(auth, token, headers, tmp_path):
    changes = {"auth": auth, "headers": {"x-tenant": "t"}}
    fake = like(tmp_path, LISTING, **changes, arguments={"token": token})
    assert len(items_of(fake)) == 7
    assert sent(fake, headers=headers).status == 200
    others = {"authorization": "Bearer other", "x-key": "other"}
    assert sent(fake, headers=others).status == (401 if headers else 200)


def test_code_that_reads_the_file_reaches_the_fake(tmp_path, monkeypatch):
    monkeypatch.setenv("X", "of-production")
    conventions = Conventions(cursor_parameter="after", read_parameters="body")
    described = listing(next=Next(form="string"))
    auth = AuthShape(env="X", scheme="Key")
    fake = like(tmp_path, described, auth=auth, conventions=conventions)
    makers = (AdClient, AdClient.from_service, lambda: fake.client())
    with fake.as_environment():
        for make in (*makers, lambda: AdClient.from_service(tmp_path / "service.toml")):
            campaigns = make().beta.list_campaigns(account_id="account_7")
            assert len(campaigns.collect()) == 7
    assert len(fake.requests) == 12
    assert {request.path for request in fake.requests} == {"/api" + PATHS[CAMPAIGNS].path}
    monkeypatch.delenv("X")
    assert len(items_of(fake)) == 7, "its own clients need no environment"
    monkeypatch.setenv("ADCLIENT_TOKEN", "of-production")
    for auth, token in ((AuthShape(env="X"), "fake-token"), (None, "")):
        with like(tmp_path, auth=auth).as_environment():
            assert os.environ["ADCLIENT_TOKEN"] == token


# Items.


def test_rows_are_repeated_with_ids_of_their_own(tmp_path):
    # In the rows of an entity each id is another one; elsewhere ids may be repeated, as by day.
    daily = ({"id": "7", "day": 1}, {"id": "7", "day": 2}, {"id": 9}, {"day": 3})
    objects = ({"id": 10, "n": {"a": [None]}}, {"id": "10"}, {"id": "10"}, {"n": 1}, {"id": ""})
    listings = {CAMPAIGNS: listing(count=5), FATIGUE: listing(rows=daily, count=8)}
    listings[ADS] = listing(rows=objects, count=10)
    fake = like(tmp_path, listings)
    assert [row["id"] for row in items_of(fake)] == ["c_01", "c_02", "c_03", "c_04", "c_05"]
    assert [row["name"] for row in items_of(fake)] == ["Name 1", "Name 2"] * 2 + ["Name 1"]
    sent_rows = json.loads(sent(fake, FATIGUE).body)["data"]
    assert sent_rows[:3] == [*daily[:3]]
    ads = items_of(fake, ADS)
    assert len({ad["id"] for ad in ads}) == len(ads) == 10
    assert [ad.get("n") for ad in ads[::5]] == [{"a": [None]}] * 2


def test_large_listing_starts_at_once_and_an_unfinished_one_goes_on(tmp_path):
    large = listing(count=10**9, page_size=5000, next=Next(form="string"))
    unfinished = listing(is_complete=False, next=Next(form="string"))
    empty = listing(rows=(), count=3)
    fake = like(tmp_path, {CAMPAIGNS: large, ADS: unfinished, FATIGUE: empty})
    assert [len(page.data) for page in pages_of(fake)] == [5000, 5000]
    assert [len(items_of(fake, read)) for read in (ADS, FATIGUE)] == [10, 0]
