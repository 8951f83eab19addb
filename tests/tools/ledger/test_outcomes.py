"""What became of drafts, as the reads of a service show it that is not the fake."""

import itertools
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from urllib.parse import parse_qs

import attrs
import httpx
import pytest
from cases import each_case
from clients import sync_and_async, wait
from ledger_tests import Clock

from adclient import AdClient, AsyncAdClient, ConfigurationError, Diff
from adclient.ledger import Entry, SQLiteLedger
from adclient.policy import Policy

URL = "https://ads.example.com"
NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)
CAMPAIGN = {
    "id": "7", "name": "Frühling", "status": "ENABLED", "bid": 1.25, "endDate": "2026-12-31",
    "budget": {"daily_budget": "100.00", "currency": "EUR", "state": "NEW"},
    "schedule": {"days": ["MON", "FRI"], "hours": {"from": 8}}, "is_test": True, "shared": None,
    "pending_change": {"cap": 2, "max_budget": 9}, "postcode": "2134", "max": 1, "MAX": 2,
    "groups": [{"name": "all", "floor": 3}],
}  # fmt: skip
NUMBERS = itertools.count()
BUDGET = {"daily_budget": 100, "currency": "EUR"}
SET = {"status": "ENABLED", "bid": 2}


class Shop:
    """A service with one item a page, which keeps budgets as texts, inside of an object."""

    def __init__(self, **listings: list[dict]) -> None:
        self.listings = {"list-beta-campaigns": [CAMPAIGN], **listings}
        self.requests: list[httpx.Request] = []
        self.broken: set[int] = set()  # the numbers of requests that fail
        self.transport = httpx.MockTransport(self._respond)

    def _respond(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        query = {name: value for name, [value] in parse_qs(request.url.query.decode()).items()}
        if query["account_id"] != "a" or len(self.requests) in self.broken:
            return httpx.Response(403, json={"error": {"message": "no access"}})
        items = self.listings[request.url.path.rpartition("/")[2]]
        start = json.loads(query.get("cursor", "0"))
        following = start + 1 if start + 1 < len(items) else None
        return httpx.Response(200, json={"data": items[start:][:1], "page": {"next": following}})

    def client(self, kind=AdClient, **options):
        return kind(URL, transport=self.transport, max_retries=0, **options)


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON - timedelta(days=9))


@pytest.fixture
def ledger(tmp_path, clock) -> SQLiteLedger:
    return SQLiteLedger(tmp_path / "drafts.db", now=clock)


def stage(ledger, diff, number=1, operation="beta.pause_campaign", **arguments) -> Entry:
    """Record a staged draft."""
    arguments = {"account_id": "a", "campaign_id": "7", **arguments}
    entry = Entry(
        entry_id=f"entry_{number}",
        operation=operation,
        account_id=arguments["account_id"],
        arguments={name: value for name, value in arguments.items() if value is not None},
    )
    admitted = ledger.reserve(entry, lambda usage: None)
    draft = {"state": "staged", "draft_id": f"draft_{number}"}
    ended = attrs.evolve(admitted, **draft, diff=diff and Diff(**diff))
    ledger.end(ended)
    return ended


def a_diff(field, before, after) -> dict:
    return {"field": field, "before": before, "after": after}


LIVE = ("seen live", "seen live")
WAITING = ("not seen", "not seen for 9 days")
NOTHING = ("cannot be read", "cannot be read: the ledger has no change to compare")
WHOLE = "{daily_budget: 100.00, currency: EUR, state: NEW}"


def waiting(path: str) -> tuple[str, str]:
    return "not seen", f"not seen for 9 days ({path})"


def overtaken(how: str) -> tuple[str, str]:
    return "overtaken", f"overtaken by {how}"


def unread(problem: str) -> tuple[str, str]:
    return "cannot be read", f"cannot be read: {problem}"


def unshown(path: str) -> tuple[str, str]:
    return unread(f"beta.list_campaigns does not show {path}")


def odd(path: str, value: str) -> tuple[str, str]:
    return unread(f"{path} is {value}, which cannot be compared")


