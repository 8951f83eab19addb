"""The checks of a write, which stage drafts in a test account."""

from collections.abc import Iterator
from decimal import Decimal

from adclient._values.jsontext import dumps
from adclient.extend import Operation
from adclient.models import HUMAN_TWO_STEP_APPROVE, JSON, PENDING_APPROVAL
from adclient.survey.observation import READS, Observation
from adclient.survey.reads import read_listing, refusal
from adclient.survey.run import Arguments, Found, Run

# The interface leaves the inside of `fields` and `targeting` open, so these may be refused.
_GUESSES: Arguments = {
    "fields": {"name": "adclient conform"},
    "daily_budget": 123,
    "keywords": ["adclient conform"],
    "targeting": {"locations": ["adclient conform"]},
}
_OTHER_TYPE: JSON = [[7]]  # which no parameter has
_SHOWN_BY = {"beta": READS["beta.list_campaigns"], "gamma": READS["gamma.list_ads"]}

Shown = dict[str, tuple[JSON, JSON]]  # the name and status of items, by id


def check_write(run: Run, operation: Operation) -> Iterator[Found]:
    """Run the checks of a write with the first test account of its platform."""
    platform, name = operation.namespace, operation.full_name
    account_id = next((each for each in run.staging if (platform, each) in run.accepted), None)
    if account_id is None:
        run.reasons[name] = f"no test account is one of {platform}"
        return
    shown = _shown(run, operation, account_id)
    arguments = _valid(run, operation, account_id, shown)
    for parameter in operation.parameters:
        if parameter.required and parameter.name not in arguments:
            run.reasons[name] = f"no read shows a {parameter.name}: pass one in `arguments`"
            return
    first = run.ask(operation, arguments)
    is_given = name in run.given and {"account_id", *run.given[name]} >= arguments.keys()
    if first.is_refused and first.status != 405 and not is_given:
        yield "HTTP status", "open", f"{first.text}; pass valid `arguments`"
    else:
        yield "HTTP status", first.status == 201, first.text
    if not first.is_success:
        return
    yield "body", isinstance(first.body, dict), first.kind
    if isinstance(first.body, dict):
        yield from _check_draft(run, arguments, first.body, shown)
    second = run.ask(operation, arguments)
    changes = list(_changes(first, second))
    if shown is not None and (now := _shown(run, operation, account_id)) is not None:
        changes += [(each, shown.get(each) == now.get(each)) for each in {**shown, **now}]
    if changes:
        changed = [what for what, is_same in changes if not is_same]
        yield "nothing live", not changed, f"changed: {', '.join(changed) or 'nothing'}"
    yield from _check_refusals(run, operation, arguments)


def _valid(run: Run, operation: Operation, account_id: str, shown: Shown | None) -> dict[str, JSON]:
    """Arguments that the interface allows: as few as show a change, and those that are given."""
    known = [each for each in operation.parameters if each.name in _GUESSES]
    chosen = [each for each in known if each.required] or known[:1]
    arguments = {each.name: _GUESSES[each.name] for each in chosen}
    if operation.full_name == "beta.pause_campaign" and shown:
        arguments["campaign_id"] = min(shown, key=lambda each: shown[each][1] != "ENABLED")
    # The account is one of those that may be written to, whatever is given.
    return {**arguments, **run.given.get(operation.full_name, {}), "account_id": account_id}


def _check_draft(
    run: Run, arguments: Arguments, draft: dict[str, JSON], shown: Shown | None
) -> Iterator[Found]:
    draft_id, status, requires, diff = map(draft.get, ("draft_id", "status", "requires", "diff"))
    is_id = isinstance(draft_id, str) and draft_id.startswith("draft_") and draft_id != "draft_"
    yield "draft_id", is_id and draft_id not in run.draft_ids, _text(draft, "draft_id")
    run.draft_ids.append(draft_id)
    yield "status", status == PENDING_APPROVAL, _text(draft, "status")
    yield "requires", requires == HUMAN_TWO_STEP_APPROVE, _text(draft, "requires")
    yield "diff", isinstance(diff, dict), _text(draft, "diff")
    if isinstance(diff, dict):
        field, before, after = map(diff.get, ("field", "before", "after"))
        yield "diff.field", isinstance(field, str) and field != "", _text(diff, "field")
        item = (shown or {}).get(str(arguments.get("campaign_id")))
        # A number may be a code of the status.
        is_code = not isinstance(before, str)
        is_live = is_code or field != "status" or item is None or item[1] == before
        yield "diff.before", "before" in diff and is_live, _text(diff, "before")
        # The interface shows numbers, and allows other values.
        is_amount = field == "daily_budget" and isinstance(after, int | float | Decimal)
        is_asked = not is_amount or after == arguments.get("daily_budget", after)
        yield "diff.after", "after" in diff and is_asked, _text(diff, "after")


def _text(fields: dict[str, JSON], name: str) -> str:
    is_there = name in fields
    return dumps(fields[name], name, errors="backslashreplace") if is_there else "missing"


def _changes(first: Observation, second: Observation) -> Iterator[tuple[str, bool]]:
    """Whether the `before` of a second draft is the same, as nothing is live."""
    one, other = first.fields.get("diff"), second.fields.get("diff")
    if isinstance(one, dict) and isinstance(other, dict) and "before" in {*one} & {*other}:
        yield "the `before` of the next draft", one["before"] == other["before"]


def _shown(run: Run, operation: Operation, account_id: str) -> Shown | None:
    """The items that a draft could change; None if no read shows them all."""
    read = _SHOWN_BY.get(operation.namespace)
    if read is None:
        return None
    listing = read_listing(run, read, account_id, run.ask(read, {"account_id": account_id}))
    items = [item for _, item in listing.items if isinstance(item, dict)]
    found = {str(item.get("id")): (item.get("name"), item.get("status")) for item in items}
    return found if listing.is_whole else None


def _check_refusals(run: Run, operation: Operation, arguments: Arguments) -> Iterator[Found]:
    """Check that what the interface does not allow stages no draft."""
    read = next(each for each in READS.values() if each.namespace == operation.namespace)
    received = run.ask(read, arguments, path=operation.path)
    yield refusal("by GET", received, is_wrong="draft_id" in received.fields)
    for parameter in operation.parameters:
        name = parameter.name
        others = {key: value for key, value in arguments.items() if key != name}
        # A request without the test account could reach another one.
        is_account = name == "account_id"
        wrong: JSON = [arguments[name]] if is_account else _OTHER_TYPE
        requests = {f"{name} of another type": {**others, name: wrong}}
        if parameter.required and not is_account:
            requests[f"without {name}"] = others
        for what, changed in requests.items():
            received = run.ask(operation, changed)
            is_staged = received.is_success or "draft_id" in received.fields
            # The interface names the type, and does not say that no other one is understood.
            is_wrong = is_staged and what.startswith("without")
            yield (
                (what, "open", received.text)
                if is_staged and not is_wrong
                else refusal(what, received, is_wrong=is_wrong)
            )
