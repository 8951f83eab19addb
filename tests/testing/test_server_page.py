"""The approval page, as a browser without scripts meets it."""

import html
import json
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from asgi_browser import Browser
from fake_helpers import approve, stage
from starlette.applications import Starlette
from starlette.routing import Mount

from adclient import Diff
from adclient.testing import FakeAdService, Profile
from adclient.testing.server import approval, create_app
from adclient.testing.server.approval import fingerprint_of
from adclient.testing.server.diffs import tree_of


@pytest.fixture
def fake() -> FakeAdService:
    return FakeAdService()


@pytest.fixture
def browser(fake: FakeAdService) -> Browser:
    return Browser(create_app(fake))


def pause(fake: FakeAdService) -> str:
    return stage(fake, "beta.pause_campaign", campaign_id="campaign_57a7").draft_id


def step(
    browser: Browser, draft_id: str, name: str, reviewer: str = "Ines", skip: str = "0", **how
):
    """Press a button of a draft on its own page, which displays the whole change."""
    form = {"step": name, "reviewer": reviewer, "skip": skip}
    page = browser.get(f"/approval/drafts/{draft_id}").text
    found = re.search(r'data-change="([^"]+)" data-whole', page)
    url = f"/approval/drafts/{draft_id}?shown={found[1] if found else ''}"
    return browser.post(url, data=form, **how)


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.replace("<wbr>", ""))).split())


def test_page_without_drafts_states_that_there_are_none(browser) -> None:
    text = text_of(browser.get("/approval").text)
    assert "No drafts are waiting." in text
    assert "Nothing has happened yet." in text


def test_draft_is_shown_with_its_diff(fake, browser) -> None:
    draft = stage(
        fake, "alpha.update_campaign_budget", campaign_id="campaign_4c10", daily_budget=120
    )
    fake.clock.advance(timedelta(hours=1, minutes=5))
    text = text_of(browser.get("/approval").text)
    assert "1 draft is waiting." in text
    assert (
        "Update campaign budget alpha Corvane — Demand Gen (account_a91f, USD)"
        " › DG · Finance leaders · Lead form (campaign_4c10)"
    ) in text
    assert "daily_budget from 100.00 USD to 120.00 USD +20 %" in text
    assert f"{draft.draft_id} · staged 1 h 5 min ago · expires in 46 h 55 min" in text
    assert (
        "2 March 2026, 09:00 UTC client staged Update campaign budget"
        f" · DG · Finance leaders · Lead form (campaign_4c10) {draft.draft_id}"
    ) in text


def test_age_of_a_draft_is_in_words(fake, browser) -> None:
    draft_id = pause(fake)
    for seconds, words in ((59, "less than a minute"), (1, "1 min"), (3540, "1 h 0 min")):
        fake.clock.advance(seconds)
        assert f"{draft_id} · staged {words} ago" in text_of(browser.get("/approval").text)


def test_two_steps_apply_a_draft(fake, browser) -> None:
    draft_id = pause(fake)
    armed = text_of(step(browser, draft_id, "arm").text)
    assert f"{draft_id} is armed: confirm it within ten minutes." in armed
    assert "Armed by Ines." in armed
    assert fake.drafts[0].status == "armed"
    applied = step(browser, draft_id, "confirm", "Tove").text
    assert f"{draft_id} is applied." in text_of(applied)
    assert 'value="Tove"' in applied
    assert [(e.kind, e.actor) for e in fake.dashboard.events[1:3]] == [
        ("armed", "Ines"),
        ("approved", "Tove"),
    ]


def test_page_names_a_rolled_back_draft(fake, browser) -> None:
    draft_id = pause(fake)
    approve(fake, fake.drafts[0])
    back = fake.dashboard.roll_back(draft_id, reviewer="Ines")
    assert "Roll back: pause campaign beta" in text_of(browser.get("/approval").text)
    approve(fake, back)
    page = browser.get(f"/approval?draft={draft_id}")
    assert f"{draft_id} was applied, and is rolled back." in text_of(page.text)


def test_unknown_draft_is_not_echoed(browser) -> None:
    page = browser.get("/approval?draft=draft_zzzz")
    assert page.status_code == 200
    assert "draft_zzzz" not in page.text


