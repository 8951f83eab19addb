"""How values look: one short line as text, a plain and bounded piece of HTML in a notebook.

Nothing here sends a request, and every text that came from the service is escaped.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TypeGuard

import attrs

SHORT = 60
ROWS = 20
COLUMNS = 16


def short(value: object) -> str:
    """A value as one printable line of at most 60 characters."""
    line = ""
    for piece in _pieces(value):
        line += "".join(c if c.isprintable() else _escaped(c) for c in piece[: SHORT + 1])
        if len(line) > SHORT:
            return line[: SHORT - 1] + "…"
    return line


class PublicDir:
    """A value that completes, and lists by `dir`, what its users need."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        # What Python itself names stays, for tools such as `unittest.mock` ask for it here.
        names = object.__dir__(self)
        return [name for name in names if name.startswith("__") or not name.startswith("_")]


class HTMLRepr(PublicDir):
    """A value that shows itself as HTML in a notebook, and as its `repr` everywhere else."""

    __slots__ = ()

    @abstractmethod
    def _repr_html_(self) -> str: ...

    def _repr_mimebundle_(
        self,
        include: Collection[str] | None = None,  # noqa: ARG002 (IPython passes it)
        exclude: Collection[str] | None = None,  # noqa: ARG002 (and this)
    ) -> dict[str, str]:
        # Always both: IPython itself leaves out what it did not ask for.
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


@attrs.frozen
class Change:
    """A cell that shows a value before and after."""

    before: object
    after: object


def card(
    title: str, rows: Sequence[tuple[str, object]], *, state: str = "", notes: Sequence[str] = ()
) -> str:
    """Names and values under a title, and beside it in which state the thing is."""
    body = "".join(
        f"<tr><th{_LEFT_MUTED}>{_html(name)}</th><td{_LEFT}>{_cell(value)}</td></tr>"
        for name, value in rows[:ROWS]
    )
    # The space is for pages that show notebooks without their styles.
    beside = f' <span style="{_BADGE}">{_html(state)}</span>' if state else ""
    return _framed(title, beside, body, [*notes, *_more(len(rows), "rows")])


def table(
    title: str,
    rows: Sequence[Mapping[str, object]],
    *,
    total: int,
    about: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """The first rows of a table of `total` rows, with the columns that they have."""
    rows = rows[:ROWS]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [(name, _is_numeric(row.get(name) for row in rows)) for name in names[:COLUMNS]]
    head = "".join(f"<th{_side(right)}>{_html(name)}</th>" for name, right in columns)
    body = "".join(
        "<tr>"
        + "".join(f"<td{_side(r)}>{_html(row.get(n, ''))}</td>" for n, r in columns)
        + "</tr>"
        for row in rows
    )
    more = [*_more(total, "rows"), *_more(len(names), "columns", COLUMNS), *notes]
    head = f"<thead><tr>{head}</tr></thead>" if rows else ""
    body = f"<tbody>{body}</tbody>" if rows else ""
    beside = "".join(f'<span style="opacity:.7"> · {_html(text)}</span>' for text in about)
    return _framed(title, beside, head + body, more)


# Colours are inherited, and lines are of a grey that shows on white and on black; so no theme needs
# to be known. The sides and margins are written out because notebooks have others.
_GREY = "rgba(128,128,128,.45)"
_FRAME = (
    "display:inline-block;box-sizing:border-box;max-width:100%;overflow-x:auto;padding:.6em .9em;"
    f"border:1px solid {_GREY};border-radius:6px;"
    "font-family:var(--jp-ui-font-family,system-ui,sans-serif);"
    "font-size:var(--jp-ui-font-size1,13px);line-height:1.4"
)
_TABLE = (
    "border-collapse:collapse;table-layout:auto;margin:.4em 0 0;min-width:100%;"
    "font-variant-numeric:tabular-nums"
)
_BADGE = (
    f"margin-left:.8em;padding:.1em .7em;border:1px solid {_GREY};border-radius:1em;"
    "white-space:nowrap"
)
_LEFT = ' style="text-align:left;white-space:nowrap"'
_RIGHT = ' style="text-align:right;white-space:nowrap"'
_LEFT_MUTED = ' style="text-align:left;white-space:nowrap;font-weight:normal;opacity:.7"'


def _framed(title: str, beside: str, rows: str, notes: Sequence[str]) -> str:
    body = f'<table cellpadding="4" style="{_TABLE}">{rows}</table>' if rows else ""
    foot = "; ".join(map(_html, notes))
    foot = foot and f'<div style="margin-top:.4em;opacity:.7">{foot}</div>'
    return f'<div style="{_FRAME}"><strong>{_html(title)}</strong>{beside}{body}{foot}</div>'


def _more(count: int, what: str, shown: int = ROWS) -> list[str]:
    return [f"{count - shown} more {what} are not shown"] if count > shown else []


def _is_numeric(values: Iterable[object]) -> bool:
    """Whether there are numbers in a column, and nothing else."""
    classes = {type(value) for value in values} - {type(None)}
    return bool(classes) and classes <= {int, float, Decimal}


def _side(right: bool) -> str:
    return _RIGHT if right else _LEFT


def _cell(value: object) -> str:
    if isinstance(value, Change):
        before, after = _html(value.before), _html(value.after)
        return f'<span style="opacity:.7">{before}</span> → <strong>{after}</strong>'
    return _html(value)


def _html(value: object) -> str:
    from html import escape  # which loads the names of all characters

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
