"""The policy and the ledger of a client."""

import io
import logging
import pickle
import threading
import warnings

import anyio
import attrs
import clients
import httpx
import pytest
from cases import each_case
from clients import ASYNC, BASE_URL, SYNC, TRIO, Service, a_draft, read, sync_and_async, wait, write
from memory_ledger import MemoryLedger

import adclient
from adclient import AdClient, LedgerError, OutcomeUnknown, PolicyRefused
from adclient.ledger import LedgerWarning, SQLiteLedger
from adclient.policy import Policy, PolicyWarning
from adclient.testing import FakeAdService

BUDGET = {"account_id": "a", "campaign_id": "c", "daily_budget": 120}
MONEY = Policy(change_at_most=10, money={"daily_budget": 500})


@sync_and_async
async def test_write_is_recorded_before_it_is_sent_and_when_it_is_staged(client_kind) -> None:
    ledger, rows_when_sent = MemoryLedger(), []

    def respond(request):
        rows_when_sent.extend(ledger.rows)
        return clients.a_page("ab") if request.method == "GET" else a_draft()

    options = {"transport": httpx.MockTransport(respond), "ledger": ledger, "timeout": 5}
    async with client_kind.open(**options) as client:
        assert len(await clients.everything(read(client))) == 2  # which is not recorded
        draft = await wait(write(client))
    [admitted] = rows_when_sent
    assert admitted.state == "under way"
    # The timeout, and the time to record its end.
    assert 34.5 < (admitted.deadline - admitted.at).total_seconds() <= 35
    assert (admitted.operation, admitted.account_id) == ("beta.pause_campaign", "a")
    assert admitted.arguments == {"account_id": "a", "campaign_id": "c"}
    assert ledger.states == ["under way", "staged"]
    staged = ledger.rows[-1]
    assert (staged.entry_id, staged.draft_id) == (admitted.entry_id, draft.draft_id)
    assert staged.diff == draft.diff
    # An async client never blocks its event loop on the ledger.
    assert len(ledger.threads) == 1
    assert (ledger.threads == {threading.get_ident()}) is (client_kind.name == "sync")


@each_case(
    ("response", "error", "state", "draft_id"),
    (404, adclient.NotFound, "not staged", None),
    (500, OutcomeUnknown, "unknown", "draft_9"),
    (httpx.ConnectError("refused"), adclient.ConnectionFailed, "not staged", None),
    (httpx.ReadError("reset"), OutcomeUnknown, "unknown", None),
    (201, OutcomeUnknown, "unknown", "draft_9"),
)
def test_failed_write_is_recorded_with_its_reason(response, error, state, draft_id) -> None:
    ledger = MemoryLedger()
    if isinstance(response, int):
        response = httpx.Response(response, json={"draft_id": draft_id})
    options = {"transport": Service(response).transport, "ledger": ledger, "max_retries": 0}
    with AdClient(BASE_URL, **options) as client, pytest.raises(error) as caught:
        write(client)
    assert ledger.states == ["under way", state]
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
    twice = [actor for actor in actors for _ in ("under way", "staged")]
    assert [row.actor for row in ledger.rows] == [*twice, "Jürgen K."]
    assert {row.why for row in ledger.rows} == {None}


@each_case(
    ("error", "reason"),
    # The text of another library may hold a secret.
    (RuntimeError("https://auth.example.com?client_secret=hunter2"), "RuntimeError"),
    (LedgerError("the client that fetches tokens"), "LedgerError: the client that fetches"),
)
@sync_and_async
async def test_error_of_a_token_function_is_recorded(client_kind, error, reason) -> None:
    def token() -> str:
        raise error

    ledger = MemoryLedger()
    options = {"transport": Service().transport, "ledger": ledger, "token": token}
    async with client_kind.open(**options) as client:
        with pytest.raises(type(error)):
            await wait(write(client))
    assert ledger.states == ["under way", "not staged"]
    assert ledger.rows[-1].reason.removesuffix(" tokens") == reason


@sync_and_async
async def test_policy_refuses_a_call_before_it_is_sent(client_kind) -> None:
    policy = Policy(accounts=["a"], operations=["alpha.*"])
    admitting = MemoryLedger()
    admitting.reserve = lambda entry, _: attrs.evolve(entry, state="under way")
    for options in ({}, {"ledger": admitting}, {"ledger": MemoryLedger()}):
        service = Service(clients.a_page("a"))
        options |= {"transport": service.transport, "policy": policy}
        async with client_kind.open(**options) as client:
            assert len(await clients.everything(read(client))) == 1
            with pytest.raises(PolicyRefused, match=r"beta\.list_campaigns is not one of"):
                await wait(client.beta.list_campaigns(account_id="a"))
            with pytest.raises(PolicyRefused, match="account b is not one of") as refused:
                await wait(write(client, account_id="b"))
        copy = pickle.loads(pickle.dumps(refused.value))
        assert len(service.requests) == 1
        assert isinstance(copy, adclient.InvalidRequest)
        assert (copy.rule, copy.operation, copy.attempts) == ("accounts", "beta.pause_campaign", 0)
    assert [(row.state, row.rule) for row in options["ledger"].rows] == [("refused", "accounts")]


