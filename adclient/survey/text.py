"""Reports as text and Markdown."""

import re
from collections.abc import Iterable, Sequence
from textwrap import fill


def wrapped(lines: Iterable[str], indent: int = 0) -> list[str]:
    """Lines of at most 79 columns, whose continuations are indented."""
    return [fill(line, width=79, subsequent_indent=" " * indent) for line in lines]


def span(text: str) -> str:
    """A span of code, in which nothing of the service is a link, a mention or HTML."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    blank = " " * ("`" in text)
    return f"{fence}{blank}{text}{blank}{fence}" if text else ""


def table(title: Sequence[str], *rows: Sequence[str]) -> list[str]:
    """The lines of a table in Markdown."""
    cells = [
        [each.replace("|", "\\|") for each in row] for row in (title, ["---"] * len(title), *rows)
    ]
    return [f"| {' | '.join(row)} |" for row in cells]
