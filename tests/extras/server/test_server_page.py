"""The fake as a server: its approval page in a browser without scripts, and clients of it."""

import html
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from functools import partial
from operator import attrgetter

import httpx
import pytest
from cases import each_case
from clients import SYNC
from fake_helpers import ACCOUNTS, VALID_WRITES, stage
from interface_table import ROWS
from starlette.testclient import TestClient
from waiting import until

from adclient import AdClient, APIError, CallTimeout, ConnectionLost, OutcomeUnknown
from adclient._core.operations import OPERATIONS
from adclient._core.response import Failure, RawResponse
from adclient.testing import FakeAdService, FakeDraft, Fault, Profile
from adclient.testing.server import create_app, serving


@pytest.fixture
def fake() -> FakeAdService:
    return FakeAdService()


def browser_of(fake: FakeAdService, url: str = "http://localhost", **options) -> TestClient:
    """A browser, which says where its requests come from."""
    return TestClient(create_app(fake, **options), url, headers={"origin": url})


@pytest.fixture
def browser(fake: FakeAdService) -> TestClient:
    return browser_of(fake)


def pause(fake: FakeAdService) -> str:
    return stage(fake, "beta.pause_campaign", campaign_id="campaign_57a7").draft_id


def set_budget(fake: FakeAdService, amount: int) -> FakeDraft:
    stage(fake, "alpha.update_campaign_budget", campaign_id="campaign_4c10", daily_budget=amount)
    return fake.drafts[-1]


def create(fake: FakeAdService, **fields) -> str:
    return stage(fake, "beta.create_video_campaign", fields={"name": "n", **fields}).draft_id


def step(browser: TestClient, draft_id: str, name: str, reviewer: str = "Ines", path="", **how):
    """Press a button of a draft, in the list or on the page with that path below it."""
    form = {name: draft_id, "reviewer": reviewer}
    return browser.post(f"/approval{path}", data=form, **how)


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def shown(browser: TestClient, path: str = "") -> str:
    return text_of(browser.get(f"/approval{path}").text)


def test_draft_is_shown_with_its_change_and_in_the_trail(fake, browser) -> None:
    assert "No drafts are waiting." in shown(browser)
    draft = set_budget(fake, 120)
    fake.clock.advance(timedelta(hours=1, minutes=5))
    text, target = shown(browser), "DG · Finance leaders · Lead form (campaign_4c10)"
    for expected in (
        "1 draft is waiting.",
        f"Update campaign budget alpha Corvane — Demand Gen (account_a91f, USD) › {target}",
        "daily_budget from 100 to 120 +20 (+20 %) daily_budget is in USD",
        f"{draft.draft_id} · staged 1 h 5 min ago · expires in 46 h 55 min",
        f"2 March 2026, 09:00 UTC client staged Update campaign budget · {target} {draft.draft_id}",
    ):
        assert expected in text


@each_case("is_alone", False, True)
def test_steps_are_made_on_the_list_and_on_the_page_of_a_draft(is_alone) -> None:
    browser = browser_of(fake := FakeAdService())
    draft_id, other, third = (pause(fake) for _ in range(3))
    path = f"/drafts/{draft_id}" * is_alone
    assert f"{third} is rejected." in text_of(step(browser, third, "reject").text)
    fourth = pause(fake)
    fake.dashboard.reject(fourth, reviewer="Ines", reason="<Too> early")
    assert "It is rejected (<Too> early)." in shown(browser, f"/drafts/{fourth}")
    armed = step(browser, draft_id, "arm", path=path)
    assert str(armed.url).endswith(f"/approval{path}?reviewer=Ines&draft={draft_id}")
    assert f"{draft_id} is armed: confirm it within" in text_of(armed.text)
    assert "Armed by Ines." in text_of(armed.text)
    assert (f'id="{other}"' in armed.text) is not is_alone
    disarmed = text_of(step(browser, draft_id, "disarm", "Tove", path).text)
    assert f"{draft_id} waits for approval." in disarmed
    assert "Tove disarmed" in disarmed
    refused = step(browser, draft_id, "confirm", path=path)
    assert (refused.status_code, other in refused.text) == (409, not is_alone)
    step(browser, draft_id, "arm", path=path)
    applied = step(browser, draft_id, "confirm", "Tove", path).text
    assert f"{draft_id} is applied." in text_of(applied)
    assert ("<form" in applied) is not is_alone
    mine = [(e.kind, e.actor) for e in fake.dashboard.events if e.draft_id == draft_id]
    assert mine[-3:] == [("armed", "Ines"), ("approved", "Tove"), ("applied", "service")]


