"""Reports as text for a terminal, as Markdown for a pull request or an issue, and as JSON."""

import re
from itertools import accumulate
from operator import attrgetter
from textwrap import fill
from typing import ClassVar, cast

from adclient._show.records import Shown, Table
from adclient._values.json_values import (
    JSON,
    ToJSON,
    as_mapping,
    has_fields,
    is_array,
    is_object,
)
from adclient._values.text import WHOLE

FORMAT_VERSION = "1.0"
_LONGEST = 65_536  # characters of a comment on GitHub
_LONGEST_CELL = 5_000  # of them in one cell
_COLUMNS = 79


class JSONFields(ToJSON):
    """A record of which some attributes are JSON."""

    __slots__ = ()

    _json: ClassVar[tuple[str, ...]]

    def to_dict(self) -> dict[str, JSON]:
        """Convert the record to JSON values.

        Returns:
            A dictionary of the attributes that are not None. A report has a `format_version`, whose
                number before the dot changes when fields are renamed or removed.

        Examples:
            >>> from adclient.conform import conform
            >>> from adclient.testing import FakeAdService
            >>> report = conform(FakeAdService().client(), account_id="account_b204")
            >>> report.to_dict()["exit_code"]
            3
        """
        values = {path.rpartition(".")[2]: _plain(attrgetter(path)(self)) for path in self._json}
        return {name: value for name, value in values.items() if value is not None}


class ReportRecord(JSONFields, Shown):
    """A record that describes what it shows as a table, and is text, Markdown, HTML and JSON."""

    __slots__ = ()

    format_version: ClassVar[str] = FORMAT_VERSION

    def __str__(self) -> str:
        return text_of(cast(Table, self._show()))

    def markdown(self) -> str:
        """Format the report for a pull request or an issue, the most important rows first.

        Returns:
            Markdown. All text of the service is formatted as code, so that it cannot imitate the
                report or mention somebody.

        Examples:
            >>> from adclient.conform import conform
            >>> from adclient.testing import FakeAdService
            >>> report = conform(FakeAdService().client(), account_id="account_b204")
            >>> print(report.markdown().splitlines()[0])
            ### `https://fake.adclient.test: 13 requests, no write`
        """
        return markdown_of(cast(Table, self._show()))


def text_of(table: Table) -> str:
    """The text of a table: its first columns aligned, and the rest of each row as one sentence."""
    rows = [
        [str(text) for name, text in row.items() if name not in table.wide] for row in table.rows
    ]
    leads = [row[: table.lead] for row in rows]
    widths = [max(map(len, column)) for column in zip(*leads, strict=True)]
    lines: list[str] = []
    for row, lead in zip(rows, leads, strict=True):
        cells = (
            text.rjust(width) if text.isdecimal() else text.ljust(width)
            for text, width in zip(lead, widths, strict=True)
        )
        rest = " · ".join(filter(None, row[table.lead :]))
        lines.append("  ".join(["", *cells, rest]))
    notes = [*table.notes]
    is_exact = table.limit == WHOLE  # each blank counts, so no line is broken
    if not is_exact:
        indent = sum(widths) + 2 * len(widths) + 2
        lines = [fill(line, _COLUMNS, subsequent_indent=" " * indent) for line in lines]
        notes = [fill(note, _COLUMNS, subsequent_indent="  ") for note in notes]
    parts = [table.title, *table.about], lines, notes, [table.code] * bool(table.code)
    return ("\n" if is_exact else "\n\n").join("\n".join(part) for part in parts if part)


def markdown_of(table: Table) -> str:
    """The Markdown of a table; what would make it too long for a comment is left out."""
    names = list(table.rows[0]) if table.rows else []
    lead = names[: table.lead]
    rows: list[str] = []
    for row in table.rows:
        cells = [f"**{row[name]}**" if name == lead[-1] else str(row[name]) for name in lead]
        for name in names[table.lead :]:
            text = str(row[name])
            cells.append(
                code(text) if len(text) <= _LONGEST_CELL else "too long: see the report as JSON"
            )
        rows.append(f"| {' | '.join(cells)} |\n")
    head = [f"| {' | '.join(names)} |\n", f"|{'---|' * len(names)}\n"] * bool(names)
    above = [f"### {code(table.title)}", *map(code, table.about)]
    below = ["\n".join(f"- {code(note)}" for note in table.notes)]
    for title, texts in table.details.items():
        below += f"#### {title}", "\n".join(f"1. {text}" for text in texts)
    left = "{} of {} rows are left out; the report as JSON has all."
    room = _LONGEST - len("\n\n".join([*above, *head, left, *below])) - 20
    shown = [row for row, end in zip(rows, accumulate(map(len, rows)), strict=True) if end <= room]
    left = left.format(len(rows) - len(shown), len(rows)) if len(shown) < len(rows) else ""
    parts = [*above, "".join([*head, *shown]).rstrip("\n"), left, *below]
    return "\n\n".join(filter(None, parts)) + "\n"


def code(text: str) -> str:
    """A line as code spans, where Markdown has no other syntax, mentions or links.

    Characters that could end a span or a table cell are entities between two spans, and so are
    blanks that could be lost.
    """
    parts = re.findall(r"[^|`\\ ]+(?: [^|`\\ ]+)*|.", text)
    entities = {char: f"&#{ord(char)};" for char in "|`\\"} | {" ": "&nbsp;"}
    return "".join(entities.get(part, f"`{part}`") for part in parts)


def _plain(value: object) -> JSON:
    """A value as JSON: a function as its name, and a record without what is None."""
    if isinstance(value, ToJSON):
        return cast(JSON, value.to_dict())
    if callable(value):
        return str(getattr(value, "__name__", value))
    if has_fields(type(value)):
        return {name: _plain(each) for name, each in as_mapping(value).items() if each is not None}
    if is_object(value):
        return {str(name): _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if is_array(value) else cast(JSON, value)