# What the ledger holds.


def limited(tmp_path, policy, *responses, **options):
    """A client with a ledger in a file, the ledger, and the service with its responses."""
    service, ledger = Service(*responses), SQLiteLedger(tmp_path / "drafts.db")
    options |= {"transport": service.transport, "ledger": ledger, "max_retries": 0}
    return AdClient(BASE_URL, policy=policy, **options), ledger, service


def test_equal_write_is_refused_until_it_is_known_that_none_was_staged(tmp_path) -> None:
    answers = [httpx.Response(500), a_draft(draft_id="draft_8"), *[a_draft() for _ in range(3)]]
    client, ledger, service = limited(tmp_path, Policy(no_repeat_within="1h"), *answers)
    with pytest.raises(OutcomeUnknown):
        write(client)
    [unknown] = ledger.unknown()
    with pytest.raises(PolicyRefused, match=f"entry {unknown.entry_id} of .* is unknown"):
        write(client)
    ledger.settle(unknown, by="kim")
    write(client)
    with pytest.raises(PolicyRefused, match=r"draft draft_8 of .* is staged") as refused:
        write(client)
    assert refused.value.rule == "no_repeat_within"
    write(client, account_id="b")
    client.alpha.update_campaign_budget(**BUDGET)
    ids = {"account_id": "a", "campaign_id": "c"}
    with pytest.raises(PolicyRefused):
        client.alpha.update_campaign_budget(**ids, fields={"daily_budget": 120})
    client.alpha.update_campaign_targeting(**ids, fields={"a": 1})
    with pytest.raises(PolicyRefused):
        client.alpha.update_campaign_targeting(**ids, fields={"a": 1}, targeting={})
    assert service.answers == []


@pytest.mark.parametrize(("field", "before"), [("budget", 100), ("daily_budget", None)])
def test_draft_whose_diff_hides_the_money_closes_its_account(field, before, tmp_path) -> None:
    answers = [a_draft(diff={"field": field, "before": before, "after": 120}) for _ in range(2)]
    client, _, service = limited(tmp_path, MONEY, *answers)
    with pytest.warns(PolicyWarning, match="reject draft_7c2e .* cannot be judged"):
        draft = client.alpha.update_campaign_budget(**BUDGET)
    assert draft.draft_id == "draft_7c2e"
    with pytest.raises(PolicyRefused) as caught:
        client.alpha.update_campaign_budget(**BUDGET)
    assert caught.value.rule == "change_at_most"
    # What a new campaign has is new, and another account is not closed.
    if before is None:
        client.beta.create_video_campaign(account_id="b", fields={"daily_budget": 120})
        assert service.answers == []


def test_draft_with_an_unreadable_diff_closes_its_account_if_money_is_set(tmp_path) -> None:
    unreadable = [a_draft(diff={"field": "daily_budget", "after": 999})] * 3
    client, ledger, _ = limited(tmp_path, MONEY, *unreadable)
    with pytest.raises(OutcomeUnknown):
        write(client)
    judged = pytest.warns(PolicyWarning, match="reject draft_7c2e .* cannot be judged")
    with judged, pytest.raises(OutcomeUnknown):
        client.alpha.update_campaign_budget(**BUDGET)
    with pytest.raises(PolicyRefused, match="draft_7c2e is over the limit"):
        client.alpha.update_campaign_budget(**BUDGET)
    ledger.settle(ledger.unknown()[-1], draft_id="draft_7c2e", by="kim")
    with pytest.warns(PolicyWarning), pytest.raises(OutcomeUnknown):
        client.alpha.update_campaign_budget(**BUDGET)


def test_draft_that_cannot_be_judged_is_returned_and_over_the_limit(monkeypatch) -> None:
    monkeypatch.setattr("adclient.policy.rules.excess_of", lambda *_: 1 / 0)
    ledger = MemoryLedger()
    client = AdClient(BASE_URL, transport=Service(a_draft()).transport, ledger=ledger)
    with pytest.warns(PolicyWarning, match="could not be checked: ZeroDivisionError"):
        assert write(client).draft_id == "draft_7c2e"
    assert ledger.states == ["under way", "staged"]


# Ledgers that are broken, slow or hang.


