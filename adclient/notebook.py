"""How values look: one short line as text, a plain and bounded piece of HTML in a notebook.

Nothing here sends a request, and every text that came from the service is escaped.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TypeGuard

SHORT = 60
ROWS = 20


def short(value: object) -> str:
    """A value as one printable line of at most 60 characters."""
    line = ""
    for piece in _pieces(value):
        line += "".join(c if c.isprintable() else _escaped(c) for c in piece[: SHORT + 1])
        if len(line) > SHORT:
            return line[: SHORT - 1] + "…"
    return line


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


def _pieces(value: object) -> Iterator[str]:
    """The text of a value bit by bit, so that no more of it is made than is shown."""
    if _is_mapping(value):
        for index, (name, inner) in enumerate(value.items()):
            yield ", " if index else "{"
            yield from _pieces(name)
            yield ": "
            yield from _pieces(inner)
        yield "}" if value else "{}"
    elif _is_list(value):
        for index, inner in enumerate(value):
            yield ", " if index else "["
            yield from _pieces(inner)
        yield "]" if value else "[]"
    elif value is None or isinstance(value, bool):
        yield {None: "null", True: "true", False: "false"}[value]
    else:
        yield str(value)


def _is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(value, Mapping)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