@each_case(
    ("field", "before", "after", "expected", "seen"),
    ("status", "PAUSED", "ENABLED", LIVE, "ENABLED"),
    ("status", "ENABLED", "PAUSED", WAITING, "ENABLED"),
    ("status", "PAUSED", "ENDED", overtaken("ENABLED"), "ENABLED"),
    # Numbers are compared by value, also as text, and in the object `budget`.
    ("daily_budget", 90, 100, LIVE, "100.00"),
    ("dailyBudget", 90.0, Decimal("100.000"), LIVE, "100.00"),
    ("daily_budget", 100, 120, WAITING, "100.00"),
    ("bid", "1", "0.5", overtaken("1.25"), 1.25),
    # A leading zero makes it a text.
    ("postcode", "10115", "02134", overtaken("2134"), "2134"),
    ("bid", "01", "01.25", odd("bid", "1.25"), None),
    ("end_date", None, "2026-12-31", LIVE, "2026-12-31"),
    ("is_test", False, True, LIVE, True),
    ("is_test", 0, 1, odd("is_test", "true"), None),
    # Objects are compared value by value.
    ("budget", BUDGET, {"daily_budget": 120}, waiting("budget.daily_budget"), "100.00"),
    ("fields", {"daily_budget": 90}, {"daily_budget": 100, "bid": 1.25}, LIVE, "100.00"),
    ("campaign", {"status": "X", "bid": 1}, SET, overtaken("1.25 (campaign.bid)"), 1.25),
    ("fields", {"x": 1}, {"status": "ENABLED", "x": 2}, unshown("fields.x"), None),
    # A list is one value.
    ("schedule", {"days": ["SUN"]}, {"days": ["MON", "FRI"]}, LIVE, ["MON", "FRI"]),
    ("groups", [], [{"name": "all", "floor": "3"}], LIVE, [{"name": "all", "floor": 3}]),
    # A null before may mean that the service does not tell.
    ("status", None, "PAUSED", WAITING, "ENABLED"),
    ("fields", {}, {"status": "PAUSED"}, waiting("fields.status"), "ENABLED"),
    ("shared", "x", None, LIVE, None),
    ("shared", "x", "y", overtaken("null"), None),
    # Other objects in it, names that are there twice, and other forms are not guessed at.
    ("cap", 1, 2, unshown("cap"), None),
    ("pending_change.cap", 1, 2, LIVE, 2),
    ("state", "OLD", "NEW", unshown("state"), None),
    ("max", 1, 2, unread("beta.list_campaigns shows different values of max"), None),
    ("floor", 2, 3, unshown("floor"), None),
    ("budget", 100, 120, odd("budget", WHOLE), None),
    ("daily_budget", "9 €", "12 €", odd("daily_budget", "100.00"), None),
    ("daily_budget", 100, "100.0", odd("daily_budget", "100.00"), None),
    ("status", "PAUSED", "PAUSED", NOTHING, None),
    (None, None, None, NOTHING, None),
)
def test_value_that_is_read_is_compared_with_both_of_the_diff(
    ledger, clock, field, before, after, expected, seen
) -> None:
    clock.now = NOON - timedelta(days=9)
    diff = None if field is None else a_diff(field, before, after)
    entry = stage(ledger, diff, next(NUMBERS))
    clock.now = NOON
    with Shop().client() as client:
        [outcome] = ledger.outcomes(client, [entry])
    assert (outcome.entry, outcome.state, outcome.text) == (entry, *expected)
    assert outcome.seen == seen
    assert repr(outcome) == f"<DraftOutcome {entry.draft_id}, {outcome.text}>"


def outcomes(ledger, shop, clock, *arguments) -> list[tuple[str, str]]:
    clock.now = NOON
    with shop.client() as client:
        return [(each.state, each.text) for each in ledger.outcomes(client, *arguments)]


ENABLE, PAUSE = a_diff("status", "PAUSED", "ENABLED"), a_diff("status", "ENABLED", "PAUSED")


def test_what_no_read_shows_is_not_asked_for(ledger, clock) -> None:
    # A creation may refer to a campaign or an ad, which need not be what it creates.
    created = ["beta.create_video_campaign", "gamma.create_image_campaign", "gamma.create_dco_ad"]
    operations = [*created, "alpha.update_creative", "delta.update_keyword", "x.y"]
    for number, operation in enumerate(operations):
        stage(ledger, ENABLE, number, operation, ad_id="7", creative_id="7")
    stage(ledger, ENABLE, 9, campaign_id=None)
    shop = Shop()
    found = outcomes(ledger, shop, clock)
    named = [*operations, "beta.pause_campaign"]
    assert found == [unread(f"no read finds what {each} changes") for each in named]
    assert not shop.requests


