"""The policy and the ledger of a client."""

import logging
import pickle
import threading
import time

import anyio
import anyio.lowlevel
import httpx
import pytest
from clients import (
    ASYNC,
    BASE_URL,
    TRIO,
    Service,
    a_draft,
    a_page,
    each_client_class,
    everything,
    read,
    sync_and_async,
    sync_asyncio_trio,
    wait,
    write,
)
from memory_ledger import MemoryLedger

import adclient
from adclient import (
    AdClient,
    ConfigurationError,
    InvalidRequest,
    LedgerError,
    LedgerWarning,
    OutcomeUnknown,
    Policy,
    PolicyRefused,
    PolicyWarning,
    SQLiteLedger,
)
from adclient.policy import Usage

BUDGET = {"account_id": "a", "campaign_id": "c", "daily_budget": 120}
MONEY = Policy(change_at_most=10, money={"daily_budget": 500})


@sync_asyncio_trio
async def test_write_is_recorded_before_it_is_sent_and_when_it_is_staged(client_kind) -> None:
    ledger, rows_when_sent = MemoryLedger(), []

    def respond(request):
        rows_when_sent.extend(ledger.rows)
        return a_page("ab") if request.method == "GET" else a_draft()

    async with client_kind.open(transport=httpx.MockTransport(respond), ledger=ledger) as client:
        assert len(await everything(read(client))) == 2  # which is not recorded
        draft = await wait(write(client))
    [admitted] = rows_when_sent
    assert admitted.state == "admitted"
    assert (admitted.operation, admitted.account_id) == ("beta.pause_campaign", "a")
    assert admitted.arguments == {"account_id": "a", "campaign_id": "c"}
    assert ledger.states == ["admitted", "staged"]
    staged = ledger.rows[-1]
    assert (staged.entry_id, staged.draft_id) == (admitted.entry_id, draft.draft_id)
    assert staged.diff == draft.diff
    # An async client never blocks its event loop on the ledger.
    assert len(ledger.threads) == 1
    assert (ledger.threads == {threading.get_ident()}) is (client_kind.name == "sync")


@pytest.mark.parametrize(
    ("response", "error", "state", "draft_id"),
    [
        (404, adclient.NotFound, "not staged", None),
        (500, OutcomeUnknown, "unknown", "draft_9"),
        (httpx.ConnectError("refused"), adclient.ConnectionFailed, "not staged", None),
        (httpx.ReadError("reset"), OutcomeUnknown, "unknown", None),
        (201, OutcomeUnknown, "unknown", "draft_9"),
    ],
    ids=["404", "500", "connect", "reset", "unreadable"],
)
@sync_and_async
async def test_failed_write_is_recorded_with_its_reason(
    client_kind, response, error, state, draft_id
) -> None:
    ledger = MemoryLedger()
    if isinstance(response, int):
        response = httpx.Response(response, json={"draft_id": draft_id})
    options = {"transport": Service(response).transport, "ledger": ledger, "max_retries": 0}
    async with client_kind.open(**options) as client:
        with pytest.raises(error) as caught:
            await wait(write(client))
    assert ledger.states == ["admitted", state]
    assert ledger.rows[-1].reason.startswith(f"{error.__name__}")
    assert ledger.rows[-1].draft_id == caught.value.draft_id == draft_id


@sync_and_async
async def test_entry_has_the_actor_of_its_client(client_kind, monkeypatch) -> None:
    ledger, service = MemoryLedger(), Service(*[a_draft() for _ in range(4)])
    options = {"transport": service.transport, "ledger": ledger, "policy": Policy(accounts=["a"])}
    async with client_kind.open(**options) as client:
        await wait(write(client))
    monkeypatch.setenv("ADCLIENT_ACTOR", " budget-bot ")
    async with client_kind.open(**options) as client:
        await wait(write(client))
    async with client_kind.open(**options, actor="Jürgen K.") as client:
        await wait(write(client))
        await wait(write(client.with_options(actor="kim", timeout=5)))
        with pytest.raises(PolicyRefused):
            await wait(write(client.with_options(timeout=5), account_id="b"))
    actors = [None, "budget-bot", "Jürgen K.", "kim"]
    assert [row.actor for row in ledger.rows] == [
        *(actor for actor in actors for _ in ("admitted", "staged")),
        "Jürgen K.",
    ]
    assert {row.why for row in ledger.rows} == {None}
    async with client_kind.open(actor="kim", transport=Service(a_draft()).transport) as client:
        await wait(write(client))  # without a ledger


