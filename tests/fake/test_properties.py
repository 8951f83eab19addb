"""`check_job`: each property is violated by a job that only it catches, and good jobs pass."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import partial, wraps
from operator import attrgetter
from unittest.mock import Mock

import pytest
from cases import each_case
from hypothesis import Phase, given, settings, strategies as st
from hypothesis.database import InMemoryExampleDatabase

from adclient import (
    AdClient,
    AdClientError,
    AsyncAdClient,
    ConfigurationError,
    Conventions,
    OutcomeUnknown,
)
from adclient.gate import SharedGate
from adclient.ledger import SQLiteLedger
from adclient.plan import Plan
from adclient.policy import Policy
from adclient.testing import FakeAccount, FakeAdService, Fault, Profile
from adclient.testing.properties import accounts, changes, check_job
from adclient.testing.properties._run import Run
from adclient.testing.properties._service import JobCall, WatchedService

ONCE = {"derandomize": True, "phases": [Phase.generate], "report_multiple_bugs": False}
FEW = settings(max_examples=4, deadline=None, **ONCE)
MORE = settings(FEW, max_examples=8)
PAUSE = {"account_id": "account_1", "campaign_id": "campaign_1"}
PINNED = Policy(accounts=["account_1"])


def check(job: Callable[..., object], **options: object) -> None:
    check_job(job, **{"settings": FEW, **options})


def create(client, name="Summer", account_id="account_1", **fields):
    fields = {"name": name, **fields}
    return client.beta.create_video_campaign(account_id=account_id, fields=fields)


def waiting(job):
    """A job that does nothing while an outcome is unknown."""

    @wraps(job)
    def run(client: AdClient, ledger: SQLiteLedger) -> object:
        return None if ledger.unknown() else job(client, ledger)

    return run


# Good jobs.


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


@waiting
def wrapped(client, _) -> None:
    try:
        client.beta.pause_campaign(**PAUSE)
    except AdClientError:
        raise LookupError("see the cause")  # noqa: B904 (the context shows it)


@waiting
def reported(client, ledger) -> None:
    try:
        client.beta.pause_campaign(**PAUSE)
    except OutcomeUnknown:
        assert ledger.unknown()[-1].state == "unknown"


async def concurrent(client: AsyncAdClient, ledger: SQLiteLedger) -> None:
    if not ledger.unknown():
        calls = [create(client, name) for name in "ABC"]
        results = await asyncio.gather(*calls, return_exceptions=True)
        if errors := [result for result in results if isinstance(result, Exception)]:
            raise ExceptionGroup("some failed", errors)


class Job:
    async def __call__(self, client: AsyncAdClient) -> None:
        await client.gamma.list_ads(account_id="account_1")


@each_case("job", [mistaken, concurrent, Job()])
def test_good_job_passes(job) -> None:
    check(job, policy=PINNED)


# Bad jobs, each of which violates one property.


def unrecorded(client: AdClient) -> None:
    client.beta.list_campaigns(account_id="account_1").collect()
    create(AdClient())


def blind(client: AdClient) -> None:
    create(client)


def curious(client: AdClient) -> None:
    client.beta.list_campaigns(account_id="another_account").collect()


@waiting
def lavish(client, _) -> None:
    create(client, daily_budget=151)


@waiting
def busy(client, _) -> None:
    create(client)


@waiting
def swallowing(client, _) -> None:
    with suppress(OutcomeUnknown):
        create(client)


@waiting
def forgetful(client, _) -> None:
    """It raises only the last of two errors."""
    last = None
    for name in "AB":
        try:
            create(client, name)
        except AdClientError as error:
            last = error
    if last is not None:
        raise last


UNRECORDED = "was staged, and the ledger has no entry of it"
TWICE = "was staged twice: the outcome of draft_"
ASTRAY = "names an account that is not pinned: account another_account is not"
SWALLOWED = "was swallowed: the job has neither raised nor settled it"
OPEN = {"applies_policy": False}
ACCOUNT = FakeAccount("account_1", campaigns=[{"id": "campaign_1"}])
# Few things to draw and to shrink, so that a few runs meet each of them.
LOST = {
    "accounts": st.just([ACCOUNT, FakeAccount("another_account")]),
    "faults": st.sampled_from([Fault.dropped(), Fault.dropped(taken=True)]),
    "profiles": st.just(Profile()),
}
CAPS = Policy(accounts=["account_1"], fields=["name"], money={"daily_budget": 150})
MONEY = "exceeds the cap money: daily_budget is 151, and money allows 0 to 150"
OWN = Policy(accounts=["account_1"], account={"account_1": Policy(drafts_per_day=2)})


@each_case(
    ("job", "options", "problem"),
    [
        (unrecorded, {}, UNRECORDED),
        (blind, {}, TWICE),
        (curious, {"policy": PINNED, **OPEN}, ASTRAY),
        (lavish, {"policy": CAPS, **OPEN}, MONEY),
        (busy, {"policy": Policy(drafts_per_day=3), **OPEN}, "exceeds the cap drafts_per_day"),
        (busy, {"policy": OWN, **OPEN}, "drafts_per_day allows 2 for this account"),
        (busy, {"policy": Policy(no_repeat_within="3h"), **OPEN}, "the cap no_repeat_within"),
        (swallowing, {}, SWALLOWED),
    ],
)
def test_bad_job_violates_one_property_and_no_other(job, options, problem, monkeypatch) -> None:
    problems, found = Run._problems, []

    def note(run: Run, *given: object) -> Iterator[str]:
        found.extend(problems(run, *given))
        return iter(())

    with monkeypatch.context() as patch:
        patch.setattr(Run, "_problems", note)
        check(job, **LOST, **options, settings=MORE)
    others = {each for each in found if problem not in each}
    assert (bool(found), others) == (True, set())


@contextmanager
def watched(policy: Policy) -> Iterator[WatchedService]:
    service = WatchedService([ACCOUNT], Profile(), None, policy)
    with closing(service.ledger.database):
        yield service


@each_case(
    ("job", "is_reported"),
    [
        (wrapped, True),
        (reported, True),
        (lambda client, _: planned(client), True),
        (lambda client, _: [planned(client)], False),
        (forgetful, False),
    ],
)
def test_unknown_outcome_must_be_reported(job, is_reported) -> None:
    with watched(Policy()) as service:
        client = service.client(ledger=service.ledger)
        run = Run(service, lambda _: partial(job, client, service.ledger))
        step = JobCall(Fault.dropped(taken=True), lasts=True)
        with nullcontext() if is_reported else pytest.raises(AssertionError, match=SWALLOWED):
            run.take(step)
        assert len(service.drafts) == (2 if job is forgetful else 1)


def test_shortest_run_is_reported_and_replayed() -> None:
    database = InMemoryExampleDatabase()
    kept = settings(max_examples=9, derandomize=False, deadline=None, database=database)
    with pytest.raises(AssertionError, match=r"^step 1, call the job: draft_") as raised:
        check(unrecorded, settings=kept, **LOST)
    assert not any("reproduce_failure" in note for note in raised.value.__notes__)
    with pytest.raises(AssertionError, match=r"^step 1, call the job: draft_"):
        check(unrecorded, settings=settings(kept, phases=[Phase.reuse]), **LOST)
    JobCall()._repr_pretty_(printer := Mock(), False)
    printer.text.assert_called_once_with("call the job")
    killed = JobCall(Fault.slow(1), is_killed=True, lasts=True)
    assert repr(killed) == f"call the job, kill it after {killed.fault} at write 1 and later ones"


def failing(error: BaseException):
    def job(_: AdClient) -> None:
        raise error

    return job


def closing_its_client(client: AdClient) -> None:
    with client:
        reader(client)


SEE = "see `accounts` and `policy`: "


@each_case(
    ("job", "options", "error", "text"),
    [
        (failing(KeyError("campaign_1")), {}, KeyError, "campaign_1"),
        (failing(KeyboardInterrupt()), {}, KeyboardInterrupt, None),
        (closing_its_client, {}, ConfigurationError, "closed"),
        (lambda: None, {}, ConfigurationError, "a client, or a client and a ledger"),
        (reader, {"policy": {}}, ConfigurationError, "policy must be a Policy"),
        # Jobs that do nothing.
        (curious, {"policy": PINNED}, ConfigurationError, f"{SEE}.*another_account"),
        (lambda _: None, {}, ConfigurationError, f"{SEE}it raised no error"),
        (lambda client: Job()(client), {}, ConfigurationError, "a coroutine, which does nothing"),
    ],
)
def test_failure_of_the_job_itself_is_raised(job, options, error, text) -> None:
    with pytest.raises(error, match=text):
        check(job, **options)


# What a job meets.


def test_killed_process_sends_nothing_more() -> None:
    sent, clients = [], []

    @waiting
    def job(client, _) -> None:
        assert client not in clients
        try:
            create(client)
        except AdClientError:
            raise
        except BaseException:
            clients.append(client)
            create(client)
            sent.append("another one")

    check(job)
    assert (bool(clients), sent) == (True, [])


def test_task_of_a_job_ends_with_its_call() -> None:
    tasks = []

    async def job(client: AsyncAdClient) -> None:
        assert all(task.cancelled() for task in tasks)
        tasks.append(asyncio.create_task(asyncio.Event().wait()))
        await client.gamma.list_ads(account_id="account_1")

    check(job)
    assert len(tasks) > 9


@each_case(
    ("event", "statuses"),
    [
        ("approve the oldest draft", ["applied", "pending_approval"]),
        ("approve the newest draft", ["pending_approval", "applied"]),
        ("reject the oldest draft", ["rejected", "pending_approval"]),
        ("reject the newest draft", ["pending_approval", "rejected"]),
    ],
)
def test_humans_approve_or_reject_the_oldest_or_newest_draft(event, statuses) -> None:
    with watched(Policy()) as service:
        run = Run(service, lambda _: lambda: None)
        run.take(event)  # there is none
        for name in "AB":
            create(service.client(), name)
        run.take(event)
    assert [draft.status for draft in service.drafts] == statuses


def test_draft_over_a_limit_is_settled() -> None:
    settled = []

    def job(client: AdClient, ledger: SQLiteLedger) -> None:
        settled.extend(each for each in ledger.entries() if each.over_limit and each.settled_by)
        if not ledger.unknown():
            client.alpha.update_campaign_budget(**PAUSE, daily_budget=140)

    check(job, policy=Policy(money={"daily_budget": 150}, change_at_most=10))
    assert settled


def test_ledger_is_a_whole_one_in_memory() -> None:
    def job(client: AdClient, ledger: SQLiteLedger) -> None:
        reader(client)
        assert len(ledger.verify()) == 64
        with pytest.raises(ConfigurationError, match="make a SharedGate of another one"):
            SharedGate(ledger)

    check(job)


# What its strategies generate.


@given(st.data(), st.sampled_from([None, "alpha", "beta", "gamma", "delta"]))
def test_each_change_can_be_staged(data, platform) -> None:
    account = data.draw(accounts("account_1", platform=platform))
    assert (account.id, account.platform) == ("account_1", platform)
    stage_and_approve(account, data.draw(changes(account)))


def stage_and_approve(account, change) -> str:
    """Stage a change and approve it; the name of its write."""
    assert len(Plan.of("p", [change]).changes) == 1
    arguments = dict(change)
    fake, name = FakeAdService(accounts=[account]), arguments.pop("call")
    assert fake.dashboard.approve(attrgetter(name)(fake.client())(**arguments)).status == "applied"
    return name


def test_every_write_is_among_the_changes() -> None:
    items = {kind: [{"id": f"{kind}_1"}] for kind in ("campaigns", "ads", "creatives")}
    account, writes = FakeAccount("account_1", keywords=[{"text": "a"}], **items), set()

    @given(changes(account))
    @settings(max_examples=45, derandomize=True)
    def draw(change) -> None:
        writes.add(stage_and_approve(account, change))

    draw()
    assert len(writes) == 9


@given(changes(FakeAccount("mine", platform="beta", campaigns=[{"name": "without an id"}])))
def test_only_items_with_an_id_are_changed(change) -> None:
    assert change["call"] == "beta.create_video_campaign"
