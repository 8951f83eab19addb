"""The tools for models: their schemas, and what a model sees of a call."""

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import httpx
import pytest
from cases import each_case
from clients import SECRET, SYNC, Service, a_draft, sync_and_async, wait
from memory_ledger import MemoryLedger

from adclient import AdClient
from adclient.agents import call_tool, tools
from adclient.ledger import Entry, SQLiteLedger
from adclient.policy import Policy, PolicyWarning
from adclient.testing import FakeAdService, Fault

SCHEMAS = Path(__file__).with_name("tool_schemas.json")
ALL = tools(FakeAdService().client(), writes=True)
IDS = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
ADS = {"account_id": "account_c3d8"}
PAUSE = "beta_pause_campaign"


def with_policy(service=None, ledger=None, **rules) -> AdClient:
    transport, policy = (service or Service()).transport, Policy(**rules)
    return AdClient("https://ads.example.com", transport=transport, policy=policy, ledger=ledger)


def fake_client(client_kind, fake: FakeAdService, **options):
    return (fake.client if client_kind is SYNC else fake.async_client)(**options)


def pause(client) -> dict:
    return call_tool(client, PAUSE, IDS, writes=True)


@pytest.fixture
def ledger(tmp_path) -> SQLiteLedger:
    return SQLiteLedger(tmp_path / "drafts.db")


def staged(client, given: object = {}, **options):
    return call_tool(client, "list_staged_drafts", given, **{"writes": True, **options})


# Schemas.


def names_of(described) -> list[str]:
    return [tool["name"] for tool in described]


def properties_of(client, name):
    found = {tool["name"]: tool for tool in tools(client, writes=True)}
    return found[name]["input_schema"]["properties"]


def test_schemas_are_those_that_were_reviewed() -> None:
    """After a wanted change, run `python tools/make_tool_schemas.py`, and review the file."""
    assert json.loads(SCHEMAS.read_text("utf-8")) == ALL
    client = FakeAdService().async_client()
    for tool in tools(client, writes=True):
        for schema in tool["input_schema"]["properties"].values():
            schema.clear()  # as frameworks do
    assert tools(client, writes=True) == ALL
    program = (
        "import json; from adclient import agents, testing; "
        "print(json.dumps(agents.tools(testing.FakeAdService().client(), writes=True)))"
    )
    without_docstrings = subprocess.check_output([sys.executable, "-OO", "-c", program])
    assert json.loads(without_docstrings) == ALL


def test_policy_decides_which_tools_are_offered() -> None:
    client = with_policy(operations=["beta.*", "*.infer_*"])
    reads = ["beta_list_campaigns", "beta_detect_creative_fatigue"]
    assert names_of(tools(client)) == [*reads, "delta_infer_business_profile"]
    for nothing in ({"operations": []}, {"accounts": []}):
        assert tools(with_policy(**nothing), writes=True) == []
    # What one account allows is offered.
    rules = {"operations": ["*.list_*"], "account": {"b": Policy(operations=["beta.*"])}}
    client = with_policy(accounts=["a", "b"], **rules)
    writes = ["beta_create_video_campaign", PAUSE]
    assert names_of(tools(client, writes=True)) == [*writes, *reads, "gamma_list_ads"]
    account = properties_of(client, "beta_create_video_campaign")["account_id"]
    assert account == {"type": "string", "enum": ["a", "b"]}


OWN = {"a": Policy(money={"daily_budget": 75_000}), "b": Policy(money={"daily_budget": 20})}
NAME = Policy(fields=["name"])
AB, GENERAL = {"accounts": ["a", "b"]}, {"money": {"daily_budget": 500}}


