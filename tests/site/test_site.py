"""The built site: its links, what it loads, and each page in a browser. Run `nox -s docs`."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from chromium import emulated, violations
from markdown_it import MarkdownIt
from selenium import webdriver
from selenium.webdriver.support.wait import WebDriverWait

ROOT = Path(__file__).parent.parent.parent
SITE = ROOT / "site"
URL = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["site_url"]
REPOSITORY = "https://github.com/adclient/adclient/blob/main/"
# Without the playground, which tests/acceptance tries.
BUILT = [path.relative_to(SITE) for path in SITE.rglob("*.html")]
PAGES = sorted(path.as_posix() for path in BUILT if path.parts[0] != "playground")
ADDRESSES = [page.removesuffix("index.html") for page in PAGES]


class Document(HTMLParser):
    """The ids of a page, where its links lead, and what a browser loads with it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link" and values["rel"] not in ("canonical", "prev", "next", "alternate"):
            self.loaded.append(values["href"])
        elif "src" in values:
            self.loaded.append(values["src"])


@cache
def document(page: str) -> Document:
    return Document((SITE / page).read_text("utf-8"))


def missing(base: str, links: list[str]) -> list[str]:
    """The links of the page at an address of the site that lead nowhere in it."""
    found = []
    for link in links:
        address, fragment = urldefrag(urljoin(URL + base, link))
        if not address.startswith(URL):
            continue
        path = unquote(address.removeprefix(URL))
        page = f"{path}index.html" if path == "" or path.endswith("/") else path
        if not (SITE / page).is_file():
            found.append(link)
        elif fragment:
            ids = document(page.replace(".md", ".html")).ids
            found += [] if unquote(fragment) in ids else [link]
    return found


def test_pages_were_built() -> None:
    sources = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    assert len(PAGES) == len(sources) + 1  # 404.html


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_somewhere(page) -> None:
    found = document(page)
    assert missing(page, found.links + found.loaded) == []


@pytest.mark.parametrize("page", PAGES)
def test_page_loads_nothing_from_elsewhere(page) -> None:
    loaded = document(page).loaded
    assert loaded
    assert [url for url in loaded if not urljoin(URL + page, url).startswith((URL, "data:"))] == []


def test_styles_load_nothing_from_elsewhere() -> None:
    styles = [path.read_text("utf-8") for path in SITE.rglob("*.css")]
    assert styles
    assert not [url for css in styles for url in re.findall(r"url\([\"']?(?:https?:)?//[^)]+", css)]
    assert not [css for css in styles if "@import" in css]


# For models: `llms.txt`, and each page as Markdown.

MARKDOWN = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.md"))
LLMS = (SITE / "llms.txt").read_text("utf-8") if (SITE / "llms.txt").is_file() else ""


def tokens_of(markdown: str) -> Iterator:
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        yield token
        yield from token.children or []


def links_of(markdown: str) -> list[str]:
    names = {"link_open": "href", "image": "src"}
    return [
        str(token.attrs[names[token.type]]) for token in tokens_of(markdown) if token.type in names
    ]


def test_each_page_has_a_version_in_markdown_that_llms_txt_lists() -> None:
    pages = [page.replace(".html", ".md") for page in PAGES if page != "404.html"]
    assert pages == MARKDOWN
    assert sorted(link.removeprefix(URL) for link in links_of(LLMS)) == MARKDOWN


@pytest.mark.parametrize("page", [*MARKDOWN, "llms.txt"])
def test_links_of_a_page_in_markdown_lead_somewhere(page) -> None:
    text = (SITE / page).read_text("utf-8")
    assert missing(page.replace(".md", ".html"), links_of(text)) == []


@pytest.mark.parametrize("page", MARKDOWN)
def test_page_in_markdown_has_no_directives(page) -> None:
    assert not re.search(r"^:::", (SITE / page).read_text("utf-8"), re.MULTILINE)


# The sources, as the host of the code shows them.

SOURCES = [
    *sorted(path for path in ROOT.glob("*.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md")),
]


@cache
def anchors_of(path: Path) -> set[str]:
    """The anchors of the headings of a Markdown file, on the host of the code."""
    tokens = MarkdownIt("commonmark").parse(path.read_text("utf-8"))
    pairs = pairwise(tokens)
    headings = [text.content for token, text in pairs if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_of_a_source_lead_somewhere(path) -> None:
    for link in links_of(path.read_text("utf-8")):
        if link.startswith(REPOSITORY):
            target, fragment = ROOT / link.removeprefix(REPOSITORY), ""
        elif "://" in link:
            continue
        else:
            address, fragment = urldefrag(link)
            target = (path.parent / unquote(address)) if address else path
        assert target.exists(), link
        # Those of public names are on the site alone.
        if fragment and not fragment.startswith("adclient."):
            assert fragment in anchors_of(target.resolve()), link


# In a browser.


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site below the path that it will have, to which its 404 page links."""
    folder, path = tmp_path_factory.mktemp("host"), urlsplit(URL).path
    (folder / path.strip("/")).symlink_to(SITE)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
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
    assert [each for each in loaded if not each.startswith(url)] == []
    assert chromium.get_log("browser") == []


def scheme_of(browser: webdriver.Chrome) -> object:
    return browser.execute_script("return document.body.dataset.mdColorScheme")


# Thousands of tokens with two dozen styles: axe takes four times as long to look at each of them.
KEEP_ONE_TOKEN_OF_EACH_STYLE = """
    const seen = new Set();
    for (const token of document.querySelectorAll("pre > code span:not(:has(*))")) {
      const style = `${token.className} ${getComputedStyle(token).color}`;
      if (seen.has(style)) token.replaceWith(token.textContent);
      seen.add(style);
    }
"""


def check(browser: webdriver.Chrome, url: str, *, width: int, scheme: str) -> None:
    with emulated(browser, width=width, scheme=scheme):
        browser.get(url)
        expected = {"light": "default", "dark": "slate"}[scheme]
        WebDriverWait(browser, 10).until(lambda _: scheme_of(browser) == expected)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        browser.execute_script(KEEP_ONE_TOKEN_OF_EACH_STYLE)
        assert violations(browser) == []


# The colours do not depend on the width, so each is tested with one width.


@pytest.mark.parametrize("address", ADDRESSES)
def test_page_is_accessible_when_narrow_and_light(browser, url, address) -> None:
    check(browser, url + address, width=375, scheme="light")


@pytest.mark.parametrize("address", ADDRESSES)
def test_page_is_accessible_when_wide_and_dark(browser, url, address) -> None:
    check(browser, url + address, width=1280, scheme="dark")
