"""The output of subcommands: tables, lines of JSON, and CSV that is safe in a spreadsheet."""

import argparse
import os
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from importlib import import_module
from json.encoder import encode_basestring_ascii
from shutil import get_terminal_size
from stat import S_ISFIFO

from adclient._command.terminal import BOLD, did_you_mean, for_people, painted, width_of
from adclient._show.html import ranked_columns
from adclient._tables.items import Items
from adclient._tables.rows import Row, by_name, json_text, row_of
from adclient._values.json_values import is_object
from adclient._values.text import WHOLE, short
from adclient.errors import AdClientError, ConfigurationError
from adclient.models import Item

SHAPES = """\
output:
| --table  a table that fits the terminal: the default on a terminal
| --json  one JSON object per line: the default elsewhere
| --csv  CSV; apostrophes keep a spreadsheet from taking texts for formulas
"""
_GAP = "  "
_NARROW = 24  # to which texts are cut, so that more columns fit
_NARROWEST = 4  # of a column that is chosen
_QUOTED = re.compile(r'[",\r\n]')
# Where a spreadsheet may see a formula, also in the full width of East Asian scripts. Where commas
# are decimal points, it separates cells by semicolons, and ignores quotes between them.
_FORMULA = re.compile(r"^(?=[\t\r\n])|(?:^|(?<=[;\t\r\n]))(?=\s*[=+\-@＝＋－＠])")


def names_of(text: str) -> list[str]:
    """The type of an option that names columns."""
    names = [name for each in text.split(",") if (name := each.strip())]
    if not names:
        raise argparse.ArgumentTypeError("no name")
    return names


def shape_of(options: argparse.Namespace) -> str:
    """The shape that was asked for, else what suits standard output."""
    default = "table" if sys.stdout.isatty() else "json"
    return next((name for name in ("table", "json", "csv") if getattr(options, name)), default)


