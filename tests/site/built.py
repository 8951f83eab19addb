"""The built site, as `nox -s docs` leaves it in `site/`."""

import tomllib
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
URL = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["site_url"]
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