@each_case(
    ("rules", "keys", "most"),
    ({}, "", None),
    ({"fields": ["name"], "money": {"daily_budget": 150}}, "name, daily_budget up to 150", 150),
    ({"money": {"daily_budget": Decimal("99.50")}}, "daily_budget up to 99.50", 99.5),
    ({"money": {"dailyBudget": 9}}, "dailyBudget up to 9", None),
    # The largest of all accounts.
    ({**AB, "account": OWN}, "daily_budget up to 75000", 75_000),
    ({"accounts": ["b", "c"], "account": {"b": OWN["b"]}}, "", None),  # nothing limits c
    ({"account": {"b": OWN["b"]}, **GENERAL}, "daily_budget up to 20", 20),
    # What one account or another allows.
    ({**AB, "account": {"a": OWN["b"], "b": NAME}}, "daily_budget up to 20, name", 20),
)
def test_keys_and_amounts_of_the_policy_are_described(rules, keys, most) -> None:
    properties = properties_of(with_policy(**rules), "alpha_update_campaign_budget")
    text = f"Allowed keys: {keys}" if keys else "Further fields to set on the campaign"
    assert properties["fields"]["description"] == text
    budget = properties["daily_budget"]
    assert (budget["type"], budget.get("maximum")) == ("number", most)
    assert type(budget.get("maximum")) is type(most)  # a `Decimal` is no JSON


# Results.


def test_draft_with_another_status_and_further_fields_is_shown_as_received() -> None:
    diff = {"field": "f", "before": 1, "after": 2, "warnings": "diff"}
    further = {"n": None, "yes": True, "half": 0.5, "most": 2**53 - 1}
    further |= {f"n{number}": number for number in range(5)}
    draft = a_draft(status="approved", warnings=["low"], diff=diff, **further)
    result = pause(with_policy(Service(draft)))
    assert result["summary"] == "Staged, with a status that is not known: ask a human to look."
    assert result["untrusted"]["status"] == "approved"
    assert result["untrusted"]["also_sent"] == {"warnings": "[low]", **further}
    large = pause(with_policy(Service(a_draft(more=2**53))))["untrusted"]["also_sent"]
    assert large == {"more": str(2**53)}  # larger numbers lose digits in JavaScript
    assert result["untrusted"]["other_fields"] == ["diff.warnings"]


def test_draft_over_a_limit_is_shown_and_listed_as_such(ledger) -> None:
    raised = a_draft(diff={"field": "bid", "before": 5, "after": 5.5})
    rules = {"change_at_most": 10, "money": {"daily_budget": 500, "bid": 9}}
    client = with_policy(Service(a_draft(), raised), ledger, **rules)
    given = {"account_id": "a", "campaign_id": "c", "daily_budget": 120}
    with pytest.warns(PolicyWarning):
        result = call_tool(client, "alpha_update_campaign_budget", given, writes=True)
    assert result["summary"] == "Staged, but over a limit of the policy: ask a human to reject it."
    [draft] = staged(client)["untrusted"]["drafts"]
    for shown in (result["untrusted"], draft):
        assert shown["over_limit"].startswith("daily_budget: 100 -> 120")
    # It is judged by the arguments that were sent, without those that are null.
    given |= {"daily_budget": None, "fields": {"bid": 5.5}}
    result = call_tool(client, "alpha_update_campaign_budget", given, writes=True)
    assert "over_limit" not in result["untrusted"]


@sync_and_async
async def test_every_row_of_a_listing_can_be_reached(client_kind) -> None:
    fake = FakeAdService()
    client, found, sizes, given = fake_client(client_kind, fake), [], [], dict(ADS)
    for _ in range(8):
        result = await wait(call_tool(client, "gamma_list_ads", given))
        found += [item["id"] for item in result["untrusted"]["items"]]
        sizes.append(result["summary"])
        given["cursor"] = result.get("next")
    assert found == [ad.id for ad in fake.client().gamma.list_ads(**ADS)]
    more = "items; for more, call again with `next` as `cursor`."
    pages = [f"{count} {more}" for count in (20, 20, 10)]
    assert sizes == [*pages, *pages, pages[0], "6 items; there are no more."]
    assert "next" not in result


