"""The page on which adclient and its fake run in the reader's browser: headless Chromium."""

import faulthandler
import sys
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from chromium import emulated, until, violations
from selenium import webdriver
from selenium.webdriver import Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

sys.path.append(str(Path(__file__).parents[2] / "tools"))

from build_playground import build


class Host(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Print nothing."""


class Page:
    def __init__(self, browser: webdriver.Chrome, url: str) -> None:
        self.browser = browser
        browser.get(url)
        self.examples = browser.find_elements(By.TAG_NAME, "form")

    def until(self, met: Callable[[], object], seconds: float = 30) -> None:
        until(self.browser, met, seconds)

    def run(self, example: WebElement, seconds: float = 30) -> str:
        """What an example displays."""
        example.find_element(By.TAG_NAME, "button").click()
        return self.output_of(example, seconds).text

    def run_as_expected(self, example: WebElement, seconds: float = 30) -> str:
        """What an example prints, which the page has announced."""
        expected = example.find_element(By.CSS_SELECTOR, "details pre").text
        assert self.run(example, seconds) == expected != ""
        assert example.find_element(By.TAG_NAME, "summary").text == "The output is as expected"
        return expected

    def until_state_is(self, text: str) -> None:
        self.browser.switch_to.default_content()
        self.until(lambda: self.browser.find_element(By.ID, "state").text == text)

    def run_code(self, code: str) -> WebElement:
        """Change the last example and run it with the keyboard; its output."""
        area = self.examples[-1].find_element(By.TAG_NAME, "textarea")
        area.clear()
        area.send_keys(code, Keys.SHIFT + Keys.ENTER)
        return self.output_of(self.examples[-1])

    def output_of(self, example: WebElement, seconds: float = 30) -> WebElement:
        output = example.find_element(By.TAG_NAME, "output")
        self.until(lambda: output.get_attribute("aria-busy") is None, seconds)
        return output

    def press(self, element_id: str) -> None:
        # The page may replace the button meanwhile, as it follows its drafts.
        self.until(lambda: self.browser.find_element(By.ID, element_id).click() is None)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    faulthandler.cancel_dump_traceback_later()  # npm may take longer than a test is allowed to
    folder = tmp_path_factory.mktemp("site")
    build(folder / "playground")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/playground/"
        server.shutdown()


@pytest.fixture
def page(chromium: webdriver.Chrome, url: str) -> Iterator[Page]:
    chromium.get_log("browser")
    yield Page(chromium, url)
    chromium.get("about:blank")
    assert chromium.get_log("browser") == []


def requested(browser: webdriver.Chrome) -> list[str]:
    """The addresses that the page itself loaded."""
    script = "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    return browser.execute_script(script)


def test_tutorial_runs_and_its_draft_is_approved_on_the_page(page, url, chromium) -> None:
    with emulated(chromium, width=1280):
        follow_the_tutorial(page, url, chromium)
        # Values are displayed as in a notebook.
        card = page.run_code("""await service.async_client().beta.pause_campaign(
account_id="account_b204", campaign_id="campaign_cb1a")""")
        assert card.find_element(By.CSS_SELECTOR, "table").text.endswith("ENABLED → PAUSED")
        assert chromium.execute_script("return document.documentElement.scrollWidth") <= 1280
        # The frame is checked by itself; axe cannot decide about the card's faint text.
        assert violations(chromium, "incomplete", exclude=["iframe", "td"]) == []
        assert page.run_code("print('<b>')\n6 * 7").text == "<b>\n42"
        failed = page.run_code("1 / 0")
    assert failed.text.startswith('Traceback (most recent call last):\n  File "<example>", line 1')
    assert failed.text.endswith("ZeroDivisionError: division by zero")


def follow_the_tutorial(page: Page, url: str, chromium: webdriver.Chrome) -> None:
    titles = [title.text for title in chromium.find_elements(By.TAG_NAME, "h2")]
    assert titles[2:5] == ["3. Stage the change", "4. Approve it now", "5. See the change live"]
    page.until_state_is("No draft is staged yet.")
    outputs = [page.run_as_expected(example, seconds=120) for example in page.examples[:4]]
    assert outputs[0].startswith("campaign_57a7 ENABLED")
    assert outputs[3] == "draft_35ea pending_approval\nstatus: ENABLED -> PAUSED"
    assert page.run_as_expected(page.examples[4]) == "ENABLED"
    page.until_state_is("draft_35ea: pending_approval")
    assert page.run(page.examples[5]) == "ENABLED"
    assert page.examples[5].find_element(By.TAG_NAME, "summary").text == "Expected output"
    chromium.switch_to.frame("approval")
    page.until(lambda: chromium.find_element(By.ID, "reviewer"))
    chromium.find_element(By.ID, "reviewer").send_keys("Ines")
    page.press("draft_35ea-arm")
    page.until_state_is("draft_35ea: armed")
    chromium.switch_to.frame("approval")
    page.press("draft_35ea-confirm")
    message = "draft_35ea is applied."
    page.until(lambda: chromium.find_element(By.ID, "message").text == message)
    assert all(each.startswith(url) for each in requested(chromium))
    chromium.switch_to.default_content()
    page.until_state_is("draft_35ea: applied")
    assert page.run_as_expected(page.examples[5]) == "PAUSED"
    assert page.run_as_expected(page.examples[6]).startswith("404 campaign_not_found")
    assert page.run_as_expected(page.examples[7]).endswith("drafts at the service: 1")
    assert len(page.examples) == 8
    assert all(each.startswith(url) for each in requested(chromium))
