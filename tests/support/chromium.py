"""Headless Chromium, and axe in it, for tests of pages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files

import pytest
from selenium import webdriver

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


def violations(
    browser: webdriver.Chrome, *more: str, rules: list[str] | None = None
) -> list[object]:
    """What axe objects to in the present page, and with `"incomplete"` what it cannot decide.

    All its rules apply, or those that are named.
    """
    browser.execute_script(AXE)
    return browser.execute_async_script(
        """
        const [resultTypes, rules, done] = arguments;
        axe.run(rules ? { resultTypes, runOnly: rules } : { resultTypes }).then((results) => done(
          resultTypes.flatMap((type) => results[type]).map(({ id, nodes }) =>
            [id, nodes.map(({ html }) => html)])));
        """,
        ["violations", *more],
        rules,
    )