class Writer:
    """Writes the items of a listing: JSON page by page, all else when everything was read."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._shape = shape_of(options)
        self.is_streamed = self._shape == "json" and not options.sort and options.parquet is None
        self._items: list[Item] = []
        self._rows: list[Row] = []
        self._seen: dict[str, None] = {}

    def extend(self, items: Iterable[Item]) -> None:
        """Write or keep some items."""
        if self._options.parquet is None:
            self.add(map(row_of, items))
        else:
            self._items += items

    def add(self, rows: Iterable[Row]) -> None:
        """Write or keep some rows."""
        for row in rows:
            self._rows.append(_flat(row) if self._options.flat else row)
            self._seen |= dict.fromkeys(self._rows[-1])
        if self.is_streamed:
            self._write()

    def end(self) -> None:
        """Write what is kept; refuse a column that no item has had, unless there are no items."""
        if self._options.parquet is not None:
            write_parquet(self._options.parquet, Items(self._items, cls=self._options.cls))
            return
        sort = [(each.removeprefix("-"), each.startswith("-")) for each in self._options.sort]
        for name in (*self._options.columns, *(name for name, _ in sort)):
            if self._seen and name not in self._seen:
                hint = did_you_mean(name, self._seen) or f": there are {', '.join(self._seen)}"
                raise ConfigurationError(f"there is no column {name}{hint}")
        for name, is_descending in reversed(sort):  # each keeps the earlier order among equals
            self._rows.sort(key=lambda row: _rank(row.get(name)), reverse=is_descending)
            self._rows.sort(key=lambda row: row.get(name) is None)  # last in either order
        if not self.is_streamed:
            self._write()

    @property
    def leaves_place_for_bar(self) -> bool:
        """Whether a progress bar on standard error would meet nothing else.

        Rows are streamed to the same terminal, and who reads from a pipe may write there.
        """
        is_met = self.is_streamed and sys.stdout.isatty()
        with suppress(OSError):  # it may be no file
            is_met |= S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)
        return sys.stderr.isatty() and not is_met

    def _write(self) -> None:
        rows, names = self._rows[: self._options.limit], self._options.columns
        if names:
            rows = [{name: row.get(name) for name in names} for row in rows]
        write(rows, self._shape, chosen=names)
        self._rows.clear()


def _flat(row: Row, above: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in row.items():
        if is_object(value) and value:
            flat |= _flat({str(key): inner for key, inner in value.items()}, f"{above}{name}.")
        else:
            flat[f"{above}{name}"] = value
    return flat


def _rank(value: object) -> tuple[int, Decimal, str]:
    """A key that sorts numbers, also those in texts, before other texts."""
    text = value if isinstance(value, str) else json_text(value)
    with suppress(InvalidOperation):
        number = Decimal(text)
        if number.is_finite():
            return (0, number, "")
    return (1, Decimal(0), text.casefold())


def write(
    rows: Sequence[Row],
    shape: str,
    *,
    below: Sequence[str] = (),
    chosen: Sequence[str] | None = None,
) -> None:
    """Write rows to standard output.

    A table has a whole line below each row, if there are any, and as many of the chosen columns as
    possible; None if none can be chosen.
    """
    if shape == "table":
        _write_table(rows, below, chosen)
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
    try:
        # A plain import would need types that pyarrow does not have.
        import_module("pyarrow.parquet").write_table(items.to_arrow(), path)
    except ValueError as misfit:  # which names the item and the field
        raise AdClientError(str(misfit)) from None


def json_line(value: object) -> str:
    """A value as one line of JSON that a terminal shows as it is."""
    text = json_text(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else encode_basestring_ascii(c)[1:-1] for c in text)


def _csv_cell(value: object) -> str:
    text = value if isinstance(value, str) else "" if value is None else json_text(value)
    if not isinstance(value, int | float | Decimal):
        text = _FORMULA.sub("'", text)
    # The module `csv` does not quote every line break.
    return '"{}"'.format(text.replace('"', '""')) if _QUOTED.search(text) else text


def _write_table(rows: Sequence[Row], below: Sequence[str], chosen: Sequence[str] | None) -> None:
    if not rows:
        print("(nothing)")
        return
    names, numbers = ranked_columns(rows)
    names = [*(chosen or names)]
    cells = {
        name: ["" if (value := row.get(name)) is None else short(value) for row in rows]
        for name in names
    }
    widths = {name: max(width_of(short(name)), *map(width_of, cells[name])) for name in names}
    widths = _fitting(widths, numbers, len(chosen or ()))

    def line_of(texts: Iterable[str]) -> str:
        padded: list[str] = []
        for text, (name, width) in zip(texts, widths.items(), strict=True):
            mark = ""
            while width_of(text) + len(mark) > width:
                text, mark = text[:-1], "…"
            blanks = " " * (width - width_of(text) - len(mark))
            padded += [blanks, text, mark] if name in numbers else [text, mark, blanks]
            padded.append(_GAP)
        return "".join(padded).rstrip()

    print(painted(line_of(map(short, widths)), BOLD, sys.stdout))
    for number, texts in enumerate(zip(*(cells[name] for name in widths), strict=True)):
        print(line_of(texts))
        for each in below[number : number + 1]:
            print(for_people(f"{_GAP}{each}", sys.stdout))
    if hidden := [short(name) for name in names if name not in widths]:
        how = "--json and --csv have them" if chosen is None else "--columns chooses"
        print(for_people(f"(not shown: {', '.join(hidden)}; {how})", sys.stdout))


def _fitting(widths: Mapping[str, int], numbers: Collection[str], chosen: int) -> dict[str, int]:
    """The columns that fit the terminal, in their order; those that are chosen are made to fit.

    Texts are cut before numbers, the longest first.
    """
    room = get_terminal_size().columns + len(_GAP)
    least = max(3, min(chosen, room // (_NARROWEST + len(_GAP))))
    fitting: dict[str, int] = {}
    taken = 0
    for name, width in widths.items():
        smallest = len(_GAP) + (width if name in numbers else min(width, _NARROW))
        if len(fitting) < least or taken + smallest <= room:
            fitting[name] = width
            taken += smallest
    while sum(fitting.values()) + len(_GAP) * len(fitting) > room and max(fitting.values()) > 1:
        longest = max(
            fitting,
            key=lambda name: (name not in numbers and fitting[name] > _NARROWEST, fitting[name]),
        )
        fitting[longest] -= 1
    return fitting
