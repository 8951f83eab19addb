"""The tools for models: their schemas, and what a model sees of a call."""

import json
from decimal import Decimal
from pathlib import Path

import httpx
import pytest
from cases import each_case
from clients import SECRET, Service, a_draft, a_page, sync_and_async, wait
from interface_table import ROWS
from memory_ledger import MemoryLedger

from adclient import AdClient, Entry, Policy, PolicyWarning, SQLiteLedger, call_tool, tools
from adclient._core.operations import OPERATIONS
from adclient.policy import Usage
from adclient.testing import FakeAdService, Fault

SCHEMAS = Path(__file__).with_name("tool_schemas.json")
ALL = tools(FakeAdService().client(), writes=True)
IDS = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
ADS = {"account_id": "account_c3d8"}
JSON_TYPES = {
    "string": {"type": "string"},
    "object": {"type": "object"},
    "number": {"type": "number"},
    "array of strings": {"type": "array", "items": {"type": "string"}},
}


def with_policy(service=None, **rules) -> AdClient:
    transport = (service or Service()).transport
    return AdClient("https://ads.example.com", transport=transport, policy=Policy(**rules))


def properties_of(client, name):
    found = {tool["name"]: tool for tool in tools(client, writes=True)}
    return found[name]["input_schema"]["properties"]


# Schemas.


def test_schemas_are_those_that_were_reviewed() -> None:
    """After a wanted change, run `python tools/make_tool_schemas.py`, and review the file."""
    assert json.loads(SCHEMAS.read_text("utf-8")) == ALL
    client = FakeAdService().async_client()
    for tool in tools(client, writes=True):
        for schema in tool["input_schema"]["properties"].values():
            schema.clear()  # as frameworks do
    assert tools(client, writes=True) == ALL


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.call)
def test_schema_has_the_parameters_of_the_interface(row) -> None:
    [tool] = [tool for tool in ALL if tool["name"] == row.call.replace(".", "_")]
    schema = tool["input_schema"]
    assert schema["required"] == [each.name for each in row.parameters if each.required]
    assert schema["additionalProperties"] is False
    found = {
        name: {key: value for key, value in each.items() if key != "description"}
        for name, each in schema["properties"].items()
    }
    expected = {each.name: JSON_TYPES[each.type] for each in row.parameters}
    if row.is_read:
        expected |= {"columns": JSON_TYPES["array of strings"], "cursor": JSON_TYPES["string"]}
    assert found == expected


def test_writes_are_offered_only_if_asked_for() -> None:
    reads = tools(FakeAdService().client())
    assert [tool["name"] for tool in reads] == [
        row.call.replace(".", "_") for row in ROWS if row.is_read
    ]
    warned = [tool for tool in ALL if "until a human approves" in tool["description"]]
    assert warned == [tool for tool in ALL if tool not in reads]


def test_policy_decides_which_tools_are_offered() -> None:
    client = with_policy(operations=["beta.*", "*.infer_*"])
    assert [tool["name"] for tool in tools(client)] == [
        "beta_list_campaigns",
        "beta_detect_creative_fatigue",
        "delta_infer_business_profile",
    ]

    for nothing in ({"operations": []}, {"accounts": []}):
        assert tools(with_policy(**nothing), writes=True) == []


def test_keys_and_amounts_of_the_policy_are_described() -> None:
    one = with_policy(accounts=["a"], fields=["name"], money={"daily_budget": 150})
    assert list(properties_of(one, "beta_pause_campaign")) == ["campaign_id"]
    [tool] = [tool for tool in tools(one) if tool["name"] == "alpha_explain_objectives"]
    assert tool["input_schema"]["required"] == []
    described = properties_of(one, "beta_create_video_campaign")["fields"]["description"]
    assert described == "Allowed keys: name, daily_budget up to 150"


@each_case(
    ("money", "most"),
    [
        ({"daily_budget": 150}, 150),
        ({"dailyBudget": Decimal("99.50"), "bid": 1}, 99.5),
        ({"daily_budget": 0}, 0),
        ({"bid": 1}, None),
        (None, None),
    ],
)
def test_amount_of_the_policy_is_the_maximum_in_the_schema(money, most) -> None:
    budget = properties_of(with_policy(money=money), "alpha_update_campaign_budget")["daily_budget"]
    assert budget.get("maximum") == most
    assert type(budget.get("maximum")) is type(most)  # a `Decimal` is no JSON
    assert budget["type"] == "number"


