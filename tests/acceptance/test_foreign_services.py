"""Each foreign service does what its row of the tables says, as plain requests of httpx show."""

import json
import re
import ssl
from collections.abc import Iterator

import attrs
import httpx
import pytest
from foreign_requests import MISSING, PATHS, TABLE, PlainClient, plain_client
from foreign_services import NAMES, READS


@pytest.fixture(scope="module", params=NAMES)
def plain(request: pytest.FixtureRequest) -> Iterator[PlainClient]:
    with plain_client(request.param) as plain:
        yield plain


def _check_listings(plain: PlainClient, where: str | None = None) -> None:
    """Each listing has the ids that are known, more than one of them has pages, and ends right."""
    sizes = set()
    for read in READS:
        pages = list(plain.pages(read, where))
        items = [item for page in pages for item in page["data"]]
        assert [item["id"] for item in items] == plain.service.items[read], read
        assert all(isinstance(item[name], str) for item in items for name in ("name", "status"))
        assert set(items[0]) > {"id", "name", "status"}
        if len(pages) > 1:
            sizes.add(len(pages[0]["data"]))
        end = False if plain.changed and plain.service.name == "node" else plain.row.end
        assert repr(pages[-1]["page"].get("next", MISSING)) == repr(end)  # False is not null
    assert len(sizes) >= 3


def test_listing_read_to_its_end_has_all_ids(plain) -> None:
    for where in plain.row.parameters:
        _check_listings(plain, where)


def test_parameters_elsewhere_than_documented_are_not_seen(plain) -> None:
    for where in {"query", "body"} - set(plain.row.parameters):
        response = plain.read("alpha.explain_objectives", where)
        assert response.status_code in (400, 422)


def test_optional_parameters_of_reads_filter(plain) -> None:
    campaigns, fatigue = READS[0], READS[2]
    wanted = plain.service.items[campaigns][-1]
    last = plain.read(campaigns, campaign_id=wanted, date_range="LAST_30_DAYS").json()
    assert [item["id"] for item in last["data"]] == [wanted]
    assert plain.read("gamma.list_ads", date_range="LAST_30_DAYS").status_code == 200
    items = plain.read(fatigue).json()["data"]
    creative = items[3].get("creative_id", items[3]["id"])
    [one] = plain.read(fatigue, creative_id=creative).json()["data"]
    assert one == items[3]
    options = [item for page in plain.pages("gamma.search_targeting") for item in page["data"]]
    kind = next((name for name in ("type", "kind") if name in options[0]), "name")
    spec = {kind: options[0][kind]}
    found = list(plain.pages("gamma.search_targeting", targeting=spec))
    expected = [item for item in options if item[kind] == spec[kind]]
    assert [item for page in found for item in page["data"]] == expected
    assert len(expected) < len(options)


def test_unknown_account_is_answered_as_the_table_says(plain) -> None:
    response = plain.read("gamma.list_ads", account_id="nobody")
    assert (response.status_code, _type(response)) == plain.row.unknown_account
    if response.is_success:
        assert response.json() == {"data": [], "page": {"next": False}}
    if len(set(plain.service.accounts.values())) == 4:
        response = plain.read("gamma.list_ads", account_id=plain.service.accounts["beta"])
        assert response.status_code == plain.row.unknown_account[0]


def _type(response: httpx.Response) -> str:
    return response.headers["Content-Type"].partition(";")[0]


def test_unknown_name_is_refused_or_ignored(plain) -> None:
    first = plain.read("gamma.list_ads").json()
    response = plain.read("gamma.list_ads", where_to_start="x")
    assert response.status_code == plain.row.unknown_name
    if response.is_success:
        assert response.json()["data"] == first["data"]


def test_credentials_are_required_where_there_are_some(plain) -> None:
    running = plain.service
    bare = attrs.evolve(running, token=None, headers={})
    context = ssl.create_default_context(cafile=running.ca) if running.ca else True
    with httpx.Client(headers=bare.all_headers, verify=context) as client:
        status = PlainClient(bare, client).read("alpha.explain_objectives").status_code
        assert status == (200 if running.token is None else 401)
        if running.headers:
            client.headers[running.header] = f"{running.scheme} {running.token}"
            status = PlainClient(bare, client).read("alpha.explain_objectives").status_code
            assert status == 400