@sync_and_async
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        # The text of another library may hold a secret.
        (RuntimeError("https://auth.example.com?client_secret=hunter2"), "RuntimeError"),
        (PolicyRefused("the client that fetches tokens"), "PolicyRefused: the client that fetches"),
        (LedgerError("the client that fetches tokens"), "LedgerError: the client that fetches"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_error_of_a_token_function_is_recorded(client_kind, error, reason) -> None:
    def token() -> str:
        raise error

    ledger = MemoryLedger()
    options = {"transport": Service().transport, "ledger": ledger, "token": token}
    async with client_kind.open(**options) as client:
        with pytest.raises(type(error)):
            await wait(write(client))
    assert ledger.states == ["admitted", "not staged"]
    assert ledger.rows[-1].reason.removesuffix(" tokens") == reason


@pytest.mark.parametrize("is_recorded", [False, True])
@sync_and_async
async def test_policy_refuses_a_call_before_it_is_sent(client_kind, is_recorded) -> None:
    service, ledger = Service(a_page("a")), MemoryLedger()
    policy = Policy(accounts=["a"], operations=["alpha.*"])
    options = {"ledger": ledger} if is_recorded else {}
    async with client_kind.open(transport=service.transport, policy=policy, **options) as client:
        assert len(await everything(read(client))) == 1
        with pytest.raises(PolicyRefused, match=r"beta\.list_campaigns is not one of"):
            await wait(client.beta.list_campaigns(account_id="a"))
        with pytest.raises(PolicyRefused, match="account b is not one of") as refused:
            await wait(write(client, account_id="b"))
    copy = pickle.loads(pickle.dumps(refused.value))
    assert len(service.requests) == 1
    assert isinstance(copy, InvalidRequest)
    assert (copy.rule, copy.operation, copy.attempts) == ("accounts", "beta.pause_campaign", 0)
    recorded = [(row.state, row.rule) for row in ledger.rows]
    assert recorded == [("refused", "accounts")] * is_recorded


@pytest.mark.parametrize(
    ("rule", "usage"),
    [("drafts_per_day", Usage(drafts_today=3)), ("change_at_most", Usage(over_limit="draft_1"))],
)
@sync_and_async
async def test_what_the_ledger_holds_can_refuse_a_write(client_kind, rule, usage, caplog) -> None:
    ledger, service = MemoryLedger(usage), Service()
    ledger.is_broken_from = "end"
    policy = Policy(drafts_per_day=3, change_at_most=20, money={"daily_budget": 500})
    options = {"transport": service.transport, "ledger": ledger, "policy": policy}
    async with client_kind.open(**options) as client:
        for each in (client, client.with_options(timeout=5)):
            with pytest.raises(PolicyRefused) as refused:
                await wait(each.alpha.update_campaign_budget(**BUDGET))
            assert refused.value.rule == rule
    assert (ledger.states, service.requests) == (["refused"] * 2, [])
    assert caplog.text == ""  # what was never admitted has no end


@sync_and_async
async def test_drafts_of_an_account_are_limited_beside_those_of_all(client_kind, tmp_path) -> None:
    own = {"a": Policy(drafts_per_day=1), "b": Policy(drafts_per_day=5)}
    policy = Policy(drafts_per_day=3, account=own)
    service = Service(*[a_draft()] * 3)
    options = {"ledger": SQLiteLedger(tmp_path / "drafts.db"), "policy": policy}
    async with client_kind.open(transport=service.transport, **options) as client:
        await wait(write(client))
        with pytest.raises(PolicyRefused, match="allows 1 for this account, and today has 1"):
            await wait(write(client))
        await wait(write(client, account_id="b"))
        await wait(write(client, account_id="c"))
        with pytest.raises(PolicyRefused, match="allows 3, and today has 3") as refused:
            await wait(write(client, account_id="b"))
    assert refused.value.rule == "drafts_per_day"
    assert service.answers == []


@sync_and_async
async def test_equal_write_is_refused_until_it_is_known_that_none_was_staged(
    client_kind, tmp_path
) -> None:
    answers = [httpx.Response(404), httpx.Response(500), a_draft(draft_id="draft_8")]
    service = Service(*answers, a_draft(), a_draft())
    ledger = SQLiteLedger(tmp_path / "drafts.db")
    options = {"ledger": ledger, "policy": Policy(no_repeat_within="1h"), "max_retries": 0}
    async with client_kind.open(transport=service.transport, **options) as client:
        with pytest.raises(adclient.NotFound):
            await wait(write(client))
        with pytest.raises(OutcomeUnknown):
            await wait(write(client))
        [unknown] = ledger.unknown()
        with pytest.raises(PolicyRefused, match=f"entry {unknown.entry_id} of .* is unknown"):
            await wait(write(client))
        ledger.settle(unknown, by="kim")
        await wait(write(client))
        with pytest.raises(PolicyRefused, match=r"draft draft_8 of .* is staged") as refused:
            await wait(write(client))
        assert refused.value.rule == "no_repeat_within"
        await wait(write(client, account_id="b"))
        await wait(client.alpha.update_campaign_budget(**BUDGET))
    assert service.answers == []


def test_ledger_that_cannot_tell_serves_no_policy_that_has_to_know() -> None:
    """Such as a ledger that was written before these rules."""
    for policy in (
        Policy(no_repeat_within=60),
        Policy(account={"a": Policy(drafts_per_day=9)}),
    ):
        service, ledger = Service(), MemoryLedger()
        client = AdClient(BASE_URL, transport=service.transport, ledger=ledger, policy=policy)
        with pytest.raises(LedgerError, match="which this ledger does not set"):
            write(client)
        assert (ledger.states, service.requests) == ([], [])
    usage = Usage(drafts_of_account=lambda: 8, repeated=lambda seconds: None)
    service, ledger = Service(a_draft()), MemoryLedger(usage)
    own = Policy(drafts_per_day=9, no_repeat_within=60)
    policy = Policy(account={"a": own})
    write(AdClient(BASE_URL, transport=service.transport, ledger=ledger, policy=policy))
    assert ledger.states == ["admitted", "staged"]


@pytest.mark.parametrize(
    "diff",
    [
        {"field": "budget", "before": 100, "after": 120},
        {"field": "daily_budget", "before": None, "after": 120},
    ],
    ids=str,
)
@sync_and_async
async def test_draft_whose_diff_hides_the_money_closes_its_account(
    client_kind, diff, tmp_path
) -> None:
    service = Service(a_draft(diff=diff), a_draft(diff=diff))
    options = {"transport": service.transport, "policy": MONEY}
    async with client_kind.open(**options, ledger=SQLiteLedger(tmp_path / "drafts.db")) as client:
        with pytest.warns(PolicyWarning, match="reject draft_7c2e .* cannot be judged"):
            draft = await wait(client.alpha.update_campaign_budget(**BUDGET))
        assert draft.draft_id == "draft_7c2e"
        with pytest.raises(PolicyRefused) as caught:
            await wait(client.alpha.update_campaign_budget(**BUDGET))
        assert caught.value.rule == "change_at_most"
        # What a new campaign has is new, and another account is not closed.
        if diff["before"] is None:
            fields = {"daily_budget": 120}
            await wait(client.beta.create_video_campaign(account_id="b", fields=fields))
            assert service.answers == []


@sync_and_async
async def test_draft_with_an_unreadable_diff_closes_its_account_if_money_is_set(
    client_kind, tmp_path
) -> None:
    service = Service(*[a_draft(diff={"field": "daily_budget", "after": 999})] * 3)
    options = {"transport": service.transport, "policy": MONEY}
    ledger = SQLiteLedger(tmp_path / "drafts.db")
    async with client_kind.open(**options, ledger=ledger) as client:
        with pytest.raises(OutcomeUnknown):
            await wait(write(client))
        with (
            pytest.warns(PolicyWarning, match="reject draft_7c2e .* cannot be judged"),
            pytest.raises(OutcomeUnknown),
        ):
            await wait(client.alpha.update_campaign_budget(**BUDGET))
        with pytest.raises(PolicyRefused, match="draft_7c2e is over the limit"):
            await wait(client.alpha.update_campaign_budget(**BUDGET))
        ledger.settle(ledger.unknown()[-1], draft_id="draft_7c2e", by="kim")
        with pytest.warns(PolicyWarning), pytest.raises(OutcomeUnknown):
            await wait(client.alpha.update_campaign_budget(**BUDGET))


def test_draft_that_cannot_be_judged_is_returned_and_over_the_limit(monkeypatch) -> None:
    monkeypatch.setattr("adclient._limits.rules.excess_of", lambda *_: 1 / 0)
    ledger = MemoryLedger()
    client = AdClient(BASE_URL, transport=Service(a_draft()).transport, ledger=ledger)
    with pytest.warns(PolicyWarning, match="could not be checked: ZeroDivisionError"):
        assert write(client).draft_id == "draft_7c2e"
    assert ledger.states == ["admitted", "staged"]


@sync_and_async
async def test_write_is_not_sent_if_it_cannot_be_recorded(client_kind) -> None:
    ledger, service = MemoryLedger(), Service()
    ledger.is_broken_from = "reserve"
    async with client_kind.open(transport=service.transport, ledger=ledger) as client:
        with pytest.raises(LedgerError, match="the disk is full"):
            await wait(write(client))
    assert service.requests == []


@sync_and_async
async def test_outcome_is_returned_if_its_end_cannot_be_recorded(client_kind, caplog) -> None:
    ledger = MemoryLedger()
    ledger.is_broken_from = "end"
    hostile = a_draft(draft_id="draft_1\nCRITICAL \x1b[2J")
    service = Service(a_draft(), hostile, httpx.Response(404))
    async with client_kind.open(transport=service.transport, ledger=ledger) as client:
        with pytest.warns(LedgerWarning, match=r"could not record draft draft_7c2e.*disk is full"):
            assert (await wait(write(client))).draft_id == "draft_7c2e"
        # Warnings are errors in this suite; then the log has it.
        with caplog.at_level(logging.WARNING, "adclient"):
            assert (await wait(write(client))).draft_id.startswith("draft_1\n")
        assert "could not record draft draft_1 CRITICAL [2J, so" in caplog.text
        assert len(caplog.messages[-1].splitlines()) == 1
        with pytest.raises(adclient.NotFound), pytest.warns(LedgerWarning, match="end of a call"):
            await wait(write(client))


@sync_asyncio_trio
async def test_call_that_is_admitted_too_late_sends_nothing(client_kind) -> None:
    """The sync client cannot interrupt its ledger, but looks at the clock behind it."""
    ledger, service = MemoryLedger(), Service()
    ledger.may_reserve.clear()
    timer = threading.Timer(0.15, ledger.may_reserve.set)
    timer.start()
    options = {"transport": service.transport, "ledger": ledger, "timeout": 0.1}
    async with client_kind.open(**options) as client:
        with pytest.raises(adclient.CallTimeout) as late:
            await wait(write(client))
    assert not late.value.outcome_unknown
    assert ledger.has_ended.wait(10)
    assert (ledger.states, service.requests) == (["admitted", "not staged"], [])


@pytest.mark.parametrize("is_broken", [False, True])
@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("client_kind", [ASYNC, TRIO], ids=str)
def test_call_that_ends_while_it_is_admitted_leaves_no_unknown_entry(
    client_kind, is_late, is_broken
) -> None:
    """The first one has begun to be recorded, and the second one waits behind it."""
    ledger, service = MemoryLedger(), Service()
    ledger.may_reserve.clear()
    ledger.is_broken_from = "reserve" if is_broken else None

    async def call(client) -> None:
        with pytest.raises(adclient.CallTimeout, match="the ledger took the whole timeout"):
            await write(client)

    async def scenario() -> None:
        options = {"transport": service.transport, "ledger": ledger}
        async with client_kind.open(**options, timeout=0.1 if is_late else 30) as client:
            began = time.monotonic()
            async with anyio.create_task_group() as group:
                for _ in range(2):
                    group.start_soon(call, client)
                while not ledger.threads:
                    await anyio.sleep(0.001)
                if not is_late:
                    group.cancel_scope.cancel()
            assert time.monotonic() - began < 5
        ledger.may_reserve.set()

    client_kind.run(scenario)
    assert is_broken or ledger.has_ended.wait(10)
    assert ledger.states == ([] if is_broken else ["admitted", "not staged"])
    assert service.requests == []


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_call_cancelled_after_it_was_sent_is_unknown(backend, monkeypatch) -> None:
    monkeypatch.setattr("adclient._http.async_library._LONGEST_CLOSE", 0.05)
    ledger = MemoryLedger()

    async def hang(request):
        await anyio.sleep(10)

    async def scenario() -> None:
        options = {"transport": httpx.MockTransport(hang), "ledger": ledger}
        async with ASYNC.open(**options) as client:
            with anyio.move_on_after(0.5):
                await write(client)

    anyio.run(scenario, backend=backend)
    assert ledger.has_ended.wait(10)
    assert ledger.states == ["admitted", "unknown"]


def test_async_call_returns_its_draft_if_the_ledger_hangs(monkeypatch) -> None:
    monkeypatch.setattr("adclient._async.engine.LONGEST_END", 0.05)
    ledger = MemoryLedger()
    ledger.may_end.clear()

    async def scenario() -> None:
        transport = Service(a_draft()).transport
        async with ASYNC.open(transport=transport, ledger=ledger) as client:
            assert (await write(client)).draft_id == "draft_7c2e"
            assert ledger.states == ["admitted"]
            ledger.may_end.set()

    anyio.run(scenario)
    assert ledger.has_ended.wait(10)
    assert ledger.states == ["admitted", "staged"]


@pytest.mark.parametrize(
    ("argument", "value", "problem"),
    [
        ("policy", {"accounts": ["a"]}, "^policy must be"),
        ("ledger", "drafts.db", "^ledger must be"),
        ("policy", Policy(drafts_per_day=5), "drafts_per_day needs a ledger"),
        ("policy", Policy(no_repeat_within=5), "no_repeat_within needs a ledger"),
        (
            "policy",
            Policy(account={"a": Policy(drafts_per_day=5)}),
            "drafts_per_day needs a ledger",
        ),
    ],
)
@each_client_class
def test_wrong_policy_or_ledger_is_refused(client_class, argument, value, problem) -> None:
    with pytest.raises(ConfigurationError, match=problem) as refused:
        client_class("https://ads.example.com", **{argument: value})
    assert refused.value.argument == ("ledger" if "needs" in problem else argument)