OWN = {"a": Policy(money={"daily_budget": 75_000}), "b": Policy(money={"daily_budget": 20})}


@each_case(
    ("rules", "most"),
    [
        ({"accounts": ["a", "b"], "account": OWN}, 75_000),
        ({"accounts": ["a"], "account": {"a": OWN["a"]}}, 75_000),
        ({"accounts": ["b"], "account": {"b": OWN["b"]}, "money": {"daily_budget": 500}}, 20),
        ({"accounts": ["b", "c"], "account": {"b": OWN["b"]}}, None),  # nothing limits c
        ({"account": {"b": OWN["b"]}, "money": {"daily_budget": 500}}, 500),  # of other accounts
        ({"account": {"b": OWN["b"]}}, None),
    ],
)
def test_maximum_is_the_largest_of_all_accounts(rules, most) -> None:
    properties = properties_of(with_policy(**rules), "alpha_update_campaign_budget")
    assert properties["daily_budget"].get("maximum") == most
    text = f"Allowed keys: daily_budget up to {most}" if most else "Further fields to set"
    assert properties["fields"]["description"].startswith(text)


def test_what_one_account_allows_is_offered() -> None:
    own = Policy(operations=["beta.*"], fields=["name", "status"])
    client = with_policy(
        accounts=["a", "b"], operations=["*.list_*"], fields=["name"], account={"b": own}
    )
    names = [tool["name"] for tool in tools(client, writes=True)]
    assert names == [
        "beta_create_video_campaign",
        "beta_pause_campaign",
        "beta_list_campaigns",
        "beta_detect_creative_fatigue",
        "gamma_list_ads",
    ]
    described = properties_of(client, "beta_create_video_campaign")["fields"]["description"]
    assert described == "Allowed keys: name, status"


BOTH = {"accounts": ["a", "b"]}


@each_case(
    ("rules", "text", "most"),
    [
        ({"account": {"b": Policy(fields=["name"])}}, "", None),
        (BOTH | {"account": {"b": Policy(fields=["name"])}}, "", None),
        (
            BOTH | {"account": {"a": OWN["b"], "b": Policy(fields=["name"])}},
            "daily_budget up to 20, name",
            20,
        ),
        (
            BOTH | {"account": {"a": OWN["b"], "b": Policy(fields=["daily_budget"])}},
            "daily_budget",
            None,
        ),
        (
            BOTH | {"account": {"a": OWN["b"], "b": Policy(money={"dailyBudget": 30})}},
            "daily_budget up to 20, dailyBudget up to 30",
            30,
        ),
    ],
)
def test_keys_that_one_account_allows_are_described(rules, text, most) -> None:
    properties = properties_of(with_policy(**rules), "alpha_update_campaign_budget")
    described = properties["fields"]["description"].partition("Allowed keys: ")
    assert described[2] == text
    assert properties["daily_budget"].get("maximum") == most


ACCOUNTS = [f"account_{number:02x}" for number in range(40)]


@pytest.mark.parametrize(
    ("rules", "first"),
    [
        ({}, "alpha_update_campaign_targeting"),
        ({"operations": ["*.pause_*", "*.list_*"]}, "beta_pause_campaign"),
    ],
)
def test_accounts_are_listed_once(rules, first) -> None:
    client = with_policy(accounts=ACCOUNTS, **rules)
    listed, *others = [tool["input_schema"]["properties"] for tool in tools(client, writes=True)]
    assert listed["account_id"] == {"type": "string", "enum": ACCOUNTS}
    for properties in others:
        assert properties["account_id"] == {"type": "string", "description": f"As in {first}"}


def test_other_account_is_refused_by_each_tool_without_a_request() -> None:
    service = Service()
    client = with_policy(service, accounts=["a", "b"])
    values = {"id": "x", "text": "x", "number": 1, "texts": ["x"], "object": {}}
    for operation in OPERATIONS:
        given = {each.name: values[each.type] for each in operation.parameters}
        name = operation.full_name.replace(".", "_")
        result = call_tool(client, name, {**given, "account_id": "c"}, writes=True)
        assert result["error"] == "PolicyRefused"
    assert service.requests == []


