"""How values look: one short line as text, a plain and bounded piece of HTML in a notebook.

Nothing here sends a request, and every text that came from the service is escaped.
"""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import islice
from typing import TypeGuard

SHORT = 60
ROWS = 20


def short(value: object) -> str:
    """A value as one printable line of at most 60 characters."""
    text = value[: SHORT + 1] if isinstance(value, str) else _literal(value)
    line = "".join(char if char.isprintable() else _escaped(char) for char in text)
    return line if len(line) <= SHORT else line[: SHORT - 1] + "…"


def card(title: str, rows: Sequence[tuple[str, object]], note: str = "") -> str:
    """A table of names and values under a title."""
    cells = [
        f"<tr><th>{_html(name)}</th><td>{_html(value)}</td></tr>" for name, value in rows[:ROWS]
    ]
    more = _more(len(rows))
    return _framed(title, "".join(cells), "; ".join(part for part in (note, more) if part))


def table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], note: str = ""
) -> str:
    """The first rows of a table, with a header."""
    head = "".join(f"<th>{_html(column)}</th>" for column in columns)
    body = [
        "<tr>" + "".join(f"<td>{_html(cell)}</td>" for cell in row) + "</tr>" for row in rows[:ROWS]
    ]
    more = _more(len(rows))
    note = "; ".join(part for part in (note, more) if part)
    return _framed(title, f"<tr>{head}</tr>" + "".join(body), note)


def _framed(title: str, rows: str, note: str) -> str:
    foot = f"<div><em>{_html(note)}</em></div>" if note else ""
    return f"<div><strong>{_html(title)}</strong><table>{rows}</table>{foot}</div>"


def _more(count: int) -> str:
    return f"{count - ROWS} more rows are not shown" if count > ROWS else ""


def _html(value: object) -> str:
    return escape(short(value))


def _literal(value: object) -> str:
    """JSON words for the plain values, and only the beginning of the nested ones."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if _is_mapping(value):
        first = islice(value.items(), SHORT)
        return "{" + ", ".join(f"{short(name)}: {short(inner)}" for name, inner in first) + "}"
    if _is_list(value):
        return "[" + ", ".join(short(inner) for inner in value[:SHORT]) + "]"
    return str(value)


def _is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(value, Mapping)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
