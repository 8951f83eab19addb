"""The approval page in a real browser: headless Chromium."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import get_args

import pytest
from chromium import emulated, until, violations
from selenium import webdriver
from selenium.webdriver import Keys
from selenium.webdriver.common.by import By

from adclient import AdClient, Draft
from adclient.testing import FakeAdService, Profile
from adclient.testing._fake.approval import DraftStatus
from adclient.testing.server import serving

ACCOUNT = "account_b204"


@pytest.fixture
def fake() -> FakeAdService:
    return FakeAdService()


@pytest.fixture
def url(fake: FakeAdService) -> Iterator[str]:
    with serving(fake) as url:
        yield url


@pytest.fixture
def client(url: str) -> Iterator[AdClient]:
    with AdClient(url) as client:
        yield client


class Page:
    def __init__(self, browser: webdriver.Chrome, url: str, path: str = "/approval") -> None:
        self.browser = browser
        browser.get(url + path)
        self.run("window.sameDocument = true")

    def run(self, script: str, *arguments: object) -> object:
        return self.browser.execute_script(script, *arguments)

    def until(self, met: Callable[[], object]) -> None:
        until(self.browser, met)

    def text(self, element_id: str) -> str:
        return self.browser.find_element(By.ID, element_id).text

    def press(self, draft: Draft, step: str) -> None:
        self.until(lambda: self.browser.find_element(By.ID, f"{draft.draft_id}-{step}"))
        self.browser.find_element(By.ID, f"{draft.draft_id}-{step}").click()

    def sign(self, name: str) -> None:
        self.browser.find_element(By.ID, "reviewer").send_keys(name)

    def focused(self) -> object:
        return self.run("return document.activeElement.id")

    def was_reloaded(self) -> bool:
        return self.run("return window.sameDocument") is not True


@contextmanager
def opened(browser: webdriver.Chrome, url: str, path: str = "/approval") -> Iterator[Page]:
    page = Page(browser, url, path)
    try:
        yield page
    finally:
        # The page polls its service: left open, it would log errors during the next test.
        browser.get("about:blank")


@pytest.fixture
def page(chromium: webdriver.Chrome, url: str) -> Iterator[Page]:
    with opened(chromium, url) as page:
        yield page
    complaints = [log for log in chromium.get_log("browser") if "409" not in log["message"]]
    assert complaints == []


def pause(client: AdClient) -> Draft:
    return client.beta.pause_campaign(account_id=ACCOUNT, campaign_id="campaign_57a7")


def status(client: AdClient) -> str:
    return client.beta.list_campaigns(account_id=ACCOUNT).data[0].status


def test_injected_script_is_blocked(page, chromium) -> None:
    page.run("""
        const made = document.createElement("script");
        made.textContent = "document.title = 'owned'";
        document.head.append(made);
    """)
    assert page.run("return document.title") == "Draft approval · fake ad service"
    refused = [log["message"] for log in chromium.get_log("browser")]
    assert any("Content Security Policy" in message for message in refused)


def test_keyboard_is_sufficient_and_focus_is_kept(client, page, fake) -> None:
    assert page.text("waiting") == "No drafts are waiting."
    drafts = [pause(client), pause(client)]
    page.sign("Ines")
    page.until(lambda: page.text(drafts[1].draft_id))
    keys = page.browser.switch_to
    # The link to the draft, and its two buttons.
    keys.active_element.send_keys(Keys.TAB, Keys.TAB)
    assert page.focused() == f"{drafts[0].draft_id}-reject"
    keys.active_element.send_keys(Keys.TAB)
    third = pause(client)
    page.until(lambda: page.text(third.draft_id))
    assert page.focused() == f"{drafts[0].draft_id}-arm"
    keys.active_element.send_keys(Keys.ENTER)
    page.until(lambda: page.text("message").startswith(f"{drafts[0].draft_id} is armed"))
    # Not on the next step, which a second press of the same key would trigger.
    assert page.focused() == drafts[0].draft_id
    keys.active_element.send_keys(Keys.TAB, Keys.TAB)
    page.run("document.getElementById(arguments[0]).focus()", f"{drafts[0].draft_id}-confirm")
    keys.active_element.send_keys(Keys.ENTER)
    page.until(lambda: page.text("message") == f"{drafts[0].draft_id} is applied.")
    assert page.focused() == "drafts-title"
    assert not page.was_reloaded()
    assert status(client) == "PAUSED"
    assert "applied" in page.text("trail")
    assert [e.actor for e in fake.dashboard.events][3:6] == ["Ines", "Ines", "service"]


LONG = {"name": "n", "text": "x" * 5000, **{f"label_{number}": number for number in range(60)}}

OUTSIDE = """
    return [...document.querySelectorAll("ins, th")].filter((element) => {
      const box = element.getBoundingClientRect();
      return box.left < 0 || box.right > innerWidth || (element.textContent && !box.width);
    }).map((element) => element.outerHTML);
