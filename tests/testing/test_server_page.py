"""The approval page, as a browser without scripts meets it."""

import html
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from asgi_browser import Browser
from fake_helpers import approve, stage

from adclient import Diff
from adclient.testing import FakeAdService
from adclient.testing.server import create_app, diffs
from adclient.testing.server.diffs import Line, lines_of


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
    form = {"step": name, "reviewer": reviewer, "skip": skip}
    return browser.post(f"/approval/drafts/{draft_id}", data=form, **how)


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_page_without_drafts_states_that_there_are_none(browser) -> None:
    text = text_of(browser.get("/approval").text)
    assert "No drafts wait." in text
    assert "Nothing has happened yet." in text


def test_draft_is_shown_with_its_diff(fake, browser) -> None:
    draft = stage(
        fake, "alpha.update_campaign_budget", campaign_id="campaign_4c10", daily_budget=120
    )
    fake.clock.advance(timedelta(hours=1, minutes=5))
    text = text_of(browser.get("/approval").text)
    assert "1 draft waits." in text
    assert (
        "Update campaign budget alpha Corvane — Demand Gen (account_a91f, USD)"
        " › DG · Finance leaders · Lead form (campaign_4c10)"
    ) in text
    assert "daily_budget from 100 → to 120 +20 %" in text
    assert f"{draft.draft_id} · staged 1 h 5 min ago · expires in 46 h 55 min" in text
    assert f"2 March 2026, 09:00 UTC client staged {draft.draft_id}" in text


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
    assert "Roll back pause campaign beta" in text_of(browser.get("/approval").text)
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


def test_only_three_steps_are_known(fake, browser) -> None:
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
    assert {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} <= set(policy)
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
    assert MARKUP in html.unescape(pages[0])


def test_page_shows_50_drafts_and_events(fake, browser) -> None:
    for _ in range(52):
        pause(fake)
    page = browser.get("/approval").text
    assert page.count("<article") == 50
    assert "52 drafts wait. Oldest first, 1 to 50 are shown." in text_of(page)
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
    assert "1 draft waits." in text_of(browser.get(f"/approval?skip={skip}").text)


def test_whole_diff_is_served_as_json(fake, browser) -> None:
    fields = {"name": "n", **{str(number): "x" * 1000 for number in range(100)}}
    draft = stage(fake, "beta.create_video_campaign", fields=fields)
    page = browser.get("/approval").text
    (link,) = re.findall(r'href="(/approval/drafts/[^"]+)"', page)
    response = browser.get(link)
    assert response.json() == draft.diff.to_dict()
    assert response.headers["content-type"] == "application/json"
    assert browser.get("/approval/drafts/draft_zzzz").status_code == 404


def test_whole_diff_escapes_invisible_characters(fake, browser) -> None:
    odd = {"name": "n\u202e\U000e0001", "emoji": "👩\u200d💻"}
    draft = stage(fake, "beta.create_video_campaign", fields=odd)
    response = browser.get(f"/approval/drafts/{draft.draft_id}")
    assert response.text.isprintable()
    assert "👩" in response.text
    assert response.json() == draft.diff.to_dict()


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
    assert page.count("\\u202e") == 3


@pytest.mark.no_cover
def test_very_wide_diff_is_rendered_quickly(fake, browser, monkeypatch) -> None:
    fields = {"name": "n", **{str(number): number for number in range(10_000)}}
    stage(fake, "beta.create_video_campaign", fields=fields)
    seen = []
    monkeypatch.setattr(diffs, "text_of", lambda value: seen.append(value) or "text")
    browser.get("/approval")
    assert len(seen) < 200


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


# How diffs are put into words.


def shown(before: object, after: object) -> list[Line]:
    return lines_of(Diff(field="f", before=before, after=after))


def test_numbers_show_the_change_in_percent() -> None:
    assert shown(1000, 1250.5) == [
        Line(path="f", before="1,000", after="1,250.5", percent="+25.05 %")
    ]
    assert shown(Decimal(2), 1) == [Line(path="f", before="2", after="1", percent="−50 %")]
    assert shown(0, 1) == [Line(path="f", before="0", after="1")]


