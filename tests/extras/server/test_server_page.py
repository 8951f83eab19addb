"""The approval page, as a browser without scripts meets it."""

import html
import re
from datetime import timedelta

import pytest
from asgi_browser import Browser
from cases import each_case
from fake_helpers import approve, stage
from starlette.applications import Starlette
from starlette.routing import Mount

from adclient.testing import FakeAdService, FakeDraft, Profile
from adclient.testing.server import create_app


@pytest.fixture
def fake() -> FakeAdService:
    return FakeAdService()


@pytest.fixture
def browser(fake: FakeAdService) -> Browser:
    return Browser(create_app(fake))


def pause(fake: FakeAdService) -> str:
    return stage(fake, "beta.pause_campaign", campaign_id="campaign_57a7").draft_id


def set_budget(fake: FakeAdService, amount: int) -> FakeDraft:
    stage(fake, "alpha.update_campaign_budget", campaign_id="campaign_4c10", daily_budget=amount)
    return fake.drafts[-1]


def create(fake: FakeAdService, **fields) -> str:
    return stage(fake, "beta.create_video_campaign", fields={"name": "n", **fields}).draft_id


def step(browser: Browser, draft_id: str, name: str, reviewer: str = "Ines", path="", **how):
    """Press a button of a draft, in the list or on the page with that path below it."""
    form = {name: draft_id, "reviewer": reviewer}
    return browser.post(f"/approval{path}", data=form, **how)


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def shown(browser: Browser, path: str = "") -> str:
    return text_of(browser.get(f"/approval{path}").text)


def test_draft_is_shown_with_its_change_and_in_the_trail(fake, browser) -> None:
    assert "No drafts are waiting." in shown(browser)
    assert "Nothing has happened yet." in shown(browser)
    draft = set_budget(fake, 120)
    fake.clock.advance(timedelta(hours=1, minutes=5))
    text = shown(browser)
    target = "DG · Finance leaders · Lead form (campaign_4c10)"
    assert "1 draft is waiting." in text
    assert (
        f"Update campaign budget alpha Corvane — Demand Gen (account_a91f, USD) › {target}" in text
    )
    assert "daily_budget from 100 to 120 +20 (+20 %) daily_budget is in USD" in text
    assert f"{draft.draft_id} · staged 1 h 5 min ago · expires in 46 h 55 min" in text
    trail = f"client staged Update campaign budget · {target} {draft.draft_id}"
    assert f"2 March 2026, 09:00 UTC {trail}" in text
    stage(fake, "gamma.create_dco_ad", fields={"name": "Tents"})
    assert "Create DCO ad gamma" in shown(browser)
    assert "ad.name new: Tents" in shown(browser)


def test_age_of_a_draft_is_in_words(fake, browser) -> None:
    draft_id = pause(fake)
    for seconds, words in ((59, "less than a minute"), (1, "1 min"), (3540, "1 h 0 min")):
        fake.clock.advance(seconds)
        assert f"{draft_id} · staged {words} ago" in shown(browser)


@pytest.mark.parametrize("is_alone", [False, True])
def test_steps_are_made_on_the_list_and_on_the_page_of_a_draft(is_alone, fake, browser) -> None:
    draft_id, other, third = (pause(fake) for _ in range(3))
    assert f"{third} is rejected." in text_of(step(browser, third, "reject").text)
    path = f"/drafts/{draft_id}" * is_alone
    armed = step(browser, draft_id, "arm", path=path)
    assert str(armed.url).endswith(f"/approval{path}?reviewer=Ines&draft={draft_id}")
    assert f"{draft_id} is armed: confirm it within" in text_of(armed.text)
    assert "Armed by Ines." in text_of(armed.text)
    assert (f'id="{other}"' in armed.text) is not is_alone
    disarmed = step(browser, draft_id, "disarm", "Tove", path)
    assert f"{draft_id} waits for approval." in text_of(disarmed.text)
    assert "Tove disarmed" in text_of(disarmed.text)
    refused = step(browser, draft_id, "confirm", path=path)
    assert refused.status_code == 409
    assert f"Refused: {draft_id} must be armed before it is confirmed." in text_of(refused.text)
    assert (other in refused.text) is not is_alone
    step(browser, draft_id, "arm", path=path)
    applied = step(browser, draft_id, "confirm", "Tove", path).text
    assert f"{draft_id} is applied." in text_of(applied)
    assert ("<form" in applied) is not is_alone
    mine = [(e.kind, e.actor) for e in fake.dashboard.events if e.draft_id == draft_id]
    assert mine[-3:] == [("armed", "Ines"), ("approved", "Tove"), ("applied", "service")]


