"""What a terminal shows: messages, colours, and lines of its width."""

import argparse
import json
import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from shutil import get_terminal_size
from typing import TYPE_CHECKING, TextIO
from unicodedata import category, east_asian_width

from adclient._show.progress import draw_line, erase_line as erase_line

if TYPE_CHECKING:
    from adclient._show.reports import ReportRecord
    from adclient._values.json_values import JSON

RED, GREEN, YELLOW, BOLD = "31", "32", "33", "1"
# What the first line of a paragraph begins with: blanks, and cells of a table.
_HEAD = re.compile(r" *(?:\S+(?: \S+)* {2,})*")


def tell(text: str, colour: str = RED) -> None:
    """Write one message to standard error, also while a progress bar is drawn there."""
    from adclient._values.redact import one_line  # deferred: slow to import

    with suppress(OSError):  # there is nowhere to report it
        erase_line()
        name = painted("adclient:", colour, sys.stderr)
        message = for_people(f"adclient: {one_line(text, 1000)}", sys.stderr)
        print(message.replace("adclient:", name, 1), file=sys.stderr)


def tell_step(text: str) -> None:
    """Write what is done now to standard error; a terminal shows only the last step."""
    if sys.stderr.isatty():
        draw_line(text)
    else:
        tell(text, BOLD)


def show(text: str) -> None:
    """Print a text for people to standard output."""
    erase_line()
    print(for_people(text, sys.stdout))


def show_report(report: "ReportRecord", options: argparse.Namespace, **more: "JSON") -> None:
    """Print a report as text, Markdown or JSON."""
    erase_line()
    if options.json:
        print(json.dumps({**report.to_dict(), **more}, indent=2))
    elif options.markdown:
        print(report.markdown(), end="")
    else:
        show(str(report))


def for_people(text: str, stream: TextIO) -> str:
    """A text whose lines a terminal does not break within words."""
    return wrapped(text, get_terminal_size().columns - 1) if stream.isatty() else text


def painted(text: str, colour: str, stream: TextIO) -> str:
    """A text in a colour, if the stream is a terminal that has colours."""
    # An old console of Windows prints what is meant to change its colour.
    is_able = stream.isatty() and (os.name != "nt" or "WT_SESSION" in os.environ)
    is_able &= os.environ.get("TERM") != "dumb"
    is_asked = is_able or bool(os.environ.get("FORCE_COLOR"))
    return f"\x1b[{colour}m{text}\x1b[m" if is_asked and not os.environ.get("NO_COLOR") else text


def wrapped(text: str, width: int) -> str:
    """A text whose lines end at words; what follows a cell of a table is indented like it.

    A line of a shell stays whole, so that it can be copied.
    """
    lines: list[str] = []
    for paragraph in text.splitlines():
        indent = len(paragraph) - len(_HEAD.sub("", paragraph, count=1))
        first, *words = paragraph[indent:].split(" ")
        line = paragraph[:indent] + first
        for word in words:
            if width_of(f"{line} {word}") <= width or paragraph.startswith("  adclient "):
                line += f" {word}"
            else:
                lines.append(line)
                line = " " * min(indent, width // 2) + word
        lines.append(line)
    return "\n".join(lines)


def width_of(text: str) -> int:
    """Count the cells of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(c) in "FW" else category(c) not in ("Mn", "Me") for c in text)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The known name that is most like another one, as the end of a sentence; or nothing."""
    names = [*known]
    # `campaigns` is like the end of `beta.campaigns`.
    ends = {each.rpartition(".")[2]: each for each in reversed(names)}
    near = get_close_matches(name, names, 1) or get_close_matches(name, ends, 1)
    return f": did you mean {ends.get(near[0], near[0])}?" if near else ""
