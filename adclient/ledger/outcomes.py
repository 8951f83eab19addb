"""What became of staged drafts, as far as the reads of the service show it."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal, get_args

import attrs

from adclient._show.diffs import MISSING, Difference, Missing, differences_of
from adclient._show.records import PublicDir
from adclient._show.signatures import public_in
from adclient._tables.items import Items
from adclient._values.json_values import JSON, folded
from adclient._values.redact import one_line
from adclient._values.text import short, short_end
from adclient.errors import AdClientError
from adclient.ledger.entry import Entry
from adclient.models import Item
from adclient.policy.rules import amount_of

# A draft that changes several values has the first of these states that one of them has.
OutcomeState = Literal["overtaken", "not seen", "cannot be read", "seen live"]
_STATES = get_args(OutcomeState)
_Seen = tuple[OutcomeState, JSON, str]  # a state, the value that was read, and both in words
_Target = tuple[str, str, str]  # a read, and the ids of an account and of a campaign in it

# The reads that may show the campaign that a draft changes. What a creation refers to is not what
# it creates, and no other draft names a campaign.
_READS = {
    "alpha.update_campaign_budget": "alpha.explain_objectives",
    "alpha.update_campaign_targeting": "alpha.explain_objectives",
    "beta.pause_campaign": "beta.list_campaigns",
}


@public_in("adclient.ledger")
@attrs.frozen(kw_only=True, repr=False)
class DraftOutcome(PublicDir):
    """What the reads of the service show of a staged draft; they never show if it was approved.

    Attributes:
        entry: The entry of the draft.
        state: `seen live` if the value is the one after the change, `not seen` if it is still the
            one before, `overtaken` if it is another one, or `cannot be read`.
        seen: The value that was read, or of several the one that determines the state; None if
            nothing was read.
        text: The state in words, such as `overtaken by 140` or `not seen for 9 days`.

    Examples:
        >>> from adclient.ledger import SQLiteLedger
        >>> from adclient.testing import FakeAdService
        >>> ledger, ids = SQLiteLedger("drafts.db"), {"account_id": "account_b204"}
        >>> with FakeAdService().client(ledger=ledger) as client:
        ...     draft = client.beta.pause_campaign(**ids, campaign_id="campaign_57a7")
        ...     outcome = ledger.outcomes(client)[0]
        >>> outcome.state, outcome.seen
        ('not seen', 'ENABLED')
    """

    entry: Entry
    state: OutcomeState
    seen: JSON = attrs.field(default=None, hash=False)
    text: str

    def __repr__(self) -> str:
        return f"<DraftOutcome {short(self.entry.draft_id)}, {self.text}>"


class Reading:
    """Reads what became of drafts: one listing for each account and read, however many drafts."""

    def __init__(self, staged: Sequence[Entry], now: datetime) -> None:
        self._staged, self._now = staged, now
        self._found = {target: list[JSON]() for each in staged if (target := _target_of(each))}
        self._problems = dict[tuple[str, str], str]()  # of a read and an account
        self._accounts = defaultdict[str, set[str]](set)  # of each read
        for read, account_id, _ in self._found:
            self._accounts[read].add(account_id)

    def read(self, client: Any) -> Items[DraftOutcome]:
        """Read with a sync client."""
        for read, accounts in self._accounts.items():
            for account_id, found in client.over_accounts(attrgetter(read)(client), accounts):
                self._take(read, account_id, found)
        return Items(map(self._outcome, self._staged), cls=DraftOutcome)

    async def async_read(self, client: Any) -> Items[DraftOutcome]:
        """Read with an async client."""
        for read, accounts in self._accounts.items():
            async for account_id, found in client.over_accounts(attrgetter(read)(client), accounts):
                self._take(read, account_id, found)
        return Items(map(self._outcome, self._staged), cls=DraftOutcome)

    def _take(self, read: str, account_id: str, found: Items[Item] | AdClientError) -> None:
        """Keep the campaigns that are looked for; an objective lists its own."""
        if isinstance(found, AdClientError):
            self._problems[read, account_id] = one_line(str(found))
            return
        for item in found:
            fields = item.to_dict()
            listed: list[JSON] = [fields]
            if read == "alpha.explain_objectives":
                several = fields.get("campaigns")
                listed = [fields.get("campaign"), *(several if isinstance(several, list) else ())]
            for campaign in listed:
                if isinstance(campaign, dict):
                    target = read, account_id, str(campaign.get("id"))
                    self._found.get(target, []).append(campaign)

    def _outcome(self, entry: Entry) -> DraftOutcome:
        """Compare each value that a draft changes with what was read."""
        target = _target_of(entry)
        if target is None:
            seen = [_unread(f"no read finds what {short(entry.operation)} changes")]
        elif problem := self._problems.get(target[:2]):
            seen = [_unread(problem)]
        elif not self._found[target]:
            seen = [_unread(f"{target[0]} does not show {short(target[2])}")]
        else:
            seen = [self._compared(entry, change, target) for change in _changes_of(entry)]
        nothing = _unread("the ledger has no change to compare")
        state, value, text = min(seen, key=lambda each: _STATES.index(each[0]), default=nothing)
        return DraftOutcome(entry=entry, state=state, seen=value, text=text)

    def _compared(self, entry: Entry, change: Difference, target: _Target) -> _Seen:
        read, path = target[0], short_end(change.path)
        values = [value for each in self._found[target] for value in _values(each, change.path)]
        if not values:
            return _unread(f"{read} does not show {path}")
        seen = values[0]
        now, before, after = map(_comparable, (seen, change.before, change.after))
        if any(_comparable(other) != now for other in values):
            return _unread(f"{read} shows different values of {path}")
        if before == after or type(now) not in map(type, (None, before, after)):
            return _unread(f"{path} is {short(seen)}, which cannot be compared")
        if now == after:
            return "seen live", seen, "seen live"
        where = f" ({path})" if change.within else ""
        if before not in (now, None, MISSING):  # null may also mean that the service hides it
            return "overtaken", seen, f"overtaken by {short(seen)}{where}"
        days = (self._now - entry.at).days
        age = f"for {days} day{'s' * (days > 1)}" if days > 0 else "yet"
        return "not seen", seen, f"not seen {age}{where}"


def _unread(problem: str) -> _Seen:
    return "cannot be read", None, f"cannot be read: {problem}"


def _target_of(entry: Entry) -> _Target | None:
    """What a draft changes, if a read may show it."""
    read, campaign_id = _READS.get(entry.operation), entry.arguments.get("campaign_id")
    return (read, entry.account_id, str(campaign_id)) if read and campaign_id else None


def _changes_of(entry: Entry) -> list[Difference]:
    """The values that a draft changes; a list is one value."""
    changes: dict[str, Difference] = {}
    for change in () if entry.diff is None else differences_of(entry.diff):
        while "[" in change.path and change.within is not None:
            change = change.within
        changes[change.path] = change
    return list(changes.values())


def _values(campaign: JSON, path: str) -> list[JSON]:
    """The values at the path of a diff; a service may spell one name in two ways.

    A name with `budget` is also looked for in `budget`; any other object may hold what was, or what
    is to be. A diff may call the whole by its kind, or by the name of the argument.
    """
    root, *inside = steps = path.split(".")
    steps = inside if inside and root in ("campaign", "fields") else steps
    found, in_budget = [campaign], [campaign] if "budget" in steps[-1].casefold() else []
    for name in steps:
        found = _inside(found, name)
    for name in ("budget", *steps):
        in_budget = _inside(in_budget, name)
    return found + in_budget


def _inside(values: list[JSON], name: str) -> list[JSON]:
    objects = [each for each in values if isinstance(each, dict)]
    return [each[key] for each in objects for key in each if folded(key) == folded(name)]


def _comparable(value: JSON | Missing) -> object:
    """A value in which a number equals a text that is one: 120 is 120.0 and "120.00"."""
    if isinstance(value, dict):
        return {name: _comparable(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return list(map(_comparable, value))
    if isinstance(value, bool):
        return (value,)  # true is not 1
    amount = amount_of(value)
    return value if amount is None else amount