def test_a_draft_is_rejected(fake, browser) -> None:
    draft_id = pause(fake)
    assert f"{draft_id} is rejected." in text_of(step(browser, draft_id, "reject").text)
    assert fake.drafts[0].status == "rejected"


def test_confirming_without_arming_is_refused(fake, browser) -> None:
    draft_id = pause(fake)
    response = step(browser, draft_id, "confirm")
    assert response.status_code == 409
    assert f"Refused: {draft_id} must be armed before it is confirmed." in text_of(response.text)
    assert fake.drafts[0].status == "pending_approval"


def test_a_reviewer_must_be_named(fake, browser) -> None:
    draft_id = pause(fake)
    assert step(browser, draft_id, "arm", "  ").status_code == 409
    assert browser.post(f"/approval/drafts/{draft_id}", data={"step": "arm"}).status_code == 409
    assert fake.drafts[0].status == "pending_approval"


def test_other_steps_are_refused(fake, browser) -> None:
    assert step(browser, pause(fake), "__init__").status_code == 400


def test_page_states_that_a_draft_could_not_be_applied(fake, browser) -> None:
    drafts = [
        stage(fake, "beta.create_video_campaign", fields={"name": "Autumn"}) for _ in range(2)
    ]
    for draft in drafts:
        step(browser, draft.draft_id, "arm")
        response = step(browser, draft.draft_id, "confirm")
    assert "could not be applied" in text_of(response.text)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"host": "evil.example", "origin": "http://evil.example"},
    ],
)
@pytest.mark.parametrize("name", ["arm", "confirm", "reject"])
def test_another_site_cannot_make_a_step(fake, browser, headers, name) -> None:
    draft_id = pause(fake)
    if name == "confirm":
        fake.dashboard.arm(draft_id, reviewer="Ines")
    before = fake.drafts
    assert step(browser, draft_id, name, headers=headers).status_code == 403
    assert fake.drafts == before


def test_page_is_refused_under_foreign_host_names(fake, browser) -> None:
    for host in ("127.0.0.1:8765", "127.1.2.3", "[::1]:8765", "localhost:1"):
        assert browser.get("/approval", headers={"host": host}).status_code == 200
    for host in ("evil.example", "192.168.0.7", ""):
        assert browser.get("/approval", headers={"host": host}).status_code == 403
    exposed = Browser(create_app(fake, any_host=True), "http://demo.example")
    assert exposed.get("/approval").status_code == 200


@pytest.mark.parametrize("path", ["/approval", "/approval/static/approval.js"])
def test_security_headers_are_set(browser, path) -> None:
    headers = browser.get(path).headers
    policy = headers["content-security-policy"].split("; ")
    assert {"default-src 'none'", "script-src 'self'", "frame-ancestors 'self'"} <= set(policy)
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def test_all_resources_exist_and_are_local(browser) -> None:
    page = browser.get("/approval").text
    resources = re.findall(r'(?:src|href)="([^"#]+)"', page)
    assert len(resources) == 3
    for resource in resources:
        assert resource.startswith("/approval/static/")
        assert browser.get(resource).status_code == 200
    assert "style=" not in page
    assert "onclick" not in page


def test_page_works_below_a_mount_path(fake) -> None:
    browser = Browser(Starlette(routes=[Mount("/demo", create_app(fake))]))
    long = stage(fake, "beta.create_video_campaign", fields={"name": "x" * 501}).draft_id
    draft_ids = [pause(fake) for _ in range(50)]
    assert browser.get("/demo/").url.path == "/demo/approval"
    for path in (
        "",
        "?skip=50",
        f"/drafts/{long}",
        f"/drafts/{long}?part=1",
        f"/drafts/{long}/json",
    ):
        page = browser.get(f"/demo/approval{path}").text
        urls = re.findall(r'(?:src|href|action)="([^"#]+)"', page)
        assert len(urls) >= 4
        assert all(url.startswith("/demo/approval") for url in urls)
        assert {browser.get(url).status_code for url in urls[:6]} == {200}
    for draft_id, more in zip(draft_ids, ({}, {"alone": "1"}), strict=False):
        page = browser.get(f"/demo/approval/drafts/{draft_id}").text
        arm = re.findall(r'formaction="([^"]+)\?shown=([^"]+)"', page)[0]
        form = {"reviewer": "Ines", "step": "arm", **more}
        armed = browser.post("?shown=".join(arm), data=form)
        assert armed.url.path.startswith("/demo/approval")
        assert f"{draft_id} is armed" in armed.text