def test_responses_have_the_request_id_of_the_table(plain) -> None:
    names = {row.request_id for row in TABLE.values()} - {None}
    refused = plain.read("gamma.list_ads", account_id="nobody")
    for response in (plain.read("gamma.list_ads"), refused):
        there = {name for name in names if name in response.headers}
        assert {name.lower() for name in there} == {(plain.row.request_id or "").lower()} - {""}


FIELDS = {"fields": {"name": "Größe 🎈", "nested": [1, {"a": None}]}}
WRITES = [
    ("alpha", "update-alpha-campaign-targeting", {"campaign_id": "x", "targeting": {"a": [1]}}),
    ("alpha", "update-alpha-campaign-budget", {"campaign_id": "x", "daily_budget": 120.5}),
    ("beta", "create-beta-video-campaign", FIELDS),
    ("alpha", "update-alpha-creative", {"creative_id": "x", **FIELDS}),
    ("gamma", "create-gamma-image-campaign", FIELDS),
    ("delta", "update-keyword", {"keywords": ["tent", "Zelt, groß"]}),
    ("gamma", "create-gamma-dco-ad", {"ad_id": "x", **FIELDS}),
    ("beta", "pause-beta-campaign", {"campaign_id": "x"}),
    ("delta", "remove-delta-auto-search-themes", {}),
]


def test_writes_stage_drafts_and_change_nothing(plain) -> None:
    before = list(plain.pages("beta.list_campaigns"))
    drafts = {}
    for platform, name, more in WRITES:
        body = {"account_id": plain.service.accounts[platform], **more}
        if name.startswith("pause"):
            body["campaign_id"] = before[0]["data"][0]["id"]
        method, path = "DELETE" if name.startswith("remove") else "POST", f"{platform}-ads/{name}"
        response = plain.send(method, path, json=body)
        assert response.status_code == 201, (name, response.text)
        draft = drafts[name] = response.json()
        assert set(draft) == {"draft_id", "status", "diff", "requires"}
        assert draft["status"] == "pending_approval"
        assert draft["requires"] == "human_two_step_approve"
        assert draft["draft_id"].startswith("draft_")
        assert set(draft["diff"]) == {"field", "before", "after"}
        refused = plain.send(method, path, json={**body, "account_id": "nobody"})
        assert refused.status_code in (plain.row.unknown_account[0], 404)
        assert plain.send(method, path, json={}).status_code in (400, 422)
        assert plain.send("PUT", path, json=body).status_code in (404, 405)
    assert len({draft["draft_id"] for draft in drafts.values()}) == len(WRITES)
    status = before[0]["data"][0]["status"]
    diff = {"field": "status", "before": status, "after": "PAUSED"}
    assert drafts["pause-beta-campaign"]["diff"] == diff
    assert drafts["update-alpha-campaign-budget"]["diff"]["after"] == 120.5
    assert "Zelt, groß" in json.dumps(drafts["update-keyword"], ensure_ascii=False)
    assert list(plain.pages("beta.list_campaigns")) == before


# Each name is in a response for the first page, or in the error for an unknown name.
@pytest.mark.parametrize(
    ("name", "revealed"),
    [
        ("flask", "use page_token"),
        ("django", "'https://ads.example.com/ads/api/v1/gamma-ads/list-gamma-ads?account_id="),
        ("fastapi", "'next': '/v1/gamma-ads/list-gamma-ads?account_id=gamma%2Fmain&after_token="),
        ("tornado", "&marker="),
        ("node", "'cursor': "),
        ("go", "use exclusiveStartKey"),
        ("ruby", "&page%5Bafter%5D="),
        ("php", "'page': 1"),
        ("perl", "'http://ads-internal:8080/v1/gamma-ads/list-gamma-ads?account_id=S%C3%B6hne"),
        ("java", "'before': None"),
    ],
)
def test_name_of_the_parameter_is_revealed(name, revealed) -> None:
    with plain_client(name) as plain:
        first = plain.read("gamma.list_ads")
        error = plain.read("gamma.list_ads", unknown="x").text
    assert revealed in f"{first.json()['page']} {first.headers.get('Link')} {error}"


def test_old_offset_of_java_works_and_skips_items() -> None:
    with plain_client("java") as plain:
        first = plain.read("gamma.list_ads").json()
        second = plain.read("gamma.list_ads", offset=first["page"]["next"]).json()
        ids = [item["id"] for page in (first, second) for item in page["data"]]
    assert second["page"]["next"] is None
    assert len(second["data"]) == 18
    assert len(set(ids)) == 37 < len(plain.service.items["gamma.list_ads"])


