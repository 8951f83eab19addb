"""The way back: changes that turn the drafts of a plan back, from what a ledger has recorded."""

from collections.abc import Iterable, Mapping

from adclient._core.redact import one_line
from adclient._display.notebook import NOTE, short
from adclient._values.json_values import JSON
from adclient._values.toml import Document, value_text
from adclient.errors import ConfigurationError
from adclient.ledger.entry import Entry
from adclient.plan.change import SETTABLE, read_change, values_set

Table = dict[str, object]


def reverted(plan_id: str, entries: Iterable[Entry]) -> tuple[list[Table], list[str]]:
    """A change for each draft of a plan, the last one first, and a note on each that has none."""
    changes: list[Table] = []
    notes: list[str] = []
    seen = set[tuple[object, ...]]()
    for entry in reversed([*entries]):
        is_of_plan = entry.change is not None and entry.change.startswith(f"{plan_id}:")
        if not is_of_plan or entry.state in ("refused", "not staged"):
            continue
        target = {name: value for name, value in entry.arguments.items() if name.endswith("_id")}
        try:
            before = _values_before(entry)
            places = {(*target.values(), name) for name in before}
            if not seen.isdisjoint(places):
                raise ValueError("a later draft of the plan changes the same")
            changes.append(_change(entry, target, before))
            seen |= places
        except (ConfigurationError, ValueError) as error:
            problem = str(error).removeprefix("the plan, change 1: ")
            draft = f"draft {entry.draft_id}" if entry.draft_id else "perhaps a draft"
            what = " ".join([entry.operation, *map(short, target.values())])
            notes.append(one_line(f"{draft} is not reverted: {problem} ({what})", NOTE))
    return changes, notes


def _values_before(entry: Entry) -> Mapping[str, JSON]:
    """The value before of each name that a draft changes, all of which its call has set.

    Raises:
        ValueError: They are not known, or the call cannot set them.
    """
    diff = entry.diff
    if entry.is_unknown:
        raise ValueError("its outcome is unknown")
    if entry.over_limit is not None:
        raise ValueError("it was over a limit, so it should have been rejected")
    if diff is None:
        raise ValueError("the ledger does not have its diff")
    if ".create_" in entry.operation or diff.before is None or diff.after is None:
        raise ValueError("what is created or removed has no way back here")
    names = values_set(entry.arguments).keys()
    if diff.field in names:
        return {diff.field: diff.before}
    match diff.before, diff.after:
        case dict(before), dict(after) if before.keys() == after.keys() <= names:
            return before  # of several fields
        case _:
            raise ValueError(f"its call cannot set {short(diff.field)} to what it was")


def _change(entry: Entry, target: Mapping[str, JSON], before: Mapping[str, JSON]) -> Table:
    """The table `[[change]]` that sets the values before, each where the call has set it.

    Raises:
        ConfigurationError: A plan cannot have it.
        ValueError: A file cannot have it.
    """
    own = {name: before[name] for name in SETTABLE if name in before and name in entry.arguments}
    fields = {name: before[name] for name in before if name not in own}
    change: Table = {"call": entry.operation, **target, **own}
    if fields:
        change["fields"] = fields
    change["why"] = f"reverts draft {entry.draft_id}"
    change["expect"] = None if entry.diff is None else entry.diff.after
    value_text(change)
    read_change(Document("the plan", {}), "", 0, change)
    return change