MARKUP = "<img src=x onerror=alert(1)>&amp;\"'"


def test_markup_stays_text(fake, browser) -> None:
    fields = {"name": MARKUP, MARKUP: [MARKUP], "ad": {MARKUP: {"a": MARKUP}}}
    stage(fake, "gamma.create_image_campaign", fields=fields)
    draft_id = pause(fake)
    pages = [
        browser.get("/approval").text,
        step(browser, draft_id, "arm", MARKUP).text,
        step(browser, draft_id, "arm", MARKUP).text,
        step(browser, MARKUP, "arm", MARKUP).text,
    ]
    for page in pages:
        assert "<img" not in page
    assert MARKUP in html.unescape(pages[0]).replace("<wbr>", "")


def test_page_shows_50_drafts_and_events(fake, browser) -> None:
    for _ in range(52):
        pause(fake)
    page = browser.get("/approval").text
    assert page.count("<article") == 50
    assert "52 drafts are waiting. Oldest first, 1 to 50 are shown." in text_of(page)
    assert "Later drafts" in page
    assert "Earlier drafts" not in page
    assert "2 earlier entries are not shown." in text_of(page)


@pytest.mark.parametrize("skip", ["50", "57", "99", "9" * 9])
def test_the_drafts_of_a_long_queue_can_all_be_reached(fake, browser, skip) -> None:
    for _ in range(52):
        pause(fake)
    *_, last = fake.drafts
    page = browser.get(f"/approval?skip={skip}").text
    assert page.count("<article") == 2
    assert "Oldest first, 51 to 52 are shown." in text_of(page)
    assert 'name="skip" value="0">Earlier drafts' in page
    assert "Later drafts" not in page
    assert 'value="Kim"' in browser.get(f"/approval?reviewer=Kim&skip=0&skip={skip}").text
    stepped = step(browser, last.draft_id, "arm", skip="50")
    assert "51 to 52" in text_of(stepped.text)
    refused = step(browser, last.draft_id, "arm", reviewer="", skip="50")
    assert "51 to 52" in text_of(refused.text)


@pytest.mark.parametrize("skip", ["-1", "x", "9" * 5000, "٣"])
def test_any_skip_is_accepted(fake, browser, skip) -> None:
    pause(fake)
    assert "1 draft is waiting." in text_of(browser.get(f"/approval?skip={skip}").text)


def json_of(page: str) -> str:
    (found,) = re.findall(r"<pre[^>]*><code>(.*)</code></pre>", page, re.DOTALL)
    return html.unescape(found)


def test_json_of_a_draft_is_formatted_and_links_back(fake, browser) -> None:
    fields = {"name": "n", "ad": {"list": [1.50, [], {}]}, **{str(n): "x" * 99 for n in range(99)}}
    draft = stage(fake, "beta.create_video_campaign", fields=fields)
    path = f"/approval/drafts/{draft.draft_id}"
    assert f'href="{path}/json"' in browser.get("/approval").text
    page = browser.get(f"{path}/json").text
    shown = json_of(page)
    assert shown == json.dumps(draft.diff.to_dict(), indent=2)
    assert f'href="{path}"' in page
    assert 'href="/approval"' in page
    for missing in ("/approval/drafts/draft_zzzz", "/approval/drafts/draft_zzzz/json"):
        assert browser.get(missing).status_code == 404


def test_json_of_a_draft_escapes_invisible_characters(fake, browser) -> None:
    odd = {"name": "n\u202e\U000e0001\u3164", "emoji": "👩\u200d💻"}
    draft = stage(fake, "beta.create_video_campaign", fields=odd)
    shown = json_of(browser.get(f"/approval/drafts/{draft.draft_id}/json").text)
    assert shown.replace("\n", "").isprintable()
    assert "\u3164" not in shown
    assert "👩" in shown
    assert json.loads(shown) == draft.diff.to_dict()


