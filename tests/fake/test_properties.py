"""`check_job`: each property is violated by a job that only it catches, and good jobs pass."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

import pytest
from cases import each_case
from hypothesis import Phase, settings, strategies as st
from hypothesis.database import InMemoryExampleDatabase

from adclient import (
    AdClient,
    AdClientError,
    AsyncAdClient,
    ConfigurationError,
    Conventions,
    OutcomeUnknown,
    Plan,
    Policy,
    SharedGate,
    SQLiteLedger,
)
from adclient.testing import FakeAccount, Fault, Profile
from adclient.testing.properties import check_job
from adclient.testing.properties._run import Run
from adclient.testing.properties._service import JobCall, WatchedService

FEW = settings(max_examples=12, derandomize=True, deadline=None, phases=[Phase.generate])
PAUSE = {"account_id": "account_1", "campaign_id": "campaign_1"}
CREATE = {"account_id": "account_1", "fields": {"name": "Summer"}}
PINNED = Policy(accounts=["account_1"])


def check(job: Callable[..., object], **options: object) -> None:
    check_job(job, **{"settings": FEW, **options})


def message_of(job: Callable[..., object], **options: object) -> str:
    with pytest.raises(AssertionError) as raised:
        check(job, **options)
    return str(raised.value)


def name_of(value: object) -> str:
    return getattr(value, "__name__", type(value).__name__)


# Good jobs.


def patient(client: AdClient, ledger: SQLiteLedger) -> None:
    if not ledger.unknown():
        client.beta.pause_campaign(**PAUSE)


def test_job_that_waits_for_unknown_outcomes_passes() -> None:
    calls = []
    check(lambda client, ledger: calls.append(patient(client, ledger)))
    assert len(calls) > 50  # others have raised


def reader(client: AdClient) -> None:
    for campaign in client.beta.list_campaigns(account_id="account_1"):
        assert campaign.id


def mistaken(client: AdClient) -> None:
    """What the service cannot read is no violation of a policy."""
    reader(client)
    other = AdClient(conventions=Conventions(read_parameters="body"))
    other.beta.list_campaigns(account_id="another_account").collect()


def planned(client: AdClient) -> object:
    return Plan.of("p", [{"call": "beta.pause_campaign", **PAUSE}]).stage(client)


class JobError(Exception):
    pass


def wrapped(client: AdClient, ledger: SQLiteLedger) -> None:
    try:
        patient(client, ledger)
    except AdClientError:
        raise JobError("see the cause")  # noqa: B904 (the context shows it)


def grouped(client: AdClient, ledger: SQLiteLedger) -> None:
    errors = []
    if ledger.unknown():
        return
    for fields in ({"name": "A"}, {"name": "B"}):
        try:
            client.beta.create_video_campaign(account_id="account_1", fields=fields)
        except AdClientError as error:
            errors.append(error)
    if errors:
        raise ExceptionGroup("some failed", errors)


def reported(client: AdClient, ledger: SQLiteLedger) -> None:
    if not ledger.unknown():
        try:
            client.beta.pause_campaign(**PAUSE)
        except OutcomeUnknown:
            assert ledger.unknown()[-1].state == "unknown"


def own_client(_: AdClient, ledger: SQLiteLedger) -> None:
    patient(AdClient(ledger=ledger, policy=PINNED), ledger)


async def concurrent(client: AsyncAdClient, ledger: SQLiteLedger) -> None:
    if not ledger.unknown():
        create = client.beta.create_video_campaign
        calls = [create(account_id="account_1", fields={"name": name}) for name in "ABC"]
        results = await asyncio.gather(*calls, return_exceptions=True)
        errors = [result for result in results if isinstance(result, Exception)]
        if errors:
            raise ExceptionGroup("some failed", errors)


class Job:
    async def __call__(self, client: AsyncAdClient) -> None:
        await client.gamma.list_ads(account_id="account_1")


GOOD = [
    reader,
    mistaken,
    planned,
    wrapped,
    grouped,
    reported,
    own_client,
    concurrent,
    Job(),
]


@pytest.mark.parametrize("job", GOOD, ids=name_of)
def test_good_job_passes(job) -> None:
    check(job, policy=PINNED)


# Bad jobs, each of which violates one property.


def unrecorded(client: AdClient) -> None:
    client.beta.list_campaigns(account_id="account_1").collect()
    AdClient().beta.create_video_campaign(**CREATE)


def careless(client: AdClient, ledger: SQLiteLedger) -> None:
    for entry in ledger.unknown():
        ledger.settle(entry, by="careless")  # without a look in the dashboard
    client.beta.create_video_campaign(**CREATE)


def blind(client: AdClient) -> None:
    client.beta.create_video_campaign(**CREATE)


async def blind_later(client: AsyncAdClient) -> None:
    await client.beta.create_video_campaign(**CREATE)


def astray(client: AdClient, ledger: SQLiteLedger) -> None:
    if not ledger.unknown():
        client.beta.create_video_campaign(account_id="another_account", fields={"name": "A"})


def curious(client: AdClient) -> None:
    client.beta.list_campaigns(account_id="another_account").collect()


def lavish(client: AdClient, ledger: SQLiteLedger) -> None:
    if not ledger.unknown():
        fields = {"name": "Summer", "daily_budget": 151}
        client.beta.create_video_campaign(account_id="account_1", fields=fields)


def unlimited(_: AdClient, ledger: SQLiteLedger) -> None:
    lavish(AdClient(ledger=ledger), ledger)


def busy(client: AdClient, ledger: SQLiteLedger) -> None:
    if not ledger.unknown():
        client.beta.create_video_campaign(**CREATE)


def swallowing(client: AdClient, ledger: SQLiteLedger) -> None:
    if not ledger.unknown():
        with suppress(OutcomeUnknown):
            client.beta.create_video_campaign(**CREATE)


def hiding(client: AdClient, ledger: SQLiteLedger) -> None:
    try:
        busy(client, ledger)
    except OutcomeUnknown:
        raise AdClientError("it failed") from None


def forgetful(client: AdClient, ledger: SQLiteLedger) -> None:
    """It raises only the last of two errors."""
    if not ledger.unknown():
        last = None
        for name in "AB":
            try:
                client.beta.create_video_campaign(account_id="account_1", fields={"name": name})
            except AdClientError as error:
                last = error
        if last is not None:
            raise last


def doubling(client: AdClient, ledger: SQLiteLedger) -> None:
    """It bypasses the ledger after a response that shows the id of the draft."""
    if not ledger.unknown():
        try:
            client.beta.create_video_campaign(**CREATE)
        except OutcomeUnknown as error:
            if error.draft_id is not None:
                AdClient().beta.create_video_campaign(**CREATE)
            raise


def planned_blindly(client: AdClient) -> None:
    planned(client)  # the report shows what is unknown


UNRECORDED = "was staged, and the ledger has no entry of it"
TWICE = "was staged twice: the outcome of draft_"
ASTRAY = "names an account that is not pinned: account another_account is not"
SWALLOWED = "was swallowed: the job has neither raised nor settled it"
OPEN = {"applies_policy": False}
CAPS = Policy(accounts=["account_1"], fields=["name"], money={"daily_budget": 150})
MONEY = "exceeds the cap money: fields.daily_budget is 151, and money allows 0 to 150"
OWN = Policy(accounts=["account_1"], account={"account_1": Policy(drafts_per_day=2)})
BAD = [
    (unrecorded, {}, UNRECORDED),
    (careless, {}, UNRECORDED),
    (blind, {}, TWICE),
    (blind_later, {}, TWICE),
    (astray, {"policy": PINNED, **OPEN}, ASTRAY),
    (curious, {"policy": PINNED, **OPEN}, ASTRAY),
    (lavish, {"policy": CAPS, **OPEN}, MONEY),
    (unlimited, {"policy": CAPS}, MONEY),
    (busy, {"policy": Policy(operations=["beta.list_*"]), **OPEN}, "exceeds the cap operations"),
    (busy, {"policy": Policy(drafts_per_day=3), **OPEN}, "exceeds the cap drafts_per_day"),
    (busy, {"policy": OWN, **OPEN}, "drafts_per_day allows 2 for this account"),
    (busy, {"policy": Policy(no_repeat_within="3h"), **OPEN}, "exceeds the cap no_repeat_within"),
    (swallowing, {}, SWALLOWED),
    (hiding, {}, SWALLOWED),
    (forgetful, {}, SWALLOWED),
    (planned_blindly, {}, SWALLOWED),
]


@pytest.mark.parametrize(("job", "options", "problem"), BAD, ids=name_of)
def test_bad_job_is_found(job, options, problem) -> None:
    assert problem in message_of(job, **options)


def test_entry_with_a_draft_accounts_for_no_other_one() -> None:
    assert UNRECORDED in message_of(doubling)


@pytest.mark.parametrize(("job", "options", "problem"), BAD, ids=name_of)
def test_bad_job_violates_nothing_else(job, options, problem) -> None:
    problems = Run._problems

    def others(run: Run, *given: object) -> Iterator[str]:
        return (each for each in problems(run, *given) if problem not in each)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "_problems", others)
        check(job, **options, settings=settings(FEW, max_examples=6))


# What is reported.


def test_shortest_run_is_reported_and_replayed() -> None:
    database = InMemoryExampleDatabase()
    kept = settings(max_examples=20, deadline=None, database=database)
    # Fewer things to shrink.
    fixed = {"accounts": st.just([FakeAccount("account_1")]), "profiles": st.just(Profile())}
    calls = []

    def job(client: AdClient) -> None:
        calls.append(1)
        blind(client)

    with pytest.raises(AssertionError, match=r"^step 2, call the job: draft_") as raised:
        check(job, settings=kept, **fixed)
    [report] = raised.value.__notes__
    assert "Failing test case: job(" in report or "Falsifying example: job(" in report
    assert "dropped" in report
    assert "call the job]" in report
    assert "reproduce_failure" not in report
    # Another job has failures of its own, and does not remove these.
    check(reader, settings=kept, **fixed)
    calls.clear()
    with pytest.raises(AssertionError, match=r"^step 2, call the job: draft_"):
        check(job, settings=settings(kept, phases=[Phase.reuse]), **fixed)
    assert len(calls) < 10


def broken(_: AdClient) -> None:
    raise KeyError("campaign_1")


def asserting(client: AdClient) -> None:
    try:
        client.beta.pause_campaign(account_id="account_1", campaign_id="none")
    except AdClientError as error:
        raise AssertionError("there is always one") from error


def closes_its_client(client: AdClient) -> None:
    with client:
        reader(client)


def interrupted(_: AdClient) -> None:
    raise KeyboardInterrupt


@each_case(
    ("job", "error", "text"),
    [
        (broken, KeyError, "campaign_1"),
        (asserting, AssertionError, "^there is always one"),
        (closes_its_client, ConfigurationError, "closed"),
        (interrupted, KeyboardInterrupt, None),
    ],
)
def test_failure_of_the_job_itself_is_raised(job, error, text) -> None:
    with pytest.raises(error, match=text):
        check(job)


@each_case("job", [lambda: None, lambda a, b, c: None])
def test_job_needs_one_or_two_parameters(job) -> None:
    with pytest.raises(ConfigurationError, match="a client, or a client and a ledger"):
        check_job(job)


def elsewhere(client: AdClient) -> None:
    client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_1")


def generating(client: AdClient) -> Iterator[object]:
    yield client.beta.pause_campaign(**PAUSE)


def test_lambda_that_fails_is_reported() -> None:
    assert TWICE in message_of(lambda client: blind(client))


NO_FAULTS = {"faults": st.just(Fault.in_page("data_null")), "profiles": st.just(Profile())}


@each_case(
    ("job", "options", "problem"),
    [
        (elsewhere, NO_FAULTS, "see `accounts` and `policy`: .* no account 'account_b204'"),
        (curious, {"policy": PINNED}, "see `accounts` and `policy`: .*another_account"),
        (lambda _: None, {}, "see `accounts` and `policy`: it raised no error"),
        (lambda client: blind_later(client), {}, "job returned a coroutine, which does nothing"),
        (generating, {}, "job returned a generator, which does nothing"),
    ],
)
def test_job_that_does_nothing_is_refused(job, options, problem) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        check(job, **options)


def test_policy_must_be_one() -> None:
    with pytest.raises(ConfigurationError, match="policy must be a Policy"):
        check_job(reader, policy={"accounts": ["account_1"]})


# What a job meets.


def test_own_strategies_and_conventions_are_used() -> None:
    seen = set()

    def job(client: AdClient, ledger: SQLiteLedger, seen: set[object] = seen) -> None:
        page = client.beta.list_campaigns(account_id="mine")
        seen.add(page.data[0].id)
        if ledger.unknown():
            return
        try:
            client.beta.pause_campaign(account_id="mine", campaign_id="c1")
        except AdClientError as error:
            seen.add((error.status, error.idempotency_key is not None))
            raise

    account = FakeAccount("mine", campaigns=[{"id": "c1"}])
    check(
        job,
        accounts=st.just([account]),
        faults=st.just(Fault.status(501, taken=True)),
        profiles=st.just(Profile(errors="empty")),
        conventions=Conventions(idempotency_header="Idempotency-Key"),
    )
    assert seen == {"c1", (501, True)}


def test_humans_decide_and_time_passes() -> None:
    statuses, days, states = set(), set(), set()

    def job(client: AdClient, ledger: SQLiteLedger) -> None:
        for entry in ledger.entries():
            states.add((entry.state, entry.settled_by))
            days.add(entry.at.day)
        for campaign in client.beta.list_campaigns(account_id="account_1"):
            statuses.add(campaign.status)
            if campaign.status == "ENABLED" and not ledger.unknown():
                target = {"account_id": "account_1", "campaign_id": campaign.id}
                client.beta.pause_campaign(**target)

    check(job, settings=settings(FEW, max_examples=40))
    assert statuses == {"ENABLED", "PAUSED"}
    assert len(days) > 1
    settled = {("staged", "human"), ("not staged", "human")}
    assert states >= {("staged", None), ("unknown", None), ("admitted", None), *settled}


def test_killed_process_sends_nothing_more() -> None:
    sent, clients = [], []

    def job(client: AdClient, ledger: SQLiteLedger) -> None:
        assert client not in clients
        if not ledger.unknown():
            try:
                client.beta.create_video_campaign(**CREATE)
            except AdClientError:
                raise
            except BaseException:
                sent.append("a first one")
                clients.append(client)
                client.beta.create_video_campaign(**CREATE)
                sent.append("another one")

    check(job)
    assert {*sent} == {"a first one"}


def test_task_of_a_job_ends_with_its_call() -> None:
    events, late = [], []

    async def outlive() -> None:
        await events[-1].wait()
        late.append("in the next process")

    async def job(client: AsyncAdClient) -> None:
        for event in events:
            event.set()
        events.append(asyncio.Event())
        task = asyncio.create_task(outlive())
        await asyncio.sleep(0)
        await client.gamma.list_ads(account_id="account_1")
        assert not task.done()

    check(job)
    assert (len(events) > 50, late) == (True, [])


@contextmanager
def watched(policy: Policy) -> Iterator[WatchedService]:
    service = WatchedService([FakeAccount("account_1")], Profile(), None, policy)
    with closing(service.ledger.database):
        yield service


def test_draft_counts_for_the_day_of_its_reservation() -> None:
    policy = Policy(drafts_per_day=1)
    with watched(policy) as service:
        client = service.client(ledger=service.ledger, policy=policy, timeout=90_000)
        service.begin(JobCall(Fault.status(429, headers={"Retry-After": "54000"})))
        client.beta.create_video_campaign(**CREATE)
        service.begin(JobCall())
        client.beta.create_video_campaign(**CREATE)
    assert [draft.created_at.day for draft in service.drafts] == [3, 3]
    assert service.problems == []


def test_fault_that_no_request_meets_ends_with_the_call() -> None:
    with watched(Policy()) as service:
        service.begin(JobCall(Fault.in_page("data_null")))  # a write has no page
        service.client().beta.create_video_campaign(**CREATE)
        service.begin(JobCall())
        assert len(service.client().beta.list_campaigns(account_id="account_1").collect()) == 0


def test_draft_over_a_limit_is_settled() -> None:
    settled = []

    def job(client: AdClient, ledger: SQLiteLedger) -> None:
        settled.extend(each for each in ledger.entries() if each.over_limit and each.settled_by)
        if not ledger.unknown():
            budget = {"account_id": "account_1", "campaign_id": "campaign_1", "daily_budget": 140}
            client.alpha.update_campaign_budget(**budget)

    check(job, policy=Policy(money={"daily_budget": 150}, change_at_most=10))
    assert settled


def test_ledger_is_a_whole_one_in_memory(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)

    def job(client: AdClient, ledger: SQLiteLedger) -> None:
        reader(client)
        assert ledger.exists()
        ledger.create()
        assert len(ledger.verify()) == 64
        assert "in memory" in repr(ledger)
        with pytest.raises(ConfigurationError, match="make a SharedGate of another one"):
            SharedGate(ledger)

    check(job)
    assert not [*tmp_path.glob("*.db*")]
