"""The page on which adclient and its fake run in the reader's browser: headless Chromium."""

import faulthandler
import gzip
import sys
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import monotonic

import pytest
from chromium import AXE, emulated
from selenium import webdriver
from selenium.webdriver import Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

sys.path.append(str(Path(__file__).parents[2] / "tools"))

from build_playground import build

MAX_DOWNLOAD = 8_000_000


class Site(ThreadingHTTPServer):
    """A host of static files that compresses what it sends, as hosts do, and counts it."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self.server_port}/playground/"
        self.sent: list[int] = []
        self.compressed = {
            file: gzip.compress(file.read_bytes(), 6)
            for file in folder.rglob("*")
            if file.is_file()
        }


class Handler(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        file = Path(self.translate_path(self.path))
        file = file / "index.html" if file.is_dir() else file
        body = self.server.compressed.get(file)
        if body is None:
            return self.send_error(404)
        kinds = {".mjs": "text/javascript", ".wasm": "application/wasm"}
        self.send_response(200)
        self.send_header("content-type", kinds.get(file.suffix) or self.guess_type(file))
        self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.server.sent.append(len(body))
        return self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class Page:
    """The page, and the time since its address was entered."""

    def __init__(self, browser: webdriver.Chrome, url: str) -> None:
        self.browser, self.began = browser, monotonic()
        browser.get(url)
        self.examples = browser.find_elements(By.TAG_NAME, "form")

    def until(self, met: Callable[[], object], seconds: float = 30) -> None:
        ignored = (Exception,)
        wait = WebDriverWait(self.browser, seconds, poll_frequency=0.05, ignored_exceptions=ignored)
        wait.until(lambda _: met())

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
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    faulthandler.cancel_dump_traceback_later()  # npm may take longer than a test is allowed to
    folder = tmp_path_factory.mktemp("site")
    build(folder / "playground")
    with Site(folder) as site:
        thread = Thread(target=site.serve_forever)
        thread.start()
        yield site
        site.shutdown()
        thread.join()


@pytest.fixture
def page(chromium: webdriver.Chrome, site: Site) -> Iterator[Page]:
    chromium.get_log("browser")
    site.sent.clear()
    yield Page(chromium, site.url)
    chromium.get("about:blank")
    # A service worker would live on, and with it what the browser has loaded.
    origin = {"origin": site.url, "storageTypes": "all"}
    chromium.execute_cdp_cmd("Storage.clearDataForOrigin", origin)
    chromium.execute_cdp_cmd("Network.clearBrowserCache", {})
    assert chromium.get_log("browser") == []


def requested(browser: webdriver.Chrome) -> list[str]:
    """The addresses that the page itself loaded."""
    script = "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    return browser.execute_script(script)


def test_tutorial_runs_and_its_draft_is_approved_on_the_page(page, site, chromium, capsys) -> None:
    titles = [title.text for title in chromium.find_elements(By.TAG_NAME, "h2")]
    assert titles[2:5] == ["3. Stage the change", "4. Approve it now", "5. See the change live"]
    page.until_state_is("No draft is staged yet.")
    outputs = [page.run_as_expected(example, seconds=120) for example in page.examples[:4]]
    seconds = monotonic() - page.began
    assert outputs[0].startswith("campaign_57a7 ENABLED")
    assert outputs[3] == "draft_35ea pending_approval\nstatus: ENABLED → PAUSED"
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
    assert all(url.startswith(site.url) for url in requested(chromium))
    chromium.switch_to.default_content()
    page.until_state_is("draft_35ea: applied")
    assert page.run_as_expected(page.examples[5]) == "PAUSED"
    assert page.run_as_expected(page.examples[6]).startswith("404 campaign_not_found")
    assert page.run_as_expected(page.examples[7]).endswith("drafts at the service: 1")
    assert len(page.examples) == 8
    assert all(url.startswith(site.url) for url in requested(chromium))
    assert 7_000_000 < sum(site.sent) <= MAX_DOWNLOAD
    with capsys.disabled():
        print(f"\n{sum(site.sent):,} bytes; the first draft after {seconds:.1f} s")


def test_example_first_runs_those_above_it_that_were_left_out(page) -> None:
    assert page.run_as_expected(page.examples[2], seconds=120).startswith("SPR26")
    outputs = [example.find_element(By.TAG_NAME, "output").text for example in page.examples]
    assert outputs[1] == "50 on this page, 62 on all pages"
    assert [bool(output) for output in outputs] == [True] * 3 + [False] * 5
    page.browser.execute_script("arguments[0].replaceChildren()", page.output_of(page.examples[0]))
    assert page.run(page.examples[1]) == outputs[1]
    assert page.output_of(page.examples[0]).text == ""  # it ran only once


def test_values_are_displayed_as_in_a_notebook(page) -> None:
    page.run(page.examples[0], seconds=120)
    card = page.run_code("""await service.async_client().beta.pause_campaign(
account_id="account_b204", campaign_id="campaign_57a7")""")
    assert card.find_element(By.CSS_SELECTOR, "table").text.endswith("ENABLED → PAUSED")
    assert page.run_code("print('<b>')\n6 * 7").text == "<b>\n42"
    failed = page.run_code("1 / 0")
    assert failed.text.startswith('Traceback (most recent call last):\n  File "<example>", line 1')
    assert failed.text.endswith("ZeroDivisionError: division by zero")


@pytest.mark.parametrize("width", [390, 1280])
def test_approval_page_is_beside_the_steps_or_within_its_own(page, chromium, width) -> None:
    with emulated(chromium, width=width):
        for example in page.examples[:4]:
            page.run(example, seconds=120)
        page.until(lambda: chromium.find_element(By.ID, "approval").get_attribute("src"))
        place = chromium.find_element(By.ID, "approval").rect
        state = chromium.find_element(By.ID, "state").rect
        following = chromium.find_element(By.ID, "step-5").rect
        if width == 1280:
            assert place["x"] >= state["x"] + state["width"]
            assert place["y"] + place["height"] <= 800 + chromium.execute_script("return scrollY")
        else:
            assert state["y"] + state["height"] <= place["y"]
            assert place["y"] + place["height"] <= following["y"]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_accessible_and_fits_its_window(page, chromium, scheme, width) -> None:
    with emulated(chromium, width=width, scheme=scheme):
        for example in page.examples[:4]:
            page.run(example, seconds=120)
        page.run_code("draft")
        page.until(lambda: chromium.find_element(By.ID, "approval").get_attribute("src"))
        assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
        back = chromium.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert ("rgb(18, " in back) == (scheme == "dark")
        chromium.execute_script(AXE)
        found = chromium.execute_async_script(
            """
            const done = arguments[0];
            // The frame is checked by itself; axe cannot decide about the card's faint text.
            axe.run({ exclude: ["iframe", "td"] }).then(({ violations, incomplete }) => done(
              [...violations, ...incomplete].map(({ id, nodes }) =>
                [id, nodes.map(({ html }) => html)])));
            """
        )
        assert found == []