@pytest.mark.parametrize(
    "reviewer", ["\u200b", "-", "service", "client", "a\nb", "Ines\u202e", "x" * 81]
)
def test_unreadable_reviewer_name_is_refused(fake, browser, reviewer) -> None:
    draft_id = pause(fake)
    assert step(browser, draft_id, "arm", reviewer).status_code == 409
    assert fake.drafts[0].status == "pending_approval"


def test_direction_overrides_in_names_are_escaped(fake, browser) -> None:
    fake.change_live("account_b204", "campaign_57a7", name="\u202eeman")
    pause(fake)
    stage(fake, "beta.create_video_campaign", fields={"name": "n", "\u202ek": "\u202ev"})
    page = browser.get("/approval").text
    assert "\u202e" not in page
    assert page.count("\\u202e") == 4  # the target comes again in the audit trail


def test_large_change_is_compared_once(fake, browser, monkeypatch) -> None:
    compared = []

    def compare(*arguments, **options):
        compared.append(arguments)
        return tree_of(*arguments, **options)

    monkeypatch.setattr(approval, "tree_of", compare)
    fields = {"name": "n", **{str(number): number for number in range(10_000)}}
    draft_id = stage(fake, "beta.create_video_campaign", fields=fields).draft_id
    for _ in range(3):
        page = browser.get("/approval").text
        browser.get(f"/approval/drafts/{draft_id}?part=1")
    assert len(compared) == 1
    monkeypatch.setattr(approval, "_MAX_PARTS", 1)
    pause(fake)
    for count in (2, 4):  # only one at a time is stored
        browser.get("/approval")
        assert len(compared) == count
    assert len(page) < 60_000
    assert "9,952 more values" in text_of(page)


def deep(depth: int) -> dict:
    value: dict = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "value", [deep(90), "x" * 100_000, "", [], {}, None, [[]], {"a": None}, ["x"] * 1000]
)
def test_any_json_value_can_be_shown(fake, browser, value) -> None:
    stage(fake, "beta.create_video_campaign", fields={"name": "n", "odd": value})
    response = browser.get("/approval")
    assert response.status_code == 200
    assert len(response.text) < 60_000


# Only what was displayed whole can be approved.


LONG = {"name": "n", "text": "x" * 5000, "end": "y" * 501}
WIDE = {"name": "n", **{f"label_{number}": number for number in range(60)}}


@pytest.mark.parametrize(
    ("fields", "rest"),
    [
        (LONG, "the rest of 2 long texts."),
        ({"name": "n", "t": "x" * 501}, "the rest of 1 long text."),
        (WIDE, "12 more values."),
        ({**WIDE, "name": "x" * 501}, "12 more values and the rest of 1 long text."),
        ({**dict(list(WIDE.items())[:49]), "z": 1}, "1 more value."),
    ],
)
def test_change_that_is_partly_displayed_has_no_steps(fake, browser, fields, rest) -> None:
    draft_id = stage(fake, "beta.create_video_campaign", fields=fields).draft_id
    page = browser.get("/approval").text
    assert f"Not all of this change is displayed: {rest}" in text_of(page)
    (arm,) = re.findall(rf'<button id="{draft_id}-arm"[^>]*>', page)
    assert "disabled" in arm
    assert "shown=" not in arm
    assert "data-whole" not in page
    (whole,) = re.findall(rf'<button id="{draft_id}-whole"[^>]*>', page)
    (path,) = re.findall(r'formaction="([^"]*)"', whole)
    alone = browser.get(path).text
    assert "Not all" not in alone
    assert all(str(value) in alone for value in fields.values())
    (arm,) = re.findall(rf'<button id="{draft_id}-arm"[^>]*>', alone)
    assert "disabled" not in arm
    part = browser.get(f"{path}?part=1").text
    assert "Not all" in part


@pytest.mark.parametrize("name", ["arm", "confirm"])
@pytest.mark.parametrize("shown", ["", "?shown=", "?shown=" + "0" * 64])
def test_step_without_the_displayed_change_is_refused(fake, browser, name, shown) -> None:
    draft_id = pause(fake)
    if name == "confirm":
        fake.dashboard.arm(draft_id, reviewer="Ines")
    before = fake.drafts
    form = {"step": name, "reviewer": "Ines"}
    refused = browser.post(f"/approval/drafts/{draft_id}{shown}", data=form)
    assert refused.status_code == 409
    assert f"Refused: display the whole change of {draft_id} first." in text_of(refused.text)
    assert fake.drafts == before