@sync_and_async
async def test_outcome_is_returned_if_its_end_cannot_be_recorded(
    client_kind, caplog, monkeypatch
) -> None:
    ledger = MemoryLedger()
    ledger.is_broken_from = "end"
    hostile = a_draft(draft_id="draft_1\nCRITICAL \x1b[2J")
    service = Service(a_draft(), hostile, httpx.Response(404), a_draft())
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
        closed = io.StringIO()
        closed.close()
        monkeypatch.setattr(warnings, "showwarning", lambda *_: print(file=closed))
        with warnings.catch_warnings(action="always"):
            assert (await wait(write(client))).draft_id == "draft_7c2e"


@pytest.mark.parametrize("client_kind", [SYNC, ASYNC], ids=str)
def test_call_that_is_admitted_too_late_sends_nothing(client_kind) -> None:
    fake, ledger = FakeAdService(), MemoryLedger()

    class Slow(MemoryLedger):
        def reserve(self, entry, check):
            fake.clock.advance(31)
            return ledger.reserve(entry, check)

        def end(self, entry):
            ledger.end(entry)

    async def scenario() -> None:
        make = fake.client if client_kind is SYNC else fake.async_client
        with pytest.raises(adclient.CallTimeout) as late:
            await wait(write(make(ledger=Slow(), timeout=30)))
        assert not late.value.outcome_unknown

    client_kind.run(scenario)
    assert ledger.has_ended.wait(10)
    assert (ledger.states, len(fake.requests)) == (["under way", "not staged"], 0)


@pytest.mark.parametrize("client_kind", [ASYNC, TRIO], ids=str)
@each_case(("is_late", "is_broken"), (False, False), (False, True), (True, False), (True, True))
def test_call_that_ends_while_admitted_leaves_none_unknown(client_kind, is_late, is_broken) -> None:
    """The first one has begun to be recorded, and the second one waits behind it."""
    ledger, service = MemoryLedger(), Service()
    ledger.may_reserve.clear()
    ledger.is_broken_from = "reserve" if is_broken else None

    async def call(client) -> None:
        with pytest.raises(adclient.CallTimeout, match="the record of the call took the whole"):
            await write(client)

    async def scenario() -> None:
        options = {"transport": service.transport, "ledger": ledger}
        async with client_kind.open(**options, timeout=0.05 if is_late else 30) as client:
            async with anyio.create_task_group() as group:
                for _ in range(2):
                    group.start_soon(call, client)
                while not ledger.threads:
                    await anyio.sleep(0.001)
                if not is_late:
                    group.cancel_scope.cancel()
            # Neither of the calls has waited for the ledger, which gives up after 10 seconds.
            assert not ledger.may_reserve.is_set()
            assert not ledger.has_ended.is_set()
        ledger.may_reserve.set()

    client_kind.run(scenario)
    assert is_broken or ledger.has_ended.wait(10)
    assert ledger.states == ([] if is_broken else ["under way", "not staged"])
    assert service.requests == []


@pytest.mark.parametrize("client_kind", [ASYNC, TRIO], ids=str)
def test_call_cancelled_after_it_was_sent_is_unknown(client_kind, monkeypatch) -> None:
    monkeypatch.setattr("adclient._http.async_library._LONGEST_CLOSE", 0.05)
    ledger = MemoryLedger()

    async def scenario() -> None:
        async def hang(request):
            group.cancel_scope.cancel()
            await anyio.sleep(10)

        options = {"transport": httpx.MockTransport(hang), "ledger": ledger}
        async with client_kind.open(**options) as client, anyio.create_task_group() as group:
            await write(client)

    client_kind.run(scenario)
    assert ledger.has_ended.wait(10)
    assert ledger.states == ["under way", "unknown"]


def test_async_call_returns_its_draft_if_the_ledger_hangs(monkeypatch) -> None:
    monkeypatch.setattr("adclient._async.engine.LONGEST_END", 0.05)
    ledger = MemoryLedger()
    ledger.may_end.clear()

    async def scenario() -> None:
        transport = Service(a_draft()).transport
        async with ASYNC.open(transport=transport, ledger=ledger) as client:
            assert (await write(client)).draft_id == "draft_7c2e"
            assert ledger.states == ["under way"]
            ledger.may_end.set()

    anyio.run(scenario)
    assert ledger.has_ended.wait(10)
    assert ledger.states == ["under way", "staged"]


@each_case(
    ("argument", "value", "problem"),
    ("policy", {"accounts": ["a"]}, "^policy must be"),
    ("ledger", "a.db", "^ledger must be"),
    ("policy", Policy(no_repeat_within=5), "no_repeat_within needs a ledger"),
    ("policy", MONEY, "change_at_most needs a ledger"),
    ("policy", Policy(account={"a": Policy(drafts_per_day=5)}), "drafts_per_day needs a"),
)
@clients.each_client_class
def test_wrong_policy_or_ledger_is_refused(client_class, argument, value, problem) -> None:
    with pytest.raises(adclient.ConfigurationError, match=problem) as refused:
        client_class("https://ads.example.com", **{argument: value})
    assert refused.value.argument == ("ledger" if "needs" in problem else argument)
