"""Changes that revert the drafts of a plan, from what a ledger has recorded."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain, count

from adclient._values.json_values import JSON, differ
from adclient._values.redact import one_line
from adclient._values.text import NOTE, ids_in_full, pair_in_full, short
from adclient._values.toml import Document, value_text
from adclient.errors import ConfigurationError
from adclient.ledger.entry import Entry
from adclient.plan.change import SETTABLE, PlannedChange, overlaps, read_change, values_set

Table = dict[str, object]


def reverted(plan_id: str, entries: Iterable[Entry]) -> tuple[list[Table], list[str]]:
    """A change for each draft of a plan, the last one first, and a note on each that has none."""
    changes: list[Table] = []
    notes: list[str] = []
    changes_of = defaultdict[str, list[tuple[str, PlannedChange]]](list)  # by what they target
    for entry in reversed([*entries]):
        if not (entry.change or "").startswith(f"{plan_id}:") or not entry.may_be_draft:
            continue
        target = {name: value for name, value in entry.arguments.items() if name.endswith("_id")}
        try:
            change = _change(entry, target, _values_before(entry))
            later = changes_of[str(target)]
            if any(overlaps([*later, ("", change)])):
                raise ValueError("a later draft of the plan changes the same")
            later.append(("", change))
            changes.append(change.to_dict())
        except (ConfigurationError, ValueError) as error:
            problem = str(error).removeprefix("the plan, change 1: ")
            draft = f"draft {entry.draft_id}" if entry.draft_id else "perhaps a draft"
            what = f"{entry.operation}, {ids_in_full(*target.values())}"
            notes.append(one_line(f"{draft} is not reverted: {problem} ({what})", NOTE))
    return changes, notes


def unused_id(plan_id: str, entries: Iterable[Entry]) -> str:
    """The id, with a number if drafts of a plan with this id exist."""
    used = {(entry.change or "").partition(":")[0] for entry in entries if entry.may_be_draft}
    ids = chain([plan_id], (f"{plan_id}-{number}" for number in count(2)))
    return next(each for each in ids if each not in used)


def _values_before(entry: Entry) -> Mapping[str, JSON]:
    """The value before of each name that a call has set, if the diff shows exactly those.

    Raises:
        ValueError: They are not known, or the draft changes something else.
    """
    diff, given = entry.diff, values_set(entry.arguments)
    if entry.is_unknown:
        raise ValueError("its outcome is unknown")
    if entry.over_limit is not None:
        raise ValueError("it was over a limit, so it should have been rejected")
    if diff is None:
        raise ValueError("the ledger does not have its diff")
    if ".create_" in entry.operation or diff.before is None or diff.after is None:
        raise ValueError("what is created or removed cannot be reverted")
    if "keywords" in entry.arguments:
        raise ValueError("changes of keywords cannot be reverted")
    before, after = diff.before, diff.after
    if diff.field in given or not isinstance(before, dict) or not isinstance(after, dict):
        before, after = {diff.field: before}, {diff.field: after}  # else of several fields
    if not before.keys() == after.keys() == given.keys():
        shown, wanted = (short(", ".join(names)) for names in (before, given))
        raise ValueError(f"its diff shows {shown}, and its call has set {wanted or 'no value'}")
    for name, value in given.items():
        if differ(after[name], value):
            shown, wanted = pair_in_full(after[name], value)
            raise ValueError(f"its diff sets {short(name)} to {shown}, and its call to {wanted}")
    return before


def _change(entry: Entry, target: Mapping[str, JSON], before: Mapping[str, JSON]) -> PlannedChange:
    """The change that sets the values before, each where the call has set it.

    Raises:
        ConfigurationError: A plan cannot have it.
        ValueError: A file cannot have it.
    """
    own = {name: before[name] for name in SETTABLE if name in before and name in entry.arguments}
    fields = {name: before[name] for name in before if name not in own}
    table: Table = {"call": entry.operation, **target, **own}
    if fields:
        table["fields"] = fields
    table["why"] = f"reverts draft {entry.draft_id}"
    table["expect"] = None if entry.diff is None else entry.diff.after
    value_text(table)
    return read_change(Document("the plan", {}), "", 0, table)
