"""The built site: its pages and their links. Run `nox -s docs`."""

import json
import re
import struct
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from built import PAGES, ROOT, SITE, URL, document
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
    pages = [page for page in PAGES if page != "404.html"]
    assert sorted([*pages, "playground/index.html"]) == [
        page.replace(".md", ".html") for page in MARKDOWN
    ]
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
        if fragment not in ("", *SCHEMES) and not fragment.startswith("adclient."):
            assert fragment in anchors_of(target.resolve()), link


# What is made when the site is built.


def html_of(page: str) -> str:
    return (SITE / page / "index.html").read_text("utf-8")


def test_changelog_is_a_page() -> None:
    headings = re.findall(r"^##+ (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    shown = re.findall(r"<h[23] id=[^>]+>(.+?)<a class=\"headerlink\"", html_of("changelog"))
    assert shown == headings


PAGES_OF_NOTEBOOKS = {
    name: path.stem
    for path in (ROOT / "docs" / "notebooks").glob("*.md")
    for name in re.findall(r"notebook\(\"(.+)\"\)", path.read_text("utf-8"))
}


def test_each_notebook_has_a_page() -> None:
    assert sorted(PAGES_OF_NOTEBOOKS) == sorted(
        path.stem for path in (ROOT / "examples").glob("*.ipynb")
    )


@pytest.mark.parametrize("name", PAGES_OF_NOTEBOOKS)
def test_notebook_is_shown_with_its_outputs(name) -> None:
    cells = json.loads((ROOT / "examples" / f"{name}.ipynb").read_text("utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    data = [output.get("data", {}) for output in outputs]
    pictures = sum("image/png" in each for each in data)
    tables = sum("".join(each.get("text/html", "")).count("<table") for each in data)
    html = html_of(f"notebooks/{PAGES_OF_NOTEBOOKS[name]}")
    assert html.count('<p class="output"><img src="data:image/png;base64,') == pictures > 0
    assert html.count("<table") == tables > 0
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    texts = sum(not {"image/png", "text/html"} & set(each) for each in data)
    assert html.count("<pre>") == len(code) + texts


@pytest.mark.parametrize("name", PAGES_OF_NOTEBOOKS.values())
def test_data_frames_have_one_row_of_headings(name) -> None:
    heads = re.findall(r"<thead>.*?</thead>", html_of(f"notebooks/{name}"), re.DOTALL)
    assert heads
    assert [head for head in heads if head.count("<tr") != 1] == []
    assert [head for head in heads if re.search(r"<t[hd][^>]*></t", head)] == []


@pytest.mark.parametrize("page", PAGES)
def test_page_has_the_icon_and_a_social_card(page) -> None:
    html = (SITE / page).read_text("utf-8")
    [icon] = re.findall(r'<link rel="icon" href="([^"]+)"', html)
    assert urljoin(URL + page, icon) == f"{URL}assets/icon.svg"
    [card] = re.findall(r'<meta property="og:image" content="([^"]+)"', html)
    header = (SITE / card.removeprefix(URL)).read_bytes()[:24]
    assert struct.unpack(">8x4x4sII", header) == (b"IHDR", 1200, 630)
    [title] = re.findall(r'<meta property="og:title" content="([^"]+)"', html)
    assert title


@pytest.mark.parametrize("page", [page for page in PAGES if page != "404.html"])
def test_links_to_the_playground_are_relative(page) -> None:
    links = [link for link in document(page).links if "playground" in link]
    assert links  # in the navigation
    assert [link for link in links if not re.fullmatch(r"(\.\./)*(\./)?playground/", link)] == []


def test_links_of_the_playground_lead_back_to_the_site() -> None:
    links = document("playground/index.html").links
    assert {"../", "../tutorial/"} < set(links)
    assert missing("playground/index.html", links) == []


def test_tabs_are_tabs() -> None:
    for source in (ROOT / "docs").rglob("*.md"):
        tabs = source.read_text("utf-8").count("\n/// tab |")
        page = source.relative_to(ROOT / "docs").with_suffix("")
        html = html_of(str(page.parent if page.name == "index" else page))
        assert html.count('<div class="tabbed-block">') == tabs, source
        assert not re.search(r"<p>///|\n///", html), source


def test_excerpts_of_the_search_have_no_entities() -> None:
    index = json.loads((SITE / "search.json").read_text("utf-8"))
    texts = [item[name] for item in index["items"] for name in ("title", "text")]
    # The search decodes these three once.
    plain = [re.sub("&(?:amp|lt|gt);", "", text) for text in texts]
    assert [text for text in plain if re.search(r"&#?\w+;", text)] == []
    assert not [text for text in texts if re.search(r"&amp;#?\w+;", text)]