def test_parameter_of_reads_is_described_by_the_first_that_has_it() -> None:
    for patterns in (["*"], ["gamma.*", "delta.*"]):
        texts = {"date_range": [], "columns": [], "cursor": []}
        for tool in tools(with_policy(operations=patterns)):
            for name in texts.keys() & tool["input_schema"]["properties"].keys():
                texts[name].append(tool["input_schema"]["properties"][name].get("description"))
        for first, *others in texts.values():
            assert first
            assert not any(others)


# Results.


@sync_and_async
async def test_draft_is_shown_as_waiting_for_approval(client_kind) -> None:
    fake = FakeAdService()
    client = fake.client() if client_kind.client is AdClient else fake.async_client()
    result = await wait(call_tool(client, "beta_pause_campaign", IDS, writes=True))
    [draft] = fake.drafts
    assert result == {
        "summary": "Staged, waiting for approval. Nothing has changed; a human decides.",
        "untrusted": {
            "draft_id": draft.draft_id,
            "diff": ["status: ENABLED → PAUSED"],
            "status": "pending_approval",
            "requires": "human_two_step_approve",
        },
    }


def test_draft_with_another_status_is_not_called_waiting() -> None:
    client = with_policy(Service(a_draft(status="approved")))
    result = call_tool(client, "beta_pause_campaign", IDS, writes=True)
    assert result["summary"] == "Staged, with a status that is not known: ask a human to look."
    assert result["untrusted"]["status"] == "approved"


def test_draft_over_a_limit_is_shown_as_such() -> None:
    policy = Policy(change_at_most=10, money={"daily_budget": 500})
    client = AdClient(
        "https://ads.example.com",
        transport=Service(a_draft()).transport,
        policy=policy,
        ledger=MemoryLedger(),
    )
    given = {"account_id": "a", "campaign_id": "c", "daily_budget": 120}
    with pytest.warns(PolicyWarning):
        result = call_tool(client, "alpha_update_campaign_budget", given, writes=True)
    assert result["summary"] == "Staged, but over a limit of the policy: ask a human to reject it."
    assert result["untrusted"]["over_limit"].startswith("daily_budget: 100 → 120")


def test_draft_is_judged_by_the_arguments_that_were_sent() -> None:
    client = AdClient(
        "https://ads.example.com",
        transport=Service(a_draft(diff={"field": "bid", "before": 5, "after": 5.5})).transport,
        policy=Policy(change_at_most=10, money={"daily_budget": 500, "bid": 9}),
        ledger=MemoryLedger(),
    )
    given = {"account_id": "a", "campaign_id": "c", "daily_budget": None, "fields": {"bid": 5.5}}
    result = call_tool(client, "alpha_update_campaign_budget", given, writes=True)
    assert "over_limit" not in result["untrusted"]


def test_draft_that_the_policy_cannot_judge_is_shown(monkeypatch) -> None:
    monkeypatch.setattr("adclient._limits.rules.excess_of", lambda *_: 1 / 0)
    client = with_policy(Service(a_draft()), operations=["beta.*"])
    result = call_tool(client, "beta_pause_campaign", IDS, writes=True)
    assert result["untrusted"]["draft_id"] == "draft_7c2e"
    assert "could not be checked" in result["untrusted"]["over_limit"]


@sync_and_async
async def test_every_row_of_a_listing_can_be_reached(client_kind) -> None:
    fake = FakeAdService()
    client = fake.client() if client_kind.client is AdClient else fake.async_client()
    expected = [ad.id for ad in fake.client().gamma.list_ads(**ADS)]
    found, sizes, summaries, given = [], [], [], dict(ADS)
    for _ in range(8):
        result = await wait(call_tool(client, "gamma_list_ads", given))
        items = result["untrusted"]["items"]
        found += [item["id"] for item in items]
        sizes.append(len(items))
        summaries.append(result["summary"])
        given["cursor"] = result.get("next")
    assert found == expected
    assert sizes == [20, 20, 10, 20, 20, 10, 20, 6]
    assert summaries[0] == "20 items; for more, call again with `next` as `cursor`."
    assert summaries[-1] == "6 items; there are no more."
    assert "next" not in result