def test_campaign_that_an_objective_lists_is_found(ledger, clock) -> None:
    objective = {"id": "7", "name": "SALES", "status": "ENABLED", "daily_budget": 120}
    live = {"id": 7, "name": "x", "budget": {"daily_budget": "140"}}
    other = {"campaigns": [{"id": "7", "daily_budget": 120}]}
    found_twice = {"campaigns": [{**live, "id": "5"}, {"id": "5", "dailyBudget": 120}]}
    objectives = [
        {**objective, "recommended_campaigns": other["campaigns"], "advice": other},
        {**objective, "campaigns": ["8", live]},
        {**objective, "campaign": {**live, "id": "9"}},
        {**objective, "campaigns": [{**live, "id": "9"}, {"id": "9", "name": "x"}]},
        {**objective, **found_twice},
    ]
    shop = Shop(**{"explain-alpha-objectives": objectives})
    for number in "795":
        change = a_diff("daily_budget", 100, 120)
        stage(ledger, change, number, "alpha.update_campaign_budget", campaign_id=number)
    *shown, ambiguous = outcomes(ledger, shop, clock)
    assert shown == [overtaken("140")] * 2
    assert ambiguous == unread("alpha.explain_objectives shows different values of daily_budget")


def test_campaign_that_is_gone_and_account_without_access_have_reasons(ledger, clock) -> None:
    stage(ledger, PAUSE, 1, campaign_id="8")
    stage(ledger, PAUSE, 2, account_id="b")
    stage(ledger, PAUSE, 3)
    gone, refused, found = outcomes(ledger, Shop(), clock)
    assert gone == unread("beta.list_campaigns does not show 8")
    assert refused[0] == "cannot be read"
    assert refused[1].startswith("cannot be read: beta.list_campaigns: 403: no access")
    assert found == WAITING
    clock.now = NOON
    with Shop().client(policy=Policy(accounts=["b"])) as client:
        text = ledger.outcomes(client)[0].text
    assert "account a is not one of the policy's accounts; nothing was sent" in text


def test_campaign_cannot_be_read_if_the_rest_of_its_listing_cannot(ledger, clock) -> None:
    shop = Shop(**{"list-beta-campaigns": [CAMPAIGN, {**CAMPAIGN, "status": "PAUSED"}]})
    stage(ledger, ENABLE)
    [ambiguous] = outcomes(ledger, shop, clock)
    assert ambiguous == unread("beta.list_campaigns shows different values of status")
    shop.broken = {4}
    [failed] = outcomes(ledger, shop, clock)
    assert failed[1].startswith("cannot be read: beta.list_campaigns: 403: no access")


def test_only_staged_entries_have_an_outcome(ledger, clock) -> None:
    stage(ledger, PAUSE, 1)
    refused = attrs.evolve(stage(ledger, PAUSE, 2), entry_id="3", state="refused")
    ledger.reserve(refused, lambda usage: None)
    shop = Shop()
    assert outcomes(ledger, shop, clock, [refused]) == []
    with pytest.raises(ConfigurationError, match="entries must be those of a ledger"):
        outcomes(ledger, shop, clock, [refused.entry_id])
    assert not shop.requests
    assert outcomes(ledger, shop, clock) == [WAITING, WAITING]


@sync_and_async
async def test_both_clients_read_the_same(client_kind, ledger, clock) -> None:
    campaigns = [{**CAMPAIGN, "id": each} for each in "6789"]
    stage(ledger, ENABLE, 1)
    stage(ledger, PAUSE, 2, account_id="b")
    stage(ledger, PAUSE, 3, "alpha.update_campaign_budget", campaign_id="gone")
    stage(ledger, PAUSE, 4, campaign_id="8")
    clock.now = NOON
    shop = Shop(**{"list-beta-campaigns": campaigns, "explain-alpha-objectives": [CAMPAIGN]})
    client = shop.client(client_kind.client)
    found = await wait(ledger.outcomes(client))
    states = ["seen live", "cannot be read", "cannot be read", "not seen"]
    assert [each.state for each in found] == states
    assert len(shop.requests) == 6  # each account is listed once
    assert all(request.method == "GET" for request in shop.requests)
    assert len(await wait(ledger.outcomes(client, []))) == 0
    await (client.aclose() if isinstance(client, AsyncAdClient) else wait(client.close()))
    with pytest.raises(ConfigurationError, match="this client is closed"):
        await wait(ledger.outcomes(client))