def test_change_displayed_by_an_earlier_service_cannot_be_armed(fake, browser) -> None:
    earlier = FakeAdService()
    draft_id = stage(earlier, "beta.create_video_campaign", fields={"name": "A"}).draft_id
    assert pause(fake) == draft_id
    url = f"/approval/drafts/{draft_id}?shown={fingerprint_of(earlier.drafts[0])}"
    assert browser.post(url, data={"step": "arm", "reviewer": "Ines"}).status_code == 409


def test_every_value_of_a_whole_change_is_on_the_page_of_its_draft(fake, browser) -> None:
    fields = {"name": "n", "wide": WIDE, "rows": [{"text": f"k{n}", "bid": n} for n in range(99)]}
    draft_id = stage(fake, "beta.create_video_campaign", fields=fields).draft_id
    text = text_of(browser.get(f"/approval/drafts/{draft_id}").text)
    for number in range(99):
        assert f"k{number} text new: k{number} bid new: {number}.00 USD" in text


# The page of one draft, in every state.


def press(browser: Browser, draft_id: str, name: str, reviewer: str = "Ines", **how):
    """Press a button on the page of a draft, and follow it."""
    page = browser.get(f"/approval/drafts/{draft_id}").text
    (button,) = re.findall(rf'<button id="{draft_id}-{name}"[^>]*>', page)
    (path,) = re.findall(r'formaction="([^"]*)"', button)
    form = {"step": name, "reviewer": reviewer, "alone": "1"}
    return browser.post(path, data=form, **how)


def test_draft_is_approved_on_its_own_page(fake, browser) -> None:
    draft_id = stage(fake, "beta.create_video_campaign", fields=LONG).draft_id
    armed = press(browser, draft_id, "arm")
    assert str(armed.url).endswith(f"/approval/drafts/{draft_id}?reviewer=Ines&stepped=1")
    assert f"{draft_id} is armed: confirm it within ten minutes." in text_of(armed.text)
    assert 'value="Ines"' in armed.text
    applied = press(browser, draft_id, "confirm").text
    assert f"{draft_id} is applied." in text_of(applied)
    assert "<button" not in applied
    assert fake.drafts[0].status == "applied"


def test_refused_step_stays_on_the_page_of_the_draft(fake, browser) -> None:
    draft_id = pause(fake)
    refused = press(browser, draft_id, "arm", reviewer=" ")
    assert refused.status_code == 409
    assert "Refused: a reviewer must be named." in text_of(refused.text)
    assert f"Draft {draft_id}" in text_of(refused.text)
    unknown = browser.post("/approval/drafts/draft_zzzz", data={"step": "arm", "alone": "1"})
    assert unknown.status_code == 409
    assert "there is no draft draft_zzzz" in text_of(unknown.text)


def test_links_keep_the_name_of_the_reviewer(fake, browser) -> None:
    path = f"/approval/drafts/{pause(fake)}"
    for page in ("/approval", path, f"{path}/json"):
        named = browser.get(page, params={"reviewer": 'Ines & "Tove"'}).text
        links = set(re.findall(r'href="(/approval(?:/drafts/[^"]*)?)"', named))
        assert links
        for link in links:
            assert link.endswith("?reviewer=Ines+%26+%22Tove%22")
            assert 'value="Ines &amp; &#34;Tove&#34;"' in browser.get(link).text or "/json" in link


def test_page_of_a_draft_shows_its_state_and_its_own_trail(fake, browser) -> None:
    applied, other = fake_draft(fake, 120), fake_draft(fake, 130)
    approve(fake, applied)
    lone = pause(fake)
    fake.dashboard.reject(lone, reviewer="Tove")
    waiting = stage(fake, "delta.remove_auto_search_themes").draft_id
    fake.clock.advance(timedelta(hours=49))
    states = {
        applied.draft_id: "It is applied.",
        other.draft_id: "It is stale: the live data has changed since it was staged.",
        lone: "It is rejected.",
        waiting: "It is stale: nobody approved it within 48 hours.",
    }
    for draft_id, state in states.items():
        text = text_of(browser.get(f"/approval/drafts/{draft_id}").text)
        assert state in text
    text = text_of(browser.get(f"/approval/drafts/{lone}").text)
    trail = text.partition("Audit trail of this draft ")[2]
    assert trail == ("2 March 2026, 09:00 UTC Tove rejected 2 March 2026, 09:00 UTC client staged")


