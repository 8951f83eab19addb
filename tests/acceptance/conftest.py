"""A browser and a PostgreSQL server, for the tests that need them."""

import shutil
from collections.abc import Iterator

import pytest
from postgres_server import server, where
from selenium import webdriver

__all__ = ["server", "where"]


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
    yield browser
    browser.quit()