def test_page_that_fits_is_the_last() -> None:
    client = with_policy(Service(a_page("a" * 20)))
    result = call_tool(client, "alpha_explain_objectives", {"account_id": "a"})
    assert result["summary"] == "20 items; there are no more."


def test_columns_of_a_listing_can_be_chosen() -> None:
    client = FakeAdService().client()
    first = call_tool(client, "gamma_list_ads", ADS)["untrusted"]
    assert all(len(item) == 10 for item in first["items"])
    assert first["other_columns"] == ["ctr", "conversions", "frequency"]
    chosen = call_tool(client, "gamma_list_ads", {**ADS, "columns": ["ctr", "nonsense"]})
    assert list(chosen["untrusted"]["items"][0]) == ["id", "ctr"]


def test_values_are_plain_json_and_small() -> None:
    item = {
        "id": "x",
        "name": "n" * 500,
        "status": None,
        "flag": True,
        "part": 0.5,
        "many": 12,
        "exact": Decimal("0.12345678901234567890"),
        "large": 2**53,
        "inner": {"a": [1, {"b": "c" * 500}]},
    }
    body = json.dumps({"data": [item], "page": {"next": None}}, default=str).replace(
        '"0.12345678901234567890"', "0.12345678901234567890"
    )
    client = with_policy(Service(httpx.Response(200, content=body)))
    result = call_tool(client, "alpha_explain_objectives", {"account_id": "a"})
    [shown] = json.loads(json.dumps(result))["untrusted"]["items"]
    assert shown["name"] == "n" * 119 + "…"
    assert shown["inner"].startswith("{a: [1, {b: ccc")
    assert len(shown["inner"]) == 120
    assert [shown[name] for name in ("status", "flag", "part", "many")] == [None, True, 0.5, 12]
    assert (shown["exact"], shown["large"]) == ("0.12345678901234567890", str(2**53))


def test_continuation_that_cannot_be_passed_on_is_said() -> None:
    body = json.dumps({"data": [], "page": {"next": "\ud800"}})
    client = with_policy(Service(httpx.Response(200, content=body)))
    result = call_tool(client, "alpha_explain_objectives", {"account_id": "a"})
    assert result["summary"] == "0 items; there are more, but their cursor is too long to pass on."
    assert "next" not in result


# The drafts of the ledger.


@pytest.fixture
def ledger(tmp_path) -> SQLiteLedger:
    return SQLiteLedger(tmp_path / "drafts.db")


def staged(client) -> tuple[str, list[dict[str, object]]]:
    result = call_tool(client, "list_staged_drafts", {}, writes=True)
    return result["summary"], result["untrusted"]["drafts"]


@sync_and_async
async def test_staged_drafts_are_listed(client_kind, ledger) -> None:
    fake = FakeAdService()
    options = {"ledger": ledger, "policy": Policy(operations=["beta.*"]), "max_retries": 0}
    client = fake.client(**options) if client_kind.client is AdClient else None
    client = client or fake.async_client(**options)

    async def call(name, **arguments):
        return await wait(call_tool(client, name, arguments, writes=True))

    assert (await call("list_staged_drafts"))["untrusted"] == {"drafts": []}  # it does not exist
    await call("beta_pause_campaign", **IDS)
    fake.faults.add(Fault.dropped(taken=True))
    await call("beta_pause_campaign", **IDS)
    fake.faults.add(Fault.status(404))
    await call("beta_pause_campaign", **IDS)
    await call("delta_remove_auto_search_themes", account_id="account_d118")  # refused
    sent = len(fake.requests)
    result = await call("list_staged_drafts")
    shown = "{account_id: account_b204, campaign_id: campaign_57a7}"
    expected = {"operation": "beta.pause_campaign", "arguments": shown}
    first, second = ledger.entries()[:2]
    assert result == {
        "summary": "Drafts: 2; shown: 2, the newest last. One that is `admitted` or `unknown` "
        "may not exist: ask a human.",
        "untrusted": {
            "drafts": [
                {"at": first.to_dict()["at"], "state": "staged", **expected}
                | {"draft_id": fake.drafts[0].draft_id},
                {"at": second.to_dict()["at"], "state": "unknown", **expected},
            ]
        },
    }
    assert len(fake.requests) == sent


