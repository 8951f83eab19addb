"""Representations of values: one short line of text, and bounded HTML in a notebook.

Nothing here sends a request. Every string from the service is escaped.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal

from adclient._json import is_array, is_object

SHORT = 60
ROWS = 20
COLUMNS = 16


def short(value: object) -> str:
    """A value as one printable line of at most 60 characters."""
    line = ""
    for piece in _pieces(value):
        line += "".join(
            char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
            for char in piece[: SHORT + 1]
        )
        if len(line) > SHORT:
            return line[: SHORT - 1] + "…"
    return line


class PublicDir:
    """A value whose `dir`, and so its completion, lists only public names."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        # Dunder names stay: tools such as `unittest.mock` look for them here.
        names = object.__dir__(self)
        return [name for name in names if name.startswith("__") or not name.startswith("_")]


class HTMLRepr(PublicDir):
    """A value shown as HTML in a notebook, and by its `repr` everywhere else."""

    __slots__ = ()

    @abstractmethod
    def _repr_html_(self) -> str: ...

    def _repr_mimebundle_(
        self,
        include: Collection[str] | None = None,  # noqa: ARG002 (IPython passes it)
        exclude: Collection[str] | None = None,  # noqa: ARG002 (and this)
    ) -> dict[str, str]:
        # Always both: IPython drops the one that it did not ask for.
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def card(
    title: str,
    rows: Sequence[tuple[str, object] | tuple[str, object, object]],
    *,
    state: str = "",
    notes: Sequence[str] = (),
) -> str:
    """A title, a state, and rows of a name with one value, or with one before and one after."""
    body = ""
    for name, *values in rows[:ROWS]:
        cell = _html(values[-1])
        if len(values) > 1:
            cell = f'<span style="opacity:.7">{_html(values[0])}</span> → <strong>{cell}</strong>'
        body += f"<tr><th{_LEFT_MUTED}>{_html(name)}</th><td{_LEFT}>{cell}</td></tr>"
    # The space is for pages that show notebooks without their styles.
    badge = f' <span style="{_BADGE}">{_html(state)}</span>' if state else ""
    return _framed(title, badge, body, [*notes, *_more(len(rows), "rows")])


def table(
    title: str,
    rows: Sequence[Mapping[str, object]],
    *,
    total: int,
    about: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """The first rows of a table of `total` rows; a column of numbers is aligned to the right."""
    rows = rows[:ROWS]
    names = list(dict.fromkeys(name for row in rows for name in row))
    styles: dict[str, str] = {}
    for name in names[:COLUMNS]:
        classes = {type(row.get(name)) for row in rows} - {type(None)}
        styles[name] = _RIGHT if classes and classes <= {int, float, Decimal} else _LEFT
    head = "".join(f"<th{style}>{_html(name)}</th>" for name, style in styles.items())
    body = ""
    for row in rows:
        cells = (f"<td{style}>{_html(row.get(name, ''))}</td>" for name, style in styles.items())
        body += f"<tr>{''.join(cells)}</tr>"
    content = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>" if rows else ""
    subtitle = "".join(f'<span style="opacity:.7"> · {_html(text)}</span>' for text in about)
    more = [*_more(total, "rows"), *_more(len(names), "columns", COLUMNS)]
    return _framed(title, subtitle, content, [*more, *notes])


# Colours are inherited, and the grey of the lines is visible on white and on black, so the HTML
# fits any theme. Alignment and margins override the defaults of notebooks.
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


def _framed(title: str, after_title: str, rows: str, notes: Sequence[str]) -> str:
    body = f'<table cellpadding="4" style="{_TABLE}">{rows}</table>' if rows else ""
    foot = "; ".join(map(_html, notes))
    foot = foot and f'<div style="margin-top:.4em;opacity:.7">{foot}</div>'
    return f'<div style="{_FRAME}"><strong>{_html(title)}</strong>{after_title}{body}{foot}</div>'


def _more(count: int, what: str, shown: int = ROWS) -> list[str]:
    return [f"{count - shown} more {what} are not shown"] if count > shown else []


def _html(value: object) -> str:
    from html import escape  # deferred: slow to import

    return escape(short(value))


def _pieces(value: object) -> Iterator[str]:
    """The text of a value in pieces, so that no more of it is built than is shown."""
    if is_object(value):
        for index, (name, inner) in enumerate(value.items()):
            yield ", " if index else "{"
            yield from _pieces(name)
            yield ": "
            yield from _pieces(inner)
        yield "}" if value else "{}"
    elif is_array(value):
        for index, inner in enumerate(value):
            yield ", " if index else "["
            yield from _pieces(inner)
        yield "]" if value else "[]"
    elif value is None or isinstance(value, bool):
        yield {None: "null", True: "true", False: "false"}[value]
    else:
        yield str(value)