def test_missing_name_of_a_reviewer_is_refused(fake, browser) -> None:
    assert step(browser, pause(fake), "arm", "").status_code == 409
    assert fake.drafts[0].status == "pending_approval"


def test_unknown_steps_and_drafts_are_refused(fake, browser) -> None:
    assert step(browser, pause(fake), "__init__").status_code == 400
    unknown = step(browser, "draft_zzzz", "arm")
    assert unknown.status_code == 409
    assert "there is no draft draft_zzzz" in text_of(unknown.text)
    assert "draft_zzzz" not in browser.get("/approval?draft=draft_zzzz").text
    assert browser.get("/approval/drafts/draft_zzzz").status_code == 404


@each_case(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"host": "evil.example", "origin": "http://evil.example"},
    ],
)
@pytest.mark.parametrize("is_alone", [False, True])
def test_another_site_cannot_make_a_step(fake, browser, headers, is_alone) -> None:
    draft_id = pause(fake)
    path = f"/drafts/{draft_id}" * is_alone
    assert step(browser, draft_id, "arm", path=path, headers=headers).status_code == 403
    assert fake.drafts[0].status == "pending_approval"


def test_page_is_refused_under_foreign_host_names(fake, browser) -> None:
    for host in ("127.0.0.1:8765", "127.1.2.3", "[::1]:8765", "localhost:1"):
        assert browser.get("/approval", headers={"host": host}).status_code == 200
    for path in ("", "/drafts/x", "/static/approval.js"):
        for host in ("evil.example", "192.168.0.7", ""):
            page = browser.get(f"/approval{path}", headers={"host": host})
            assert page.status_code == 403
    exposed = Browser(create_app(fake, any_host=True), "http://demo.example")
    assert exposed.get("/approval").status_code == 200


def test_every_link_works_below_a_mount_path_and_keeps_the_name(fake) -> None:
    browser = Browser(Starlette(routes=[Mount("/demo", create_app(fake))]))
    draft_id = pause(fake)
    long = create(fake, **{str(number): number for number in range(50)})
    assert browser.get("/demo/").url.path == "/demo/approval"
    for path in ("", f"/drafts/{draft_id}", f"/drafts/{long}"):
        page = browser.get(f"/demo/approval{path}", params={"reviewer": 'Ines & "Tove"'}).text
        assert "style=" not in page
        assert "onclick" not in page
        urls = set(re.findall(r'(?:src|href)="([^"#]+)"', page))
        assert len(urls) >= 5
        for url in urls:
            assert url.startswith("/demo/approval")
            assert "/static/" in url or url.endswith("?reviewer=Ines+%26+%22Tove%22")
            assert browser.get(url).status_code == 200
        assert 'value="Ines &amp; &#34;Tove&#34;"' in page
    armed = browser.post("/demo/approval", data={"arm": draft_id, "reviewer": "Ines"})
    assert armed.url.path == "/demo/approval"
    assert f"{draft_id} is armed" in armed.text


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
    assert html.unescape(pages[0]).count(markup) == 2
    # The target, again in the trail; the key, its value, and the heading and value of a row.
    assert pages[0].count(escaped) == 6


def test_list_shows_fifty_drafts_and_events(fake, browser) -> None:
    for _ in range(52):
        pause(fake)
    page = browser.get("/approval").text
    assert page.count("<article") == 50
    assert "52 drafts are waiting. The 50 oldest are shown." in text_of(page)
    assert "2 earlier entries are not shown." in text_of(page)


@pytest.mark.parametrize("count", [48, 49, 200])
def test_change_is_approved_where_all_of_it_is_shown(count, fake, browser) -> None:
    fields = {f"label_{number}": f"<{'x' * 600}{number}>" for number in range(count)}
    draft_id = create(fake, **fields)  # has a name and a status as well
    page = browser.get("/approval").text
    is_whole = count == 48
    left = "{} more lines of this change are on the page of the draft".format
    assert (f'id="{draft_id}-arm"' in page) is is_whole
    assert (left(count - 48) in text_of(page)) is not is_whole
    assert f'id="{draft_id}-reject"' in page
    if not is_whole:
        (path,) = re.findall(rf'id="{draft_id}-whole" class="arm" href="([^"]*)"', page)
        page = browser.get(path).text
    assert f'id="{draft_id}-arm"' in page
    assert all(html.escape(value) in page for value in fields.values())