def test_unknown_names_steps_and_drafts_are_refused(fake, browser) -> None:
    draft_id = pause(fake)
    assert step(browser, draft_id, "arm", "").status_code == 409
    assert step(browser, draft_id, "__init__").status_code == 400
    unknown = step(browser, "draft_zzzz", "arm")
    assert unknown.status_code == 409
    assert "there is no draft draft_zzzz" in text_of(unknown.text)
    assert "draft_zzzz" not in browser.get("/approval?draft=draft_zzzz").text
    assert browser.get("/approval/drafts/draft_zzzz").status_code == 404


def test_another_site_cannot_make_a_step(fake, browser) -> None:
    draft_id, evil = pause(fake), "http://evil.example"
    for path in ("", f"/drafts/{draft_id}"):
        for headers in ({"origin": evil}, {"origin": "null"}, {"origin": ""}):
            for given in (headers, {**headers, "host": "evil.example"}):
                refused = step(browser, draft_id, "arm", path=path, headers=given)
                assert refused.status_code == 403
    assert fake.drafts[0].status == "pending_approval"


def test_page_is_refused_under_foreign_host_names(fake, browser) -> None:
    for host in ("127.0.0.1:8765", "127.1.2.3", "[::1]:8765", "localhost:1"):
        assert browser.get("/approval", headers={"host": host}).status_code == 200
    for path in ("", "/drafts/x", "/static/approval.js"):
        for host in ("evil.example", "192.168.0.7", ""):
            page = browser.get(f"/approval{path}", headers={"host": host})
            assert page.status_code == 403
    exposed = browser_of(fake, "http://demo.example", any_host=True)
    assert exposed.get("/approval").status_code == 200


def test_texts_cannot_imitate_the_page(fake, browser) -> None:
    markup = "<img src=x onerror=alert(1)>&amp;\"'"
    hidden = "a\u202eb\u200bc\U000e0041d\u3164e"
    escaped = "a\\u202eb\\u200bc\\U000e0041d\\u3164e"
    fake.change_live("account_b204", "campaign_57a7", name=hidden)
    draft_id = pause(fake)
    create(fake, **{markup: [markup], hidden: hidden, "rows": [{"name": hidden, "n": 1}]})
    pages = [
        browser.get("/approval").text,
        step(browser, draft_id, "arm", markup).text,
        step(browser, markup, "arm", markup).text,
        browser.get("/approval", params={"reviewer": markup, "draft": markup}).text,
    ]
    for page in pages:
        assert "<img" not in page
        assert html.unescape(page).replace("\n", "").replace("\xa0", "").isprintable()
    assert html.unescape(pages[0]).replace('\\"', '"').count(markup) == 2
    # The target, again in the trail; the key, its value, and the heading and value of a row.
    assert pages[0].count(escaped) == 6


@each_case("count", 48, 49, 200)
def test_change_is_approved_where_all_of_it_is_shown(count, fake, browser) -> None:
    fields = {f"label_{number}": f"<{'x' * 600}{number}>" for number in range(count)}
    draft_id = create(fake, **fields)  # has a name and a status as well
    page, is_whole = browser.get("/approval").text, count == 48
    left = f"{count - 48} more lines of this change are on the page of the draft"
    assert (f'id="{draft_id}-arm"' in page, left in text_of(page)) == (is_whole, not is_whole)
    assert f'id="{draft_id}-reject"' in page
    if not is_whole:
        (path,) = re.findall(rf'id="{draft_id}-whole" class="arm" href="([^"]*)"', page)
        page = browser.get(path).text
    assert f'id="{draft_id}-arm"' in page
    assert all(html.escape(value) in page for value in fields.values())


def test_page_states_before_the_click_who_may_confirm(browser) -> None:
    assert "One person may take both." in shown(browser)
    browser = browser_of(fake := FakeAdService(profile=Profile(two_reviewers=True)))
    draft_id = pause(fake)
    assert "whoever armed a draft is refused if they confirm it" in shown(browser)
    fake.dashboard.arm(draft_id, reviewer="Ines")
    for name, is_same in (("Tove", False), (" ines", True)):
        page = browser.get(f"/approval?reviewer={name}").text
        (confirm,) = re.findall(rf'<button id="{draft_id}-confirm"[^>]*>', page)
        assert ("disabled" in confirm) is is_same
        assert ("You armed it, so another person must confirm it." in text_of(page)) is is_same
    assert step(browser, draft_id, "confirm", "INES").status_code == 409


