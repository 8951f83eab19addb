"""The result of a call as a model sees it: our summary, and apart from it the service's text.

Names and texts of an ad account may have been written by anybody. They are only ever below the key
`untrusted`, on one line, with escapes for what is invisible, and cut, except the values in the diff
of a new draft; the summary never repeats them.
"""

import base64
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, cast

from adclient._show import diffs
from adclient._values import jsontext
from adclient._values.json_values import JSON
from adclient._values.redact import without_secrets
from adclient._values.text import part_of, short
from adclient.errors import (
    AdClientError,
    InvalidRequest,
    LedgerError,
    OutcomeUnknown,
    PolicyRefused,
    RateLimited,
    ServerError,
    TransportError,
)
from adclient.ledger.entry import Entry
from adclient.models import PENDING_APPROVAL, Draft, Item

if TYPE_CHECKING:
    from adclient import AsyncPage, Page

Object = dict[str, JSON]

# A model can ask for other columns, and for what follows. A longer cursor would fill its context.
_ROWS, _COLUMNS, _TEXT, _MESSAGE, _CURSOR = 20, 10, 120, 300, 2048

_LOOK = (
    "A draft may have been staged: do not call again, and ask a human to look in the approval "
    "dashboard."
)

# Of an entry of the ledger.
_OF_ENTRY = ("at", "state", "draft_id", "operation", "over_limit")
_UNSURE = "One that is `under way` or `unknown` may not exist: ask a human."

# What a model should do about an error, by the first of these that it is.
_ADVICE: tuple[tuple[type[AdClientError] | tuple[type[AdClientError], ...], str], ...] = (
    (OutcomeUnknown, _LOOK),
    (PolicyRefused, "Nothing was sent: stay within the policy, or ask a human."),
    (LedgerError, "Nothing was sent: a human must first repair the ledger."),
    (InvalidRequest, "Nothing was sent: correct the arguments, and call again."),
    ((RateLimited, ServerError, TransportError), "Nothing was staged: call again later."),
    (AdClientError, "Nothing was staged: check the arguments, or ask a human."),
)


class Position(NamedTuple):
    """The start of the shown rows: a continuation of the service, and a row of that page."""

    cursor: JSON = None
    row: int = 0

    @classmethod
    def read(cls, text: object) -> "Position | None":
        """The position in a `next` of ours; None if the text is none."""
        with suppress(ValueError, TypeError, jsontext.JSONError):
            match jsontext.loads(base64.urlsafe_b64decode(cast(str, text))):
                case [cursor, int(row)] if row >= 0:
                    return cls(cursor, row)
                case _:
                    pass
        return None

    def text(self) -> str | None:
        """The position as one word that hides the text of the service; None if it is long."""
        with suppress(jsontext.JSONError):
            text = jsontext.dumps([without_secrets(self.cursor), self.row], "next")
            word = base64.urlsafe_b64encode(text.encode()).decode()
            return word if len(word) <= _CURSOR else None
        return None


def schema(name: str, element: str) -> Object:
    """The schema of a tool's results, errors included: some programs check those as well."""
    text: Object = {"type": "string"}
    array: Object = {"type": "array", "items": {"type": element}}
    parts: Object = {"type": "object", "properties": {name: array, "draft_id": text}}
    shown: Object = {"summary": text, "error": text, "next": text, "untrusted": parts}
    shown["outcome_unknown"] = {"type": "boolean"}
    return {"type": "object", "properties": shown, "required": ["summary"]}


def of_draft(draft: Draft, over_limit: str | None) -> Object:
    """A draft, and how it exceeds a limit of the policy, if it does."""
    if over_limit is not None:
        summary = "Staged, but over a limit of the policy: ask a human to reject it."
    elif draft.status == PENDING_APPROVAL:
        summary = "Staged, waiting for approval. Nothing has changed; a human decides."
    else:
        summary = "Staged, with a status that is not known: ask a human to look."
    shown: Object = {
        "draft_id": _clean(draft.draft_id),
        "diff": [*diffs.lines(draft.diff)],
        "status": _clean(draft.status),
        "requires": _clean(draft.requires),
    }
    further = dict(draft.extra)  # such as warnings
    further |= {f"diff.{name}": value for name, value in draft.diff.extra.items()}
    if further:
        names = [*further]
        shown["also_sent"] = {
            short(name, _TEXT): _clean(further[name], _MESSAGE) for name in names[:_COLUMNS]
        }
        if others := names[_COLUMNS:]:
            shown["other_fields"] = [_clean(name) for name in others[:_ROWS]]
    if over_limit is not None:
        shown["over_limit"] = _clean(over_limit, _MESSAGE)
    return {"summary": summary, "untrusted": shown}


def of_page(page: "Page[Item] | AsyncPage[Item]", start: Position, wanted: list[str]) -> Object:
    """Some rows of a page with some columns, and where to continue."""
    end = start.row + _ROWS
    rows = [item.to_dict() for item in page.data[start.row : end]]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = ["id", *wanted[:_ROWS]] if wanted else names[:_COLUMNS]
    items: list[JSON] = [
        {str(_clean(name)): _clean(row[name]) for name in columns if name in row} for row in rows
    ]
    others: list[JSON] = [_clean(name) for name in names if name not in columns]
    following = Position(start.cursor, end) if end < len(page.data) else Position(page.next)
    result: Object = {"untrusted": {"items": items, "other_columns": others[:_ROWS]}}
    if following == Position():
        more = "there are no more"
    elif (text := following.text()) is None:
        more = "there are more, but their cursor is too long to pass on"
    else:
        more = "for more, call again with `next` as `cursor`"
        result["next"] = text
    return {"summary": f"{len(items)} item{'s' * (len(items) != 1)}; {more}.", **result}


def of_entries(entries: Iterable[Entry], accounts: Sequence[str] | None) -> Object:
    """The newest writes to some accounts, or to all, that staged a draft or may have."""
    staged = [
        each
        for each in entries
        if (each.draft_id or each.is_unknown) and (accounts is None or each.account_id in accounts)
    ]
    drafts: list[JSON] = []
    for each in staged[-_ROWS:]:
        lines, entry = diffs.lines_of_call(each.arguments, _COLUMNS), each.to_dict()
        fields: Object = {name: _clean(entry[name]) for name in _OF_ENTRY if name in entry}
        shown: list[JSON] = [part_of(line, 0, _MESSAGE) for line in lines]
        drafts.append(fields | Object(arguments=shown))
    summary = f"Drafts: {len(staged)}; shown: {len(drafts)}, the newest last. {_UNSURE}"
    return {"summary": summary, "untrusted": {"drafts": drafts}}


def of_error(error: AdClientError) -> Object:
    """An error, and what to do about it."""
    shown: Object = {"message": _clean(str(error), _MESSAGE)}
    if error.draft_id is not None:
        shown["draft_id"] = _clean(error.draft_id)
    return {
        "summary": next(advice for classes, advice in _ADVICE if isinstance(error, classes)),
        "error": type(error).__name__,
        "outcome_unknown": error.outcome_unknown,
        "retry_after": error.retry_after,
        "untrusted": shown,
    }


def _clean(value: JSON, longest: int = _TEXT) -> JSON:
    """A small number, a bool or null as it is, and anything else as a short line of text."""
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int) and abs(value) < 2**53:  # larger ones lose digits in JavaScript
        return value
    return short(value, longest)