def test_newest_drafts_of_the_accounts_of_the_policy_are_listed(ledger) -> None:
    for number in range(22):
        for account in ("a", "b"):
            given = {"arguments": {"number": number}, "account_id": account}
            entry = Entry(entry_id=f"{number}{account}", operation="beta.pause_campaign", **given)
            ledger.reserve(entry, lambda usage: None)
    client = FakeAdService().client(ledger=ledger, policy=Policy(accounts=["a", "c"]))
    summary, drafts = staged(client)
    assert summary.startswith("Drafts: 22; shown: 20, the newest last.")
    assert [draft["arguments"] for draft in drafts] == [f"{{number: {n}}}" for n in range(2, 22)]


def test_drafts_of_the_actor_are_listed(ledger) -> None:
    fake = FakeAdService()
    for actor in ("kim", "claude", None):
        client = fake.client(ledger=ledger, actor=actor)
        call_tool(client, "beta_pause_campaign", IDS, writes=True)
    [draft] = staged(fake.client(ledger=ledger, actor="claude"))[1]
    assert draft["draft_id"] == fake.drafts[1].draft_id
    assert len(staged(fake.client(ledger=ledger))[1]) == 3
    for actor, who in (("kim", "you have"), (None, "were")):
        *_, tool = tools(fake.client(ledger=ledger, actor=actor), writes=True)
        assert tool["description"].startswith(f"List the drafts that {who} staged.")


def test_draft_over_a_limit_is_listed_as_such(ledger) -> None:
    policy = Policy(change_at_most=10, money={"daily_budget": 500})
    client = FakeAdService().client(ledger=ledger, policy=policy)
    given = {"account_id": "account_a91f", "campaign_id": "campaign_4c10", "daily_budget": 120}
    with pytest.warns(PolicyWarning):
        call_tool(client, "alpha_update_campaign_budget", given, writes=True)
    [draft] = staged(client)[1]
    assert draft["over_limit"].startswith("daily_budget: 100 → 120")


def test_drafts_are_listed_only_with_writes_and_a_ledger_that_can_be_read(ledger) -> None:
    for client, options in (
        (FakeAdService().client(ledger=ledger), {}),
        (FakeAdService().client(ledger=MemoryLedger()), {"writes": True}),
        (FakeAdService().client(), {"writes": True}),
        (FakeAdService().client(ledger=ledger, policy=Policy(accounts=[])), {"writes": True}),
    ):
        assert "list_staged_drafts" not in [tool["name"] for tool in tools(client, **options)]
        result = call_tool(client, "list_staged_drafts", {}, **options)
        assert "there is no tool list_staged_drafts" in result["untrusted"]["message"]
    *_, tool = tools(FakeAdService().client(ledger=ledger), writes=True)
    assert tool["name"] == "list_staged_drafts"
    assert tool["input_schema"]["properties"] == {}
    for given in ({"account_id": "a"}, None):
        result = call_tool(
            FakeAdService().client(ledger=ledger), "list_staged_drafts", given, writes=True
        )
        assert "arguments must be an empty object" in result["untrusted"]["message"]


def test_ledger_that_cannot_be_read_is_a_result(ledger, tmp_path) -> None:
    (tmp_path / "drafts.db").write_text("x" * 2000)
    result = call_tool(FakeAdService().client(ledger=ledger), "list_staged_drafts", {}, writes=True)
    assert result["error"] == "LedgerError"


# Arguments.