def test_columns_of_a_listing_can_be_chosen() -> None:
    client = FakeAdService().client()
    first = call_tool(client, "gamma_list_ads", ADS)["untrusted"]
    assert all(len(item) == 10 for item in first["items"])
    assert first["other_columns"] == ["ctr", "conversions", "frequency"]
    chosen = call_tool(client, "gamma_list_ads", {**ADS, "columns": ["ctr", "nonsense"]})
    assert list(chosen["untrusted"]["items"][0]) == ["id", "ctr"]


# The drafts of the ledger.


@sync_and_async
async def test_staged_drafts_are_listed(client_kind, ledger) -> None:
    fake = FakeAdService()
    options = {"ledger": ledger, "policy": Policy(operations=["beta.*"]), "max_retries": 0}
    client = fake_client(client_kind, fake, **options)
    assert (await wait(staged(client)))["untrusted"] == {"drafts": []}  # it does not exist
    result = await wait(pause(client))
    assert result["summary"].startswith("Staged, waiting for approval. Nothing has changed;")
    assert result["untrusted"]["diff"] == ["status: ENABLED -> PAUSED"]
    for fault in (Fault.dropped(taken=True), Fault.status(404)):
        fake.faults.add(fault)
        await wait(pause(client))
    refused = ("delta_remove_auto_search_themes", {"account_id": "account_d118"})
    await wait(call_tool(client, *refused, writes=True))
    sent = len(fake.requests)
    shown = ["account_id: account_b204", "campaign_id: campaign_57a7"]
    expected = {"operation": "beta.pause_campaign", "arguments": shown}
    first, second = (entry.to_dict()["at"] for entry in ledger.entries()[:2])
    summary = "Drafts: 2; shown: 2, the newest last. One that is `under way` or `unknown` may not "
    drafts = [
        {"at": first, "state": "staged", "draft_id": fake.drafts[0].draft_id, **expected},
        {"at": second, "state": "unknown", **expected},
    ]
    found = {"summary": f"{summary}exist: ask a human.", "untrusted": {"drafts": drafts}}
    assert await wait(staged(client)) == found
    assert len(fake.requests) == sent
    other = fake_client(client_kind, fake, actor="kim", **options)
    assert (await wait(staged(other)))["untrusted"] == {"drafts": []}


def test_newest_drafts_of_the_accounts_of_the_policy_are_listed(ledger) -> None:
    long = {f"text{key}": "x" * 2000 for key in range(30)}
    for number, account in [(0, "b"), *((number, "a") for number in range(22))]:
        given = {"arguments": {"number": number, **long}, "account_id": account}
        entry = Entry(entry_id=f"{number}{account}", operation="beta.pause_campaign", **given)
        ledger.reserve(entry, lambda usage: None)
    result = staged(FakeAdService().client(ledger=ledger, policy=Policy(accounts=["a", "c"])))
    assert result["summary"].startswith("Drafts: 22; shown: 20, the newest last.")
    arguments = [draft["arguments"] for draft in result["untrusted"]["drafts"]]
    assert [lines[0] for lines in arguments] == [f"number: {n}" for n in range(2, 22)]
    assert len(json.dumps(result)) < 50_000
    assert arguments[0][1].startswith("text0: xxx")
    assert "… (2007 characters, SHA-256 " in arguments[0][1]
    assert arguments[0][-1].startswith("21 more changes are not shown (SHA-256 ")


def test_drafts_are_listed_only_with_writes_and_a_ledger_that_can_be_read(ledger, tmp_path) -> None:
    fake = FakeAdService()
    client = fake.client(ledger=ledger)
    refusing = fake.client(ledger=ledger, policy=Policy(accounts=[]))
    others = (client, fake.client(ledger=MemoryLedger()), fake.client(), refusing)
    for other in others:
        writes = other is not client
        assert "list_staged_drafts" not in names_of(tools(other, writes=writes))
        message = staged(other, writes=writes)["untrusted"]["message"]
        assert "there is no tool list_staged_drafts" in message
    *_, tool = tools(client, writes=True)
    assert tool["name"] == "list_staged_drafts"
    assert tool["input_schema"]["properties"] == {}
    message = staged(client, {"account_id": "a"})["untrusted"]["message"]
    assert "arguments must be an empty object" in message
    (tmp_path / "drafts.db").write_text("x" * 2000)
    assert staged(client)["error"] == "LedgerError"