# Over real HTTP, as clients meet it.

BETA = {"account_id": "account_b204"}
PAUSE = {**BETA, "campaign_id": "campaign_57a7"}


@pytest.fixture
def url(fake) -> Iterator[str]:
    with serving(fake) as url:
        yield url


@pytest.fixture
def client(url: str) -> Iterator[AdClient]:
    with AdClient(url, max_retries=0) as client:
        yield client


def stage_over_http(client: AdClient) -> object:
    return client.beta.pause_campaign(**PAUSE)


def call(client: AdClient, name: str, **other) -> object:
    arguments = {"account_id": ACCOUNTS[name.partition(".")[0]], **VALID_WRITES.get(name, {})}
    return attrgetter(name)(client)(**{**arguments, **other})


def test_operations_work_over_http_as_in_process(client) -> None:
    plain = FakeAdService().client()
    for name in ("beta.list_campaigns", "gamma.search_targeting", "delta.update_keyword"):
        assert call(client, name).to_dict() == call(plain, name).to_dict()


def test_dropped_write_is_unknown_and_refused_request_is_not_recorded(fake, client) -> None:
    for taken in (False, True):
        fake.faults.add(Fault.dropped(taken=taken))
        with pytest.raises(OutcomeUnknown):
            stage_over_http(client)
        assert len(fake.drafts) == taken
    assert stage_over_http(client).status == "pending_approval"
    fake.faults.add(Fault.refused())
    with pytest.raises(ConnectionLost):
        client.beta.list_campaigns(**BETA)
    assert [request.status for request in fake.requests] == [None, None, 201]


def test_slow_body_or_missing_response_times_out(fake, client) -> None:
    for fault, status in ((Fault.slow_body(600), 200), (Fault.no_response(), None)):
        fake.faults.add(fault)
        with pytest.raises(CallTimeout) as caught:
            client.with_options(timeout=0.2).beta.list_campaigns(**BETA)
        assert caught.value.status == status


def test_server_stops_while_a_client_waits(fake) -> None:
    fake.faults.add(Fault.no_response())
    with serving(fake) as url:
        address = httpx.URL(url)
        waiting = socket.create_connection((address.host, address.port), timeout=20)
        waiting.sendall(b"GET /v1/x HTTP/1.1\r\nhost: localhost\r\n\r\n")
        SYNC.run(partial(until, lambda: fake.requests))
    with waiting:
        assert waiting.recv(1) == b""


def test_cut_body_breaks_the_connection(fake, client, monkeypatch) -> None:
    cut = RawResponse(status=200, body=b'{"data": [', broken=Failure(reason="cut", sent=True))
    monkeypatch.setattr(fake, "handle_untimed", lambda request: (cut, 0))
    with pytest.raises(ConnectionLost):
        client.beta.list_campaigns(**BETA)


def test_slow_response_takes_real_time(fake, client) -> None:
    for fault in (Fault.slow_body(0.2), Fault.slow(0.2)):
        fake.faults.add(fault)
        draft = stage_over_http(client)
        assert draft.draft_id == fake.drafts[-1].draft_id
        assert draft.response.elapsed > 0.1
    assert fake.clock.monotonic() == 0


def test_client_cannot_reach_the_approval_page(fake, url) -> None:
    with AdClient(f"{url}/approval", max_retries=0) as client:
        for operation in OPERATIONS:
            with suppress(APIError):
                call(client, operation.full_name, **BETA)
    assert {event.kind for event in fake.dashboard.events} <= {"staged"}


def test_body_beyond_the_limit_is_refused(fake, client) -> None:
    fields = {"blob": "x" * 1024 * 1024}
    with pytest.raises(APIError, match="at most 1048576 bytes"):
        client.gamma.create_dco_ad(account_id="account_c3d8", fields=fields)
    assert fake.drafts == ()


def test_document_describes_every_operation(fake) -> None:
    document = TestClient(create_app(fake), "http://localhost").get("/openapi.json").json()
    assert set(document["paths"]) == {row.path for row in ROWS}
    for row in ROWS:
        [(method, described)] = document["paths"][row.path].items()
        assert (method, described["operationId"]) == (row.method.lower(), row.call)