def fake_draft(fake: FakeAdService, amount: int):
    return stage(
        fake, "alpha.update_campaign_budget", campaign_id="campaign_4c10", daily_budget=amount
    )


# Arming and disarming.


def test_armed_draft_shows_the_time_that_is_left(fake, browser) -> None:
    draft_id = pause(fake)
    fake.dashboard.arm(draft_id, reviewer="Ines")
    for seconds, left in ((0, "10:00"), (1, "9:59"), (598, "0:01"), (1, "0:00")):
        fake.clock.advance(seconds)
        text = text_of(browser.get("/approval").text)
        assert f"Time left to confirm: {left}" in text
    fake.clock.advance(1)
    assert "Time left" not in text_of(browser.get("/approval").text)


def test_armed_draft_is_disarmed(fake, browser) -> None:
    draft_id = pause(fake)
    assert f"{draft_id}-disarm" not in browser.get("/approval").text
    step(browser, draft_id, "arm")
    page = step(browser, draft_id, "disarm", "Tove").text
    assert f"{draft_id} waits for approval." in text_of(page)
    assert "Tove disarmed" in text_of(page)
    refused = step(browser, draft_id, "confirm")
    assert f"Refused: {draft_id} must be armed" in text_of(refused.text)
    assert fake.drafts[0].status == "pending_approval"


def test_page_tells_before_the_click_who_may_confirm() -> None:
    fake = FakeAdService(profile=Profile(two_reviewers=True))
    browser = Browser(create_app(fake))
    draft_id = pause(fake)
    hint = "whoever armed a draft is refused if they confirm it as well."
    assert hint in text_of(browser.get("/approval").text)
    told = "You armed it, so another person must confirm it."
    for name, is_same in (("Tove", False), (" ines", True)):
        fake.dashboard.arm(draft_id, reviewer="Ines")
        page = browser.get(f"/approval?reviewer={name}").text
        (confirm,) = re.findall(rf'<button id="{draft_id}-confirm"[^>]*>', page)
        assert ("disabled" in confirm) is is_same
        assert (told in text_of(page)) is is_same
    needed = f"{draft_id} is armed: another person must confirm it within ten minutes."
    assert needed in text_of(step(browser, draft_id, "arm", "Ines").text)
    assert step(browser, draft_id, "confirm", "INES").status_code == 409
    assert step(browser, draft_id, "confirm", "Tove").status_code == 200
    assert fake.drafts[0].status == "applied"


def test_page_says_that_one_person_may_make_both_steps(browser) -> None:
    assert "One person may take both." in text_of(browser.get("/approval").text)


# Words.


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


def test_operation_is_named_with_its_acronym(fake, browser) -> None:
    stage(fake, "gamma.create_dco_ad", fields={"name": "Tents"})
    text = text_of(browser.get("/approval").text)
    assert "Create DCO ad gamma" in text
    assert "client staged Create DCO ad" in text


def test_audit_trail_links_to_drafts_that_are_still_stored() -> None:
    fake = FakeAdService(history=4)
    browser = Browser(create_app(fake))
    themes = approve(fake, stage(fake, "delta.remove_auto_search_themes")).draft_id
    back = fake.dashboard.roll_back(themes, reviewer="Ines")
    for _ in range(2):
        fake.dashboard.reject(pause(fake), reviewer="Ines")
    last = pause(fake)
    approve(fake, back)
    fake.dashboard.reject(last, reviewer="Ines")
    trail = browser.get("/approval").text.partition("Audit trail")[2]
    links = re.findall(r'href="/approval/drafts/(\w+)"', trail)
    assert links == [last, back.draft_id, back.draft_id]
    assert f"service rolled back {themes}" in text_of(trail)