# Arguments.


@each_case(
    ("name", "given", "sent"),
    (PAUSE, {"campaign_id": 12345678901234567890123}, "12345678901234567890123"),
    (PAUSE, {"campaign_id": 7.0}, "7"),
    ("delta_update_keyword", {"keywords": [501, "a"]}, ["501", "a"]),
)
def test_whole_number_is_sent_as_text_where_a_text_is_wanted(name, given, sent) -> None:
    service = Service(a_draft())
    call_tool(with_policy(service), name, {"account_id": -1, **given}, writes=True)
    assert [*json.loads(service.requests[0].content).values()] == ["-1", sent]


@each_case(
    ("name", "arguments", "message"),
    ("nonsense", {}, "there is no tool nonsense"),
    (PAUSE, [1], "beta.pause_campaign: arguments must be an object"),
    (PAUSE, {}, "account_id must be a non-empty str, got None"),
    (PAUSE, {**IDS, "x": 1}, "x is not one of account_id, campaign_id"),
    ("gamma_list_ads", {**ADS, "columns": [1]}, "columns must be a list of str"),
    *((PAUSE, {**IDS, "campaign_id": it}, "campaign_id must") for it in (True, 1.5, 1e18, [])),
    (PAUSE, {**IDS, "campaign_id": 10**5000}, "campaign_id must be a non-empty"),
    *(
        ("gamma_list_ads", {**ADS, "cursor": cursor}, "cursor must be the `next` of an earlier")
        for cursor in (7, "x", "W10=", "WzEsLTFd")
    ),
)
def test_wrong_call_is_refused_in_one_sentence(name, arguments, message) -> None:
    fake = FakeAdService()
    result = call_tool(fake.client(), name, arguments, writes=True)
    assert result["summary"] == "Nothing was sent: correct the arguments, and call again."
    assert result["error"] == "InvalidRequest"
    assert message in result["untrusted"]["message"]
    assert result["untrusted"]["message"].endswith("; nothing was sent")
    assert not fake.requests


def test_write_is_refused_unless_asked_for() -> None:
    fake = FakeAdService()
    message = call_tool(fake.client(), PAUSE, IDS)["untrusted"]["message"]
    assert f"{PAUSE} stages a draft, and this caller may only read" in message
    assert not fake.requests


# Errors.

LATER = httpx.Response(429, headers={"retry-after": "7"})


@each_case(
    ("response", "error", "advice", "is_unknown"),
    (httpx.Response(404), "NotFound", "Nothing was staged: check the arguments", False),
    (httpx.ConnectError("x"), "ConnectionFailed", "Nothing was staged: call again", False),
    (LATER, "RateLimited", "Nothing was staged: call again later.", False),
    (a_draft(diff=None), "OutcomeUnknownResponse", "A draft may have been staged", True),
)
@sync_and_async
async def test_error_results_in_advice(client_kind, response, error, advice, is_unknown) -> None:
    transport = Service(response).transport
    async with client_kind.open(transport=transport, max_retries=0, token=SECRET) as client:
        result = await wait(pause(client))
    assert result["summary"].startswith(advice)
    assert (result["error"], result["outcome_unknown"]) == (error, is_unknown)
    assert result["retry_after"] == (7.0 if response is LATER else None)
    has_id = getattr(response, "status_code", 0) == 201
    assert result["untrusted"].get("draft_id") == ("draft_7c2e" if has_id else None)
    assert SECRET not in json.dumps(result)