"""


def test_every_part_of_a_whole_change_is_on_the_screen(client, page) -> None:
    deep: dict[str, object] = {"end": 1}
    for number in range(40):
        deep = {f"key_{number}": deep, "other": number}
    draft = client.beta.create_video_campaign(account_id=ACCOUNT, fields={**LONG, "deep": deep})
    page.press(draft, "whole")
    page.until(lambda: "key_0" in page.text(draft.draft_id))
    for width in (390, 1280):
        with emulated(page.browser, width=width):
            assert page.run(OUTSIDE) == []
            assert page.run("return document.documentElement.scrollWidth") <= width


def paths_of_every_state() -> tuple[FakeAdService, list[str]]:
    """A service with drafts in every state, and the pages that show them."""
    fake = FakeAdService(profile=Profile(two_reviewers=True))
    client, dashboard = fake.client(), fake.dashboard

    def approve(draft_id: str) -> str:
        dashboard.arm(draft_id, reviewer="Ines")
        return dashboard.confirm(draft_id, reviewer="Tove").draft_id

    def budget(amount: int) -> str:
        return client.alpha.update_campaign_budget(
            account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=amount
        ).draft_id

    expired = budget(110)
    fake.clock.advance(49 * 3600)
    stale, rejected = budget(120), budget(130)
    dashboard.reject(rejected, reviewer="Ines")
    applied = approve(budget(140))
    removal = approve(client.delta.remove_auto_search_themes(account_id="account_d118").draft_id)
    client.delta.update_keyword(
        account_id="account_d118", keywords=["outdoor jacket"], fields={"action": "PAUSE"}
    )
    part = client.beta.create_video_campaign(account_id=ACCOUNT, fields={**LONG, "name": "m"})
    armed = pause(client).draft_id
    dashboard.arm(armed, reviewer="Ines")
    closed = (expired, stale, rejected, applied, removal)
    alone = [f"/approval/drafts/{draft_id}" for draft_id in (*closed, part.draft_id, armed)]
    lists = ["/approval", "/approval?reviewer=Ines", f"/approval?draft={stale}"]
    return fake, [*lists, *alone]


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (1280, "light")])
def test_every_state_is_accessible_and_fits_its_window(chromium, scheme, width) -> None:
    fake, paths = paths_of_every_state()
    assert {draft.status for draft in fake.drafts} == {*get_args(DraftStatus)}
    with (
        serving(FakeAdService()) as empty,
        serving(fake) as full,
        emulated(chromium, width=width, scheme=scheme),
    ):
        for url in (f"{empty}/approval", *(full + path for path in paths)):
            with opened(chromium, url, "") as page:
                assert page.run("return document.documentElement.scrollWidth") <= width
                back = str(page.run("return getComputedStyle(document.body).backgroundColor"))
                assert ("rgb(18, " in back) == (scheme == "dark")
                assert violations(chromium, "incomplete") == [], url