def test_names_and_paths_break_after_their_separators(fake, browser) -> None:
    fields = {"name": "n", "landing_url": "https://halden.example/a?utm_source=b&c=1.50"}
    stage(fake, "beta.create_video_campaign", fields=fields)
    page = browser.get("/approval").text
    assert "landing_<wbr>url" in page
    link = "https://<wbr>halden.<wbr>example/<wbr>a?<wbr>utm_<wbr>source=<wbr>b&amp;<wbr>c=1.50"
    assert link in page


# How diffs are put into words.


def shown(before: object, after: object, field: str = "f", **options) -> list[str]:
    """The lines of a tree: its labels and values, indented."""
    tree = tree_of(Diff(field=field, before=before, after=after), "USD", **options)
    return list(lines(tree.nodes))


def lines(nodes, indent: str = ""):
    for node in nodes:
        values = ", ".join(map(words, node.values))
        yield f"{indent}{node.label}: {values}" if values else f"{indent}{node.label}"
        yield from lines(node.nodes, f"{indent}  ")


def words(value) -> str:
    sides = (value.before or "", "→" if value.before and value.after else "", value.after or "")
    sign = "" if all(sides) else ("+" if value.after else "−")
    place = "" if value.place is None else f"[{value.place}] "
    return place + sign + " ".join(filter(None, (*sides, value.percent))).replace("\xa0", " ")


def test_numbers_show_the_change_in_percent() -> None:
    assert shown(1000, 1250.5) == ["f: 1,000 → 1,250.5 +25.05 %"]
    assert shown(Decimal(2), 1) == ["f: 2 → 1 −50 %"]
    assert shown(0, 1) == ["f: 0 → 1"]


def test_amounts_have_their_currency() -> None:
    assert shown(9.5, 8, "bid.amount") == ["bid.amount: 9.50 USD → 8.00 USD −15.79 %"]
    assert shown({"daily_budget": 1}, {"daily_budget": None}) == ["f.daily_budget: 1.00 USD → null"]
    assert shown(1.005, Decimal("1E+20"), "cpc_bid") == [
        "cpc_bid: 1.005 USD → 1E+20 USD +9.95e+21 %"
    ]
    assert shown({"amount": 1}, {"amount": 2}) == ["f.amount: 1 → 2 +100 %"]
    assert shown(1, True, "budget") == ["budget: 1.00 USD → true"]
    tree = tree_of(Diff(field="daily_budget", before=2500, after=3000), "JPY")
    assert list(lines(tree.nodes)) == ["daily_budget: 2,500 JPY → 3,000 JPY +20 %"]


def test_texts_and_booleans_are_shown() -> None:
    assert shown("a", "") == ['f: a → ""']
    assert shown(True, False) == ["f: true → false"]
    assert shown(None, "a") == ["f: null → a"]
    assert shown([1], "a") == ["f: −1", "f: +a"]
    assert shown("same", "same") == []


def test_lists_show_what_is_added_and_removed() -> None:
    assert shown(["a", "b"], ["b", "c"]) == ["f: [0] −a, [1] +c"]
    assert shown(["a", "b"], ["b", "a"]) == ["f: [0] a → b, [1] b → a"]
    assert shown(["a", "a"], ["a"]) == ["f: [1] −a"]
    assert shown([], ["a", "b"]) == ["f: +a, +b"]
    assert shown({"a": ["x"]}, {"a": []}) == ["f.a: −x"]


def test_list_of_objects_names_the_changed_field_alone() -> None:
    row = {"text": "boots", "match_type": "BROAD", "bid": 1.5, "status": "ENABLED"}
    other = {**row, "text": "tents"}
    assert shown([row, other], [row, {**other, "status": "PAUSED"}], "keywords") == [
        "keywords",
        "  tents, BROAD",
        "    status: ENABLED → PAUSED",
    ]
    assert shown([], [row], "keywords") == [
        "keywords",
        "  boots, BROAD",
        "    text: +boots",
        "    match_type: +BROAD",
        "    bid: +1.50 USD",
        "    status: +ENABLED",
    ]
    assert shown([{"n": 1}, {"n": 2}], [{"n": 3}, {"n": 4}]) == [
        "f",
        "  [0].n: 1 → 3 +200 %",
        "  [1].n: 2 → 4 +100 %",
    ]
    named = {"name": "k" * 90, "rows": [{"n": 1}, {"m": {"n": [[1]]}}]}
    changed = {"name": "k" * 90, "rows": [{"n": 2}, {"m": {"n": [[2]]}}]}
    assert shown([named], [changed]) == [
        "f",
        f"  {'k' * 90}",
        "    rows",
        "      [0].n: 1 → 2 +100 %",
        "      [1].m.n[0]: [0] 1 → 2 +100 %",
    ]


