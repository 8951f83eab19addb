"""The built site on a server, and headless Chromium to look at it."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest
from built import SITE, URL
from chromium import chromium as chromium
from selenium import webdriver


class Host(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site below the path that it will have, to which its 404 page links."""
    folder, path = tmp_path_factory.mktemp("host"), urlsplit(URL).path
    (folder / path.strip("/")).symlink_to(SITE)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{path}"
        server.shutdown()


@pytest.fixture
def browser(chromium: webdriver.Chrome, url: str) -> Iterator[webdriver.Chrome]:
    """Chromium; a test fails if a page complains, or loads something from elsewhere."""
    yield chromium
    loaded = chromium.execute_script(
        "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    )
    assert loaded
    assert [each for each in loaded if not each.startswith((url, "data:"))] == []
    assert chromium.get_log("browser") == []
