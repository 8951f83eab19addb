"""The built site: its pages and their links. Run `nox -s docs`."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

from built import PAGES, ROOT, SITE, URL, document
from cases import each_case
from markdown_it import MarkdownIt

SCHEMES = ("only-light", "only-dark")  # of a picture
REPOSITORY = "https://github.com/adclient/adclient/blob/main/"


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
        elif fragment not in ("", *SCHEMES):
            ids = document(page.replace(".md", ".html")).ids
            found += [] if unquote(fragment) in ids else [link]
    return found


def test_pages_were_built() -> None:
    sources = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    assert len(PAGES) == len(sources)  # 404.html is one more, and the playground one less


@each_case("page", *PAGES)
def test_links_of_a_page_lead_somewhere_and_it_loads_nothing_from_elsewhere(page) -> None:
    found = document(page)
    assert missing(page, found.links + found.loaded) == []
    assert found.loaded
    addresses = [urljoin(URL + page, url) for url in found.loaded]
    assert [url for url in addresses if not url.startswith((URL, "data:"))] == []
    if page != "404.html":
        links = [link for link in found.links if "playground" in link]
        assert links  # in the navigation
        assert [it for it in links if not re.fullmatch(r"(\.\./)*(\./)?playground/", it)] == []


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
    return [str(it.attrs[names[it.type]]) for it in tokens_of(markdown) if it.type in names]


def test_each_page_has_a_version_in_markdown_that_llms_txt_lists() -> None:
    pages = [page for page in PAGES if page != "404.html"]
    assert sorted([*pages, "playground/index.html"]) == [
        page.replace(".md", ".html") for page in MARKDOWN
    ]
    assert sorted(link.removeprefix(URL) for link in links_of(LLMS)) == MARKDOWN


@each_case("page", *MARKDOWN, "llms.txt")
def test_page_in_markdown_has_links_that_lead_somewhere_and_no_directives(page) -> None:
    text = (SITE / page).read_text("utf-8")
    assert missing(page.replace(".md", ".html"), links_of(text)) == []
    assert not re.search(r"^:::", text, re.MULTILINE)


# The sources, as the host of the code shows them.

SOURCES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@cache
def anchors_of(path: Path) -> set[str]:
    """The anchors of the headings of a Markdown file, on the host of the code."""
    tokens = MarkdownIt("commonmark").parse(path.read_text("utf-8"))
    pairs = pairwise(tokens)
    headings = [text.content for token, text in pairs if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


@each_case("path", *SOURCES)
def test_links_of_a_source_lead_somewhere(path) -> None:
    for link in links_of(path.read_text("utf-8")):
        address, fragment = urldefrag(link)
        target = (path.parent / unquote(address)) if address else path
        if link.startswith(REPOSITORY):
            target, fragment = ROOT / link.removeprefix(REPOSITORY), ""
        elif "://" in link:
            continue
        assert target.exists(), link
        # Those of public names are on the site alone.
        if fragment not in ("", *SCHEMES) and not fragment.startswith("adclient."):
            assert fragment in anchors_of(target.resolve()), link


# What is made when the site is built.


def test_links_of_the_playground_lead_back_to_the_site() -> None:
    links = document("playground/index.html").links
    assert {"../", "../tutorial/"} < set(links)
    assert missing("playground/index.html", links) == []