def test_values_that_differ_look_different() -> None:
    assert shown(120, "120") == ['f: 120 → "120"']
    assert shown("true", True) == ['f: "true" → true']
    assert shown([120, 1], ["120", "1", "x"]) == [
        'f: [0] −120, [1] −1, [0] +"120", [1] +"1", [2] +x'
    ]
    assert shown(100, "100 USD", "bid") == ['bid: 100.00 USD → "100 USD"']
    assert shown({"a": 1, "b": 0}, {"a": True, "b": 0}) == ["f.a: 1 → true"]
    for odd in ("a ", " a", "a  b", "a\tb", "a \nb", "a\n b", "\na"):
        assert shown("a", odd) == [f"f: a → {json.dumps(odd)}"]
    assert shown("pause", "pa\u200cuse") == ['f: pause → "pa\\u200cuse"']
    assert shown("\u0645\u0627", "\u0645\u200d\u0627") == [
        'f: "\u0645\u0627" → "\u0645\\u200d\u0627"'
    ]
    for quoted in ('"a"', "[]", "{a", "null", "1,5e3"):
        assert shown("a", quoted) == [f"f: a → {json.dumps(quoted)}"]


def test_long_texts_are_cut_where_they_differ() -> None:
    same = "x" * 500
    assert shown(same + "A", same + "B") == [f"f: …{'x' * 40}A → …{'x' * 40}B"]
    assert shown("x" * 501, "y" * 501) == [f"f: {'x' * 500}… → {'y' * 500}…"]
    assert shown("a", "x" * 501) == [f"f: a → {'x' * 500}…"]
    assert shown(same + "A", same) == [f"f: …{'x' * 40}A → {same}"]
    assert shown(same + "A", same + "B", whole=True) == [f"f: {same}A → {same}B"]
    assert shown({"k" * 501: 1}, {"k" * 501: 2}, whole=True) == [f"f.{'k' * 501}: 1 → 2 +100 %"]
    assert shown({"k" * 501: 1}, {"k" * 501: 2}) == [f"f.{'k' * 500}…: 1 → 2 +100 %"]


def test_literal_escape_sequence_differs_from_the_character() -> None:
    assert shown("a\\u202eb", "a\u202eb") == ['f: a\\u202eb → "a\\u202eb"']
    assert shown(["a\u202eb"], "a\u202eb") == ['f: −"a\\u202eb"', 'f: +"a\\u202eb"']


def test_empty_values_are_shown() -> None:
    assert shown(None, []) == ["f: null → []"]
    assert shown(None, {}) == ["f: null → {}"]
    assert shown([], None) == ["f: [] → null"]
    assert shown({"a": {}}, {"a": []}) == ["f.a: {} → []"]


def test_invisible_characters_are_escaped() -> None:
    assert shown("old", "\u202ewon 0021 yaP\u200b") == ['f: old → "\\u202ewon 0021 yaP\\u200b"']
    assert shown("a", "\u3164b") == ['f: a → "\\u3164b"']
    seen = "\u0645\u200c\u0627 👩\u200d💻\nb"
    assert shown("a", seen) == [f"f: a → {seen}"]


def test_objects_are_a_tree_of_changed_leaves() -> None:
    before = {"bid": {"amount": 2, "unit": "CLICK"}, "gone": "x", "same": 1}
    after = {"bid": {"amount": 3, "unit": "CLICK"}, "new": True, "same": 1}
    assert shown(before, after) == [
        "f",
        "  bid.amount: 2.00 USD → 3.00 USD +50 %",
        "  gone: −x",
        "  new: +true",
    ]
    assert shown(None, {"a": {"b": 1, "c": {"d": 2}}, "e.f": 3, "g": 4}) == [
        "f",
        "  a",
        "    b: +1",
        "    c.d: +2",
        '  "e.f": +3',
        "  g: +4",
    ]
    assert shown(None, deep(90)) == ["f" + ".a" * 90 + ": +{}"]
