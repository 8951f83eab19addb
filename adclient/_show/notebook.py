"""Representations of values as bounded HTML in a notebook.

Nothing here sends a request. Every string from the service is escaped.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from adclient._values.text import NOTE, SHORT, WHOLE, short, short_end

ROWS = 20
COLUMNS = 16
_FIRST = ("id", "name", "status")


class PublicDir:
    """A value whose `dir`, and so its completion, lists only public names."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        # Dunder names stay: tools such as `unittest.mock` look for them here.
        names = object.__dir__(self)
        return [name for name in names if name.startswith("__") or not name.startswith("_")]

    if not TYPE_CHECKING:  # pragma: no branch  (type checkers find the mistakes themselves)

        def __getattr__(self, name: str) -> object:
            # Tools look for private names. A public one may be a property that raised the error.
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)
            from adclient._advice import no_attribute

            raise no_attribute(self, name)


class HTMLRepr(PublicDir):
    """A value shown as HTML in a notebook, and by its `repr` everywhere else."""

    __slots__ = ()

    @abstractmethod
    def _repr_html_(self) -> str: ...

    if not TYPE_CHECKING:  # pragma: no branch  (as above)
        __iter__ = None  # or `__getitem__` would make it iterable

        def __getitem__(self, key: object) -> NoReturn:
            such = f", such as .{key} or .extra" if isinstance(key, str) else ""
            raise TypeError(f"{type(self).__name__} has no index: use attributes{such}")


def refuse_with(*_: object) -> NoReturn:
    """Refuse `with` for an async client, and `async with` for a sync one."""
    raise TypeError("use `with AdClient(…)`, or `async with AsyncAdClient(…)`")


class Change(NamedTuple):
    """A changed value as texts in full, and a remark."""

    name: str
    before: str
    after: str
    remark: str


Row = tuple[str] | tuple[str, object] | Change
"""A heading, a name with a value, or a change."""


def card(
    title: str,
    rows: Sequence[Row],
    *,
    state: str = "",
    notes: Sequence[str] = (),
    limit: int = SHORT,
) -> str:
    """A title, a state and rows, whose values are cut at a limit."""
    # The space is for pages that show notebooks without their styles.
    badge = f' <span style="{_BADGE}">{_html(state)}</span>' if state else ""
    return _framed(title, badge, "".join(_card_row(row, limit) for row in rows), notes)


def _card_row(row: Row, limit: int) -> str:
    if len(row) == 1:
        return f'<tr><th scope="col" colspan="2"{_WRAPPED}>{_html(row[0])}</th></tr>'
    if isinstance(row, Change):
        name, before, after, remark = (_html(text, WHOLE) for text in row)
        remark = remark and f" <span{_MUTED}>{remark}</span>"
        cell = f"<span{_MUTED}>{before}</span> → <strong>{after}</strong>{remark}"
    else:
        name, cell = _html(short_end(row[0])), _html(row[1], limit)
    return f'<tr><th scope="row"{_WRAPPED_MUTED}>{name}</th><td{_WRAPPED}>{cell}</td></tr>'


def first_rows(rows: Sequence[Row]) -> tuple[Sequence[Row], list[str]]:
    """The rows that fit on a card, and a note about the others."""
    return rows[:ROWS], more(len(rows), "rows")


def table(
    title: str,
    rows: Sequence[Mapping[str, object]],
    *,
    total: int,
    about: Sequence[str] = (),
    notes: Sequence[str] = (),
    limit: int = SHORT,
) -> str:
    """The first rows of a table of `total` rows; a cell is cut at a limit, or wrapped."""
    rows = rows[:ROWS]
    names, numbers = ranked_columns(rows)
    left = _LEFT if limit == SHORT else _WRAPPED
    styles = {name: _RIGHT if name in numbers else left for name in names[:COLUMNS]}
    head = "".join(f'<th scope="col"{style}>{_html(name)}</th>' for name, style in styles.items())
    body = ""
    for row in rows:
        cells = (
            f"<td{style}>{_html(row.get(name, ''), limit)}</td>" for name, style in styles.items()
        )
        body += f"<tr>{''.join(cells)}</tr>"
    content = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>" if rows else ""
    subtitle = "".join(f"<span{_MUTED}> · {_html(text)}</span>" for text in about)
    hidden = [*more(total, "rows"), *more(len(names), "columns", COLUMNS)]
    # A table may be wider than the page, so the keyboard must be able to scroll it. It is not a
    # region: those are landmarks, which need different names, and two cells may show the same page.
    focus = f' tabindex="0" role="group" aria-label="{_html(title)}"' if rows else ""
    return _framed(title, subtitle, content, [*hidden, *notes], focus)


def ranked_columns(rows: Sequence[Mapping[str, object]]) -> tuple[list[str], set[str]]:
    """The columns of a table, and which of them are numbers, to be aligned to the right.

    Numbers, such as money, come directly after the columns of the interface, as few columns fit on
    a page.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    numbers: set[str] = set()
    for name in names:
        classes = {type(row.get(name)) for row in rows} - {type(None)}
        if classes and classes <= {int, float, Decimal}:
            numbers.add(name)
    first = {*_FIRST, *list(names)[:1]}  # such as the account of items, or the id of an entry
    return sorted(names, key=lambda name: (name not in first, name not in numbers)), numbers


# Colours are inherited, and the grey of the lines is visible on white and on black, so the HTML
# fits any theme. Alignment and margins override the defaults of notebooks.
_GREY = "rgba(128,128,128,.45)"
_FRAME = (
    "display:inline-block;box-sizing:border-box;max-width:100%;overflow-x:auto;padding:.6em .9em;"
    f"border:1px solid {_GREY};border-radius:6px;overflow-wrap:anywhere;"
    "font-family:var(--jp-ui-font-family,system-ui,sans-serif);"
    "font-size:var(--jp-ui-font-size1,13px);line-height:1.4"
)
_TABLE = (
    "border-collapse:collapse;table-layout:auto;margin:.4em 0 0;min-width:100%;"
    "font-variant-numeric:tabular-nums"
)
_BADGE = f"margin-left:.8em;padding:.1em .7em;border:1px solid {_GREY};border-radius:1em"
_LEFT = ' style="text-align:left;white-space:nowrap"'
_RIGHT = ' style="text-align:right;white-space:nowrap"'
_MUTED = ' style="opacity:.7"'
# A card fits the narrowest page; `pre-wrap` shows how many blanks a value has.
_WRAPPED = ' style="text-align:left;white-space:pre-wrap"'
_WRAPPED_MUTED = f'{_WRAPPED[:-1]};min-width:11em;font-weight:normal;opacity:.7"'


def _framed(
    title: str, after_title: str, rows: str, notes: Sequence[str], attributes: str = ""
) -> str:
    body = f'<table cellpadding="4" style="{_TABLE}">{rows}</table>' if rows else ""
    foot = "; ".join(_html(note, NOTE) for note in notes)
    foot = foot and f'<div style="margin-top:.4em;opacity:.7">{foot}</div>'
    head = f"<strong>{_html(title)}</strong>{after_title}"
    return f'<div{attributes} style="{_FRAME}">{head}{body}{foot}</div>'


def more(count: int, what: str, shown: int = ROWS) -> list[str]:
    """A note about what is not shown, if anything is not."""
    return [f"{count - shown} more {what} are not shown"] if count > shown else []


def _html(value: object, limit: int = SHORT) -> str:
    from html import escape  # deferred: slow to import

    return escape(short(value, limit))