def test_only_pinned_account_is_filled_in() -> None:
    service = Service(a_page("a"), a_page("a"))
    client = with_policy(service, accounts=["a"])
    assert "error" not in call_tool(client, "alpha_explain_objectives", {})
    assert "error" not in call_tool(client, "alpha_explain_objectives", {"account_id": None})
    assert service.queries == ["account_id=a", "account_id=a"]
    refused = call_tool(client, "alpha_explain_objectives", {"account_id": "b"})
    assert refused["error"] == "PolicyRefused"


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("nonsense", {}, "there is no tool nonsense"),
        (["nonsense"], {}, "there is no tool [nonsense]"),
        ("beta.pause_campaign", IDS, "there is no tool beta.pause_campaign"),
        ("beta_pause_campaign", [1], "beta.pause_campaign: arguments must be an object"),
        ("beta_pause_campaign", {}, "account_id must be a non-empty str, got None"),
        ("beta_pause_campaign", {**IDS, "x": 1}, "x is not one of account_id, campaign_id"),
        ("beta_pause_campaign", {**IDS, "cursor": ""}, "cursor is not one of account_id"),
        ("beta_pause_campaign", {**IDS, 7: 1}, "7 is not one of account_id"),
        ("gamma_list_ads", {**ADS, "columns": "id"}, "columns must be a list of str"),
        ("gamma_list_ads", {**ADS, "columns": [1]}, "columns must be a list of str"),
        *(
            ("gamma_list_ads", {**ADS, "cursor": cursor}, "cursor must be the `next` of an earlier")
            for cursor in (7, "", "x", "é", "W10=", "WzEsLTFd", "bnVsbA==", {})
        ),
    ],
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
    message = call_tool(fake.client(), "beta_pause_campaign", IDS)["untrusted"]["message"]
    assert "beta_pause_campaign stages a draft, and this caller may only read" in message
    assert not fake.requests


# Errors.


@pytest.mark.parametrize(
    ("response", "error", "advice", "is_unknown"),
    [
        (httpx.Response(404), "NotFound", "Nothing was staged: check the arguments", False),
        (httpx.Response(401), "Unauthenticated", "Nothing was staged: check", False),
        (httpx.ConnectError("x"), "ConnectionFailed", "Nothing was staged: call again", False),
        (httpx.Response(503), "OutcomeUnknownServerError", "A draft may have been staged", True),
        (httpx.ReadError("x"), "OutcomeUnknownConnectionLost", "A draft may have been", True),
    ],
)
@sync_and_async
async def test_error_is_a_result_with_advice(
    client_kind, response, error, advice, is_unknown
) -> None:
    transport = Service(response).transport
    async with client_kind.open(transport=transport, max_retries=0, token=SECRET) as client:
        result = await wait(call_tool(client, "beta_pause_campaign", IDS, writes=True))
    assert result["summary"].startswith(advice)
    assert (result["error"], result["outcome_unknown"]) == (error, is_unknown)
    assert SECRET not in json.dumps(result)


def test_rate_limit_says_when_to_call_again() -> None:
    response = httpx.Response(429, headers={"retry-after": "7"})
    client = with_policy(Service(response)).with_options(max_retries=0)
    result = call_tool(client, "alpha_explain_objectives", {"account_id": "a"})
    assert (result["error"], result["retry_after"]) == ("RateLimited", 7.0)
    assert result["summary"] == "Nothing was staged: call again later."


def test_draft_id_of_an_unreadable_response_is_shown() -> None:
    client = with_policy(Service(a_draft(diff=None)))
    result = call_tool(client, "beta_pause_campaign", IDS, writes=True)
    assert result["outcome_unknown"] is True
    assert result["untrusted"]["draft_id"] == "draft_7c2e"


def test_refusal_of_the_policy_or_the_ledger_is_a_result() -> None:
    service, ledger = Service(), MemoryLedger(Usage(drafts_today=1))
    client = AdClient(
        "https://ads.example.com",
        transport=service.transport,
        policy=Policy(drafts_per_day=1),
        ledger=ledger,
    )
    result = call_tool(client, "beta_pause_campaign", IDS, writes=True)
    assert result["summary"] == "Nothing was sent: stay within the policy, or ask a human."
    assert "drafts_per_day allows 1" in result["untrusted"]["message"]
    ledger.is_broken_from = "reserve"
    result = call_tool(client, "beta_pause_campaign", IDS, writes=True)
    assert result["summary"] == "Nothing was sent: a human must first repair the ledger."
    assert (ledger.states, service.requests) == (["refused"], [])
