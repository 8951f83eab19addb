"""The output of subcommands: tables, lines of JSON, and CSV that is safe in a spreadsheet."""

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from importlib import import_module
from json.encoder import encode_basestring_ascii
from shutil import get_terminal_size
from unicodedata import category, east_asian_width

from adclient._show.html import ranked_columns
from adclient._tables.items import Items
from adclient._tables.records import by_name, json_text
from adclient._values.text import WHOLE, short
from adclient.models import Item

Rows = Sequence[Mapping[str, object]]

_GAP = "  "
_SPECIAL = re.compile(r'[",\t\r\n=+\-@＝＋－＠]')  # which most cells do not contain
_QUOTED = re.compile(r'[",\r\n]')
# Where a spreadsheet may see a formula, also in the full width of East Asian scripts. Where commas
# are decimal points, it separates cells by semicolons, and ignores quotes between them.
_FORMULA = re.compile(r"^(?=[\t\r\n])|(?:^|(?<=[;\t\r\n]))(?=\s*[=+\-@＝＋－＠])")


def add_arguments(parser: argparse.ArgumentParser) -> Callable[..., object]:
    """Describe the options for the shape of the output; what is returned adds another shape."""
    shape = parser.add_argument_group("output").add_mutually_exclusive_group()
    for name, about in {
        "table": "a table that fits the terminal: the default on a terminal",
        "json": "one JSON object per line: the default elsewhere",
        "csv": "CSV; apostrophes keep a spreadsheet from taking texts for formulas",
    }.items():
        shape.add_argument(f"--{name}", action="store_const", const=name, dest="shape", help=about)
    return shape.add_argument


def shape_of(options: argparse.Namespace) -> str:
    """The shape that was asked for, else what suits standard output."""
    shape: str | None = options.shape
    return shape or ("table" if sys.stdout.isatty() else "json")


def write(rows: Rows, shape: str, below: Sequence[str] = ()) -> None:
    """Write rows to standard output; a table has a whole line below each, if there are any."""
    if shape == "table":
        _write_table(rows, below)
    elif shape == "json":
        for row in rows:
            print(json_line(row))
    else:
        columns, is_shown = by_name(rows), sys.stdout.isatty()
        for cells in (columns, *zip(*columns.values(), strict=True)):
            line = ",".join(map(_csv_cell, cells))
            # A file has the exact texts, but a terminal would follow their control characters.
            print(short(line, WHOLE) if is_shown else line)
    sys.stdout.flush()


def write_parquet(path: str, items: Items[Item]) -> None:
    """Write items to a Parquet file."""
    # A plain import would need types that pyarrow does not have.
    import_module("pyarrow.parquet").write_table(items.to_arrow(), path)


def json_line(value: object) -> str:
    """A value as one line of JSON that a terminal shows as it is."""
    text = json_text(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else encode_basestring_ascii(c)[1:-1] for c in text)


def _csv_cell(value: object) -> str:
    text = value if isinstance(value, str) else "" if value is None else json_text(value)
    if not _SPECIAL.search(text):
        return text
    if not isinstance(value, int | float | Decimal):
        text = _FORMULA.sub("'", text)
    # The module `csv` does not quote every line break.
    return '"{}"'.format(text.replace('"', '""')) if _QUOTED.search(text) else text


def _write_table(rows: Rows, below: Sequence[str]) -> None:
    if not rows:
        print("(nothing)")
        return
    names, numbers = ranked_columns(rows)
    texts = {
        name: [short(text) for text in (name, *(row.get(name, "") for row in rows))]
        for name in names
    }
    widths = _fitting({name: max(map(_width, cells)) for name, cells in texts.items()})
    for number in range(len(rows) + 1):
        cells = (_padded(texts[name][number], widths[name], name in numbers) for name in widths)
        print(_GAP.join(cells).rstrip())
        for line in below[number - 1 : number] if number else ():
            print(f"{_GAP}{line}")
    if hidden := len(names) - len(widths):
        print(f"({hidden} of {len(names)} columns do not fit: --json and --csv have them)")


def _fitting(widths: dict[str, int]) -> dict[str, int]:
    """The columns that fit the terminal, in their order; the first three are made to fit."""
    room = get_terminal_size().columns
    fitting: dict[str, int] = {}
    for index, (name, width) in enumerate(widths.items()):
        gaps = len(_GAP) * len(fitting)
        if index < 3 or sum(fitting.values()) + gaps + width <= room:
            fitting[name] = width
        while sum(fitting.values()) + gaps > room and max(fitting.values()) > 1:
            fitting[max(fitting, key=lambda name: fitting[name])] -= 1
    return fitting


def _padded(text: str, width: int, is_number: bool) -> str:
    if _width(text) > width:
        while _width(text) > width - 1:
            text = text[:-1]
        text += "…"
    blanks = " " * (width - _width(text))
    return blanks + text if is_number else text + blanks


def _width(text: str) -> int:
    """Count the cells of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(c) in "FW" else category(c) not in ("Mn", "Me") for c in text)