def test_page_of_a_draft_shows_its_state_and_its_own_trail(fake, browser) -> None:
    applied, other = set_budget(fake, 120), set_budget(fake, 130)
    approve(fake, applied)
    themes = approve(fake, stage(fake, "delta.remove_auto_search_themes")).draft_id
    lone = pause(fake)
    fake.dashboard.reject(lone, reviewer="Tove")
    states = {
        applied.draft_id: "It is applied.",
        other.draft_id: "It is stale: the live data has changed",
        lone: "It is rejected.",
    }
    for draft_id, state in states.items():
        assert state in shown(browser, f"/drafts/{draft_id}")
    assert "removed: " in shown(browser, f"/drafts/{themes}")
    trail = shown(browser, f"/drafts/{lone}").partition("Audit trail of this draft ")[2]
    assert trail == "2 March 2026, 09:00 UTC Tove rejected 2 March 2026, 09:00 UTC client staged"
    whole = shown(browser)
    assert "service closed as stale" in whole


def test_audit_trail_links_to_drafts_that_are_still_stored() -> None:
    fake = FakeAdService(history=4)
    browser = Browser(create_app(fake))
    themes = approve(fake, stage(fake, "delta.remove_auto_search_themes")).draft_id
    armed = pause(fake)
    for _ in range(4):
        fake.dashboard.reject(pause(fake), reviewer="Ines")
    fake.dashboard.arm(armed, reviewer="Ines")
    trail = browser.get("/approval").text.partition("Audit trail")[2]
    links = re.findall(r'href="/approval/drafts/(\w+)"', trail)
    assert links[0] == armed
    assert themes not in links


def test_armed_draft_shows_the_time_that_is_left(fake, browser) -> None:
    draft_id = pause(fake)
    fake.dashboard.arm(draft_id, reviewer="Ines")
    for seconds, left in ((0, "10:00"), (1, "9:59"), (598, "0:01"), (1, "0:00")):
        fake.clock.advance(seconds)
        assert f"Time left to confirm: {left}" in shown(browser)
    fake.clock.advance(1)
    assert "Time left" not in shown(browser)


def test_page_states_before_the_click_who_may_confirm(browser) -> None:
    assert "One person may take both." in shown(browser)
    fake = FakeAdService(profile=Profile(two_reviewers=True))
    browser = Browser(create_app(fake))
    draft_id = pause(fake)
    hint = "whoever armed a draft is refused if they confirm it as well."
    assert hint in shown(browser)
    fake.dashboard.arm(draft_id, reviewer="Ines")
    for name, is_same in (("Tove", False), (" ines", True)):
        page = browser.get(f"/approval?reviewer={name}").text
        (confirm,) = re.findall(rf'<button id="{draft_id}-confirm"[^>]*>', page)
        assert ("disabled" in confirm) is is_same
        assert ("You armed it, so another person must confirm it." in text_of(page)) is is_same
    assert step(browser, draft_id, "confirm", "INES").status_code == 409
    assert step(browser, draft_id, "confirm", "Tove").status_code == 200


def test_empty_page_explains_how_to_stage_a_draft(fake) -> None:
    fake.base_url += "/ads"
    browser = Browser(create_app(fake), "http://localhost:8765")
    page = browser.get("/approval").text
    python, shell = (
        html.unescape(code) for code in re.findall(r"<pre><code>(.*?)</code>", page, re.S)
    )
    made = 'AdClient("http://localhost:8765/ads")'
    assert made in python
    exec(python.replace(made, "client"), {"client": fake.client()})
    assert fake.drafts[0].operation == "beta.pause_campaign"
    path, body = re.fullmatch(
        r"curl http://localhost:8765(/ads/\S+) \\\n  --json '(.*)'", shell
    ).groups()
    assert browser.post(path, content=body).status_code == 201
    assert "AdClient" not in browser.get("/approval").text
