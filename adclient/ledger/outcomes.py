"""What became of staged drafts, as far as the reads of the service show it."""

from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, get_args

from adclient._show.diffs import MISSING, Difference, differences_of
from adclient._tables.items import Items
from adclient._values.json_values import JSON, values_named
from adclient._values.redact import one_line
from adclient._values.text import short, short_end
from adclient.errors import AdClientError
from adclient.ledger.entry import DraftOutcome, Entry, OutcomeState
from adclient.models import Item
from adclient.policy.rules import by_value

_STATES = get_args(OutcomeState)
_Seen = tuple[OutcomeState, JSON, str]  # a state, the value that was read, and both in words

# The reads that may show the campaign that a draft changes. What a creation refers to is not what
# it creates, and no other draft names a campaign.
_READS = {
    "alpha.update_campaign_budget": "alpha.explain_objectives",
    "alpha.update_campaign_targeting": "alpha.explain_objectives",
    "beta.pause_campaign": "beta.list_campaigns",
}


class Reading:
    """Reads what became of drafts: one listing for each account and read, however many drafts."""

    def __init__(self, staged: Sequence[Entry], now: datetime) -> None:
        self._staged, self._now = staged, now
        self._found = {target: list[JSON]() for each in staged if (target := _target_of(each))}
        self._problems = dict[tuple[str, str], str]()  # of a read and an account
        self._accounts = {
            read: {account_id for each, account_id, _ in self._found if each == read}
            for read in _READS.values()
        }

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
        """Compare each value that a draft changes with what was read; a list is one value."""
        target = _target_of(entry)
        if target is None:
            seen = [_unread(f"no read finds what {short(entry.operation)} changes")]
        elif not (campaigns := self._found[target]):
            missing = f"{target[0]} does not show {short(target[2])}"
            seen = [_unread(self._problems.get(target[:2], missing))]
        else:
            changes: dict[str, Difference] = {}
            for change in () if entry.diff is None else differences_of(entry.diff):
                while "[" in change.path and change.within is not None:
                    change = change.within
                changes[change.path] = change
            age = (self._now - entry.at).days
            seen = [_compared(each, target[0], campaigns, age) for each in changes.values()]
        nothing = _unread("the ledger has no change to compare")
        state, value, text = min(seen, key=lambda each: _STATES.index(each[0]), default=nothing)
        return DraftOutcome(entry=entry, state=state, seen=value, text=text)


def _target_of(entry: Entry) -> tuple[str, str, str] | None:
    """The read that may show what a draft changes, and the ids of its account and campaign."""
    read, campaign_id = _READS.get(entry.operation), entry.arguments.get("campaign_id")
    return (read, entry.account_id, str(campaign_id)) if read and campaign_id else None


def _compared(change: Difference, read: str, campaigns: list[JSON], age: int) -> _Seen:
    """Compare a change of a draft, `age` days ago, with the value that campaigns have now."""
    path, values = short_end(change.path), _values(campaigns, change.path)
    if not values:
        return _unread(f"{read} does not show {path}")
    now, before, after = map(by_value, (values[0], change.before, change.after))
    if any(by_value(other) != now for other in values):
        return _unread(f"{read} shows different values of {path}")
    if before == after or type(now) not in map(type, (None, before, after)):
        return _unread(f"{path} is {short(values[0])}, which cannot be compared")
    if now == after:
        return "seen live", values[0], "seen live"
    where = f" ({path})" if change.within else ""
    if before not in (now, None, MISSING):  # null may also mean that the service hides it
        return "overtaken", values[0], f"overtaken by {short(values[0])}{where}"
    how_long = f"for {age} day{'s' * (age > 1)}" if age > 0 else "yet"
    return "not seen", values[0], f"not seen {how_long}{where}"


def _unread(problem: str) -> _Seen:
    return "cannot be read", None, f"cannot be read: {problem}"


def _values(campaigns: list[JSON], path: str) -> list[JSON]:
    """The values at the path of a diff; a service may spell one name in two ways.

    A name with `budget` is also looked for in `budget`; any other object may hold what was, or what
    is to be. A diff may call the whole by its kind, or by the name of the argument.
    """
    root, *inside = steps = path.split(".")
    if "budget" in steps[-1].casefold():
        campaigns = campaigns + values_named(campaigns, "budget")
    for name in inside if inside and root in ("campaign", "fields") else steps:
        campaigns = values_named(campaigns, name)
    return campaigns
