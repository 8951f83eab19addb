"""Cards and tables as bounded HTML for notebooks. Every text is escaped."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from html import escape

from adclient._show import diffs
from adclient._show.diffs import ROWS, Change, Row, more
from adclient._show.records import Card, Table
from adclient._values.text import NOTE, SHORT, WHOLE, short, short_end

COLUMNS = 16
_FIRST = ("id", "name", "status")


def html_of(shown: Card | Table) -> str:
    """The HTML of what a record shows."""
    if isinstance(shown, Table):
        return _table(shown)
    rows: list[Row] = [*shown.rows[:ROWS]]
    notes = [*shown.notes, *more(len(shown.rows), "rows")]
    if shown.diff is not None:
        changes, remarks = diffs.rows(shown.diff)
        rows, notes = [*rows, *changes], [*notes, *remarks]
    body = ""
    for row in rows:
        if len(row) == 1:
            body += f'<tr><th scope="col" colspan="2"{_WRAPPED}>{_html(row[0])}</th></tr>'
            continue
        if not isinstance(row, Change):
            name, cell = _html(short_end(row[0])), _html(row[1], NOTE)
        else:  # in the colours of the approval page, and readable without them
            name, before, after, remark = (_html(text, WHOLE) for text in row)
            remark = remark and f" <span{_MUTED}>{remark}</span>"
            cell = f"<del{_OLD}>{before}</del> → <ins{_NEW}>{after}</ins>{remark}"
            if row.before == "—":
                cell = f"<ins{_NEW}>+ {after}</ins>"
            elif row.after == "—":
                cell = f"<del{_OLD}>− {before}</del>"
        body += f'<tr><th scope="row"{_WRAPPED_MUTED}>{name}</th><td{_WRAPPED}>{cell}</td></tr>'
    # The space is for pages that show notebooks without their styles.
    badge = f' <span style="{_BADGE}">{_html(shown.state)}</span>' if shown.state else ""
    return _framed(shown.title, badge, body, notes)


def _table(table: Table) -> str:
    rows = table.rows[:ROWS]
    names, numbers = ranked_columns(rows)
    left = _LEFT if table.limit == SHORT else _WRAPPED
    styles = {name: _RIGHT if name in numbers else left for name in names[:COLUMNS]}
    head = "".join(f'<th scope="col"{style}>{_html(name)}</th>' for name, style in styles.items())
    body = ""
    for row in rows:
        cells = (
            f"<td{style}>{_html(row.get(name, ''), table.limit)}</td>"
            for name, style in styles.items()
        )
        body += f"<tr>{''.join(cells)}</tr>"
    content = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>" if rows else ""
    about = "".join(f"<span{_MUTED}> · {_html(text)}</span>" for text in table.about)
    hidden = [*more(table.total, "rows"), *more(len(names), "columns", COLUMNS)]
    # A table may be wider than the page, so the keyboard must be able to scroll it. It is not a
    # region: those are landmarks, which need different names, and two cells may show the same page.
    focus = f' tabindex="0" role="group" aria-label="{_html(table.title)}"' if rows else ""
    return _framed(table.title, about, content, [*hidden, *table.notes], focus)


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
_CHANGED = "padding:.05em .4em;border-radius:.25em;text-decoration:none"
_OLD = f' style="background:rgba(214,60,84,.2);{_CHANGED}"'
_NEW = f' style="background:rgba(40,160,90,.25);{_CHANGED}"'
# A card fits the narrowest page; `pre-wrap` shows how many blanks a value has.
_WRAPPED = ' style="text-align:left;white-space:pre-wrap"'
_WRAPPED_MUTED = f'{_WRAPPED[:-1]};min-width:11em;font-weight:normal;opacity:.7"'


def _framed(
    title: str, after_title: str, rows: str, notes: Sequence[str], attributes: str = ""
) -> str:
    body = f'<table cellpadding="4" style="{_TABLE}">{rows}</table>' if rows else ""
    foot = "; ".join(_html(note, NOTE) for note in notes)
    foot = foot and f'<div style="margin-top:.4em;opacity:.7">{foot}</div>'
    head = f"<strong>{_html(title, NOTE)}</strong>{after_title}"
    return f'<div{attributes} style="{_FRAME}">{head}{body}{foot}</div>'


def _html(value: object, limit: int = SHORT) -> str:
    return escape(short(value, limit))