def test_limit_of_node_makes_pages_shorter_but_not_longer() -> None:
    with plain_client("node") as plain:
        for limit, length in ((7, 7), (500, 16)):
            pages = list(plain.pages("gamma.list_ads", limit=limit))
            assert {len(page["data"]) for page in pages[:-1]} == {length}
            ids = [item["id"] for page in pages for item in page["data"]]
            assert ids == plain.service.items["gamma.list_ads"]


def test_go_limits_requests_and_writes_decimals_with_two_places() -> None:
    with plain_client("go") as plain:
        url = f"{plain.service.url}/v1/{PATHS['alpha.explain_objectives']}"
        query = {"account_id": plain.service.accounts["alpha"]}
        responses = [plain.client.get(url, params=query) for _ in range(10)]
    assert [response.status_code for response in responses] == [200] * 8 + [429, 200]
    assert responses[8].headers["Retry-After"] == "1"
    assert '"cost":1.10' in responses[0].text


def test_perl_refuses_its_first_request_and_closes_connections() -> None:
    with plain_client("perl") as plain:
        url = f"{plain.service.url}/v1/{PATHS['alpha.explain_objectives']}"
        query = {"account_id": plain.service.accounts["alpha"]}
        responses = [plain.client.get(url, params=query) for _ in range(3)]
    assert [response.status_code for response in responses] == [503, 200, 200]
    assert responses[0].text.startswith("<?xml")
    assert {response.http_version for response in responses} == {"HTTP/1.0"}


def test_encodings_of_bodies() -> None:
    with plain_client("node") as node, plain_client("ruby") as ruby:
        assert node.read("gamma.list_ads").headers["Content-Encoding"] == "gzip"
        assert ruby.read("gamma.list_ads").headers["Transfer-Encoding"] == "chunked"


def test_tornado_is_trusted_only_with_its_ca() -> None:
    with (
        plain_client("tornado") as plain,
        pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY"),
    ):
        httpx.get(plain.service.url)


def _transcript(plain: PlainClient) -> dict[str, list]:
    """Comparable responses of the unchanged protocol, by what was asked."""

    def comparable(response: httpx.Response) -> tuple[int, str | None, object]:
        text = response.text.replace(plain.service.url, "")
        is_json = "json" in response.headers["Content-Type"]
        link = response.headers.get("Link", "").replace(plain.service.url, "")
        return response.status_code, link, json.loads(text) if is_json else text

    firsts = [plain.read(read) for read in READS]
    seconds = []
    for read, first in zip(READS, firsts, strict=True):
        if following := first.json()["page"].get("next"):
            seconds.append(plain.read(read, **TABLE[plain.service.name].following(read, following)))
    return {
        "first pages": [comparable(response) for response in firsts],
        "second pages": [comparable(response) for response in seconds],
        "unknown account": [comparable(plain.read("gamma.list_ads", account_id="nobody"))],
        "unknown name": [comparable(plain.read("gamma.list_ads", where_to_start="x"))],
        "no such path": [comparable(plain.send("GET", "nothing/here"))],
    }


PAGES = {"first pages", "second pages"}


# What differs, and a pattern of that in the first pages.
@pytest.mark.parametrize(
    ("name", "differing", "pattern"),
    [
        ("flask", {"second pages", "unknown name"}, None),
        ("django", PAGES, r'"budget": "?[\d.]+"?'),
        ("fastapi", {"unknown account", "unknown name", "no such path"}, None),
        ("tornado", PAGES | {"unknown name"}, r', "impressions": \d+'),
        ("node", PAGES, '"next": false'),
        ("go", {"unknown account", "unknown name", "no such path"}, None),
        ("ruby", PAGES | {"unknown name"}, "%5B(after|cursor)%5D"),
        ("php", {"unknown account"}, None),
        ("perl", PAGES | {"unknown name"}, "http://ads-internal:8080"),
        ("java", PAGES | {"unknown name"}, r'"next": "?\d+"?'),
    ],
)
def test_changed_version_differs_in_one_thing(name, differing, pattern) -> None:
    with plain_client(name) as plain, plain_client(name, changed=True) as changed:
        before, after = _transcript(plain), _transcript(changed)
        _check_listings(changed)
    assert {what for what in before if before[what] != after[what]} == differing
    if pattern is not None:
        pages = [json.dumps(each["first pages"]) for each in (before, after)]
        assert re.sub(pattern, "", pages[0]) == re.sub(pattern, "", pages[1])