def test_texts_and_booleans_are_shown() -> None:
    assert shown("a", "") == [Line(path="f", before="a", after="(empty text)")]
    assert shown(True, False) == [Line(path="f", before="true", after="false")]
    assert shown(None, "a") == [Line(path="f", after="a")]
    assert shown([1], "a") == [Line(path="f", before="[1]", after="a")]


def test_lists_show_what_is_added_and_removed() -> None:
    assert shown(["a", "b"], ["b", "c"]) == [Line(path="f", added=("c",), removed=("a",))]
    assert shown(["a", "b"], ["b", "a"]) == [Line(path="f", added=("b", "a"), removed=("a", "b"))]
    assert shown(["a", "a"], ["a"]) == [Line(path="f", removed=("a",))]
    both = shown(["a", "b", "c"], ["c", "b", "a", "d"])
    assert both == [Line(path="f", added=("c", "b", "a", "d"), removed=("a", "b", "c"))]
    rows = [{"text": "boots", "bid": 1.5, "tags": ["x", "y"]}]
    assert shown(None, rows) == [Line(path="f", added=("text: boots · bid: 1.5 · tags: x, y",))]


def test_values_that_differ_look_different() -> None:
    assert shown(120, "120") == [Line(path="f", before="120", after='"120"')]
    assert shown("true", True) == [Line(path="f", before='"true"', after="true")]
    (line,) = shown("x" * 500 + "A", "x" * 500 + "B, and buy now")
    assert (line.before, line.after) == ("…" + "x" * 40 + "A", "…" + "x" * 40 + "B, and buy now")
    (line,) = shown(["x" * 500 + "A"], ["x" * 500 + "B"])
    assert (line.removed[0][-1], line.added[0][-1]) == ("A", "B")
    assert shown("x" * 500, "y" * 401)[0].after == "y" * 400 + "…"
    (line,) = shown([120, 1], ["120", "1"])
    assert (line.removed, line.added) == (("120", "1"), ('"120"', '"1"'))
    assert shown({"a": 1, "b": 0}, {"a": True, "b": 0}) == [
        Line(path="f.a", before="1", after="true")
    ]
    assert shown("a", "a ") == [Line(path="f", before='"a"', after='"a "')]
    assert shown("a b", "a\tb") == [Line(path="f", before='"a b"', after='"a\\tb"')]
    assert shown("pause", "pa\u200cuse")[0].after == '"pa\\u200cuse"'


def test_literal_escape_sequence_differs_from_the_character() -> None:
    (line,) = shown("a\\u202eb", "a\u202eb")
    assert (line.before, line.after) == ('"a\\\\u202eb"', '"a\\u202eb"')
    (line,) = shown(["a\u202eb"], "a\u202eb")
    assert (line.before, line.after) == ('["a\\u202eb"]', '"a\\u202eb"')


def test_empty_values_are_shown() -> None:
    assert shown(None, []) == [Line(path="f", after="[]")]
    assert shown(None, {}) == [Line(path="f", after="{}")]
    assert shown([], None) == [Line(path="f", before="[]")]
    assert shown({"a": {}}, {"a": []}) == [Line(path="f.a", before="{}", after="[]")]


def test_invisible_characters_are_escaped() -> None:
    (line,) = shown("old", "\u202ewon 0021 yaP\u200b")
    assert line.after == "\\u202ewon 0021 yaP\\u200b"
    seen = "\u0645\u200c\u0627 👩\u200d💻\n\tb"
    assert shown("a", seen)[0].after == seen


def test_objects_are_shown_by_path() -> None:
    before = {"bid": {"amount": 2, "unit": "CLICK"}, "gone": "x"}
    after = {"bid": {"amount": 3, "unit": "CLICK"}, "new": True}
    assert shown(before, after) == [
        Line(path="f.bid.amount", before="2", after="3", percent="+50 %"),
        Line(path="f.gone", before="x"),
        Line(path="f.new", after="true"),
    ]
    assert shown(None, {"a": {"b": 1}}) == [Line(path="f.a.b", after="1")]


def test_deep_and_wide_objects_are_cut() -> None:
    wide = {str(number): number for number in range(100)}
    assert shown(None, wide)[-1] == Line(path="…", after="40 more")
    assert [line.path for line in shown(None, deep(9))] == ["f.a.a.a.a"]
