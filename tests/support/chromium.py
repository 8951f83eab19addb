"""Headless Chromium, and axe in it, for tests of pages."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files

import pytest
from selenium import webdriver
from selenium.webdriver.support.wait import WebDriverWait

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


@pytest.fixture(scope="session")
def chromium() -> Iterator[webdriver.Chrome]:
    found = [shutil.which(name) for name in ("chromium", "google-chrome", "chromium-browser")]
    binary, driver = next(filter(None, found), None), shutil.which("chromedriver")
    assert binary, "Chromium must be installed: apt-get install chromium"
    assert driver, "its driver must be installed: apt-get install chromium-driver"
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    # Containers have no sandbox and little shared memory.
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu"):
        options.add_argument(f"--{argument}")
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    browser.set_script_timeout(300)  # axe takes its time for a long page on a busy machine
    yield browser
    browser.quit()


def until(browser: webdriver.Chrome, met: Callable[[], object], seconds: float = 30) -> None:
    """Wait until something is so, and does not raise."""
    wait = WebDriverWait(browser, seconds, poll_frequency=0.05, ignored_exceptions=(Exception,))
    wait.until(lambda _: met())


@contextmanager
def emulated(browser: webdriver.Chrome, *, width: int, scheme: str = "light") -> Iterator[None]:
    """A window of a width, with the system's choice of light or dark."""
    command = browser.execute_cdp_cmd
    media = [{"name": "prefers-color-scheme", "value": scheme}]
    command("Emulation.setEmulatedMedia", {"features": media})
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    command("Emulation.setDeviceMetricsOverride", size)
    yield
    command("Emulation.clearDeviceMetricsOverride", {})
    command("Emulation.setEmulatedMedia", {"features": []})


def violations(browser: webdriver.Chrome, *more: str, exclude: Sequence[str] = ()) -> list[object]:
    """What axe objects to in the present page, and with `"incomplete"` what it cannot decide."""
    browser.execute_script(AXE)
    return browser.execute_async_script(
        """
        const [exclude, resultTypes, done] = arguments;
        axe.run({ exclude }, { resultTypes }).then((results) => done(
          resultTypes.flatMap((type) => results[type]).map(({ id, nodes }) =>
            [id, nodes.map(({ html }) => html)])));
        """,
        list(exclude),
        ["violations", *more],
    )
