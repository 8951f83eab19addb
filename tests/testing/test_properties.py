"""`check_job`: each property is violated by a job that only it catches, and good jobs pass."""

import asyncio
from collections.abc import Callable, Iterator

import pytest
from cases import each_case
from hypothesis import HealthCheck, Phase, assume, settings, strategies as st

from adclient import (
    AdClient,
    AdClientError,
    AsyncAdClient,
    ConfigurationError,
    Conventions,
    OutcomeUnknown,
    Plan,
    Policy,
    PolicyRefused,
    SharedGate,
    SQLiteLedger,
)
from adclient.testing import FakeAccount, Fault, Profile
from adclient.testing.properties import check_job
from adclient.testing.properties._run import EVENTS, Run

FEW = settings(
    max_examples=25, derandomize=True, deadline=None, phases=[Phase.explicit, Phase.generate]
)
PAUSE = {"account_id": "account_1", "campaign_id": "campaign_1"}
CREATE = {"account_id": "account_1", "fields": {"name": "Summer"}}
PINNED = Policy(accounts=["account_1"])


def check(job: Callable[..., object], **options: object) -> None:
    check_job(job, **{"settings": FEW, **options})


def message_of(job: Callable[..., object], **options: object) -> str:
    with pytest.raises(AssertionError) as raised:
        check(job, **options)
    return str(raised.value)


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


def stubborn(client: AdClient, ledger: SQLiteLedger) -> None:
    """What a killed process does has no effect."""
    if not ledger.unknown():
        try:
            client.beta.create_video_campaign(**CREATE)
        except AdClientError:
            raise
        except BaseException:
            client.beta.create_video_campaign(**CREATE)


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


GOOD = [reader, planned, wrapped, grouped, reported, own_client, stubborn, concurrent, Job()]


@each_case("job", GOOD)
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
        try:
            client.beta.create_video_campaign(**CREATE)
        except OutcomeUnknown:
            pass


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


def planned_blindly(client: AdClient) -> None:
    planned(client)  # the report shows what is unknown


UNRECORDED = "was staged, and the ledger has no entry of it"
TWICE = "was staged twice: the outcome of draft_"
ASTRAY = "has reached an account that is not pinned: account another_account is not"
SWALLOWED = "was swallowed: the job has neither raised nor settled it"
OPEN = {"applies_policy": False}
CAPS = Policy(accounts=["account_1"], fields=["name"], money={"daily_budget": 150})
MONEY = "exceeded the cap money: fields.daily_budget is 151, and money allows 0 to 150"
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
    (busy, {"policy": Policy(operations=["beta.list_*"]), **OPEN}, "exceeded the cap operations"),
    (busy, {"policy": Policy(drafts_per_day=3), **OPEN}, "exceeded the cap drafts_per_day"),
    (busy, {"policy": OWN, **OPEN}, "drafts_per_day allows 2 for this account"),
    (busy, {"policy": Policy(no_repeat_within="3h"), **OPEN}, "exceeded the cap no_repeat_within"),
    (swallowing, {}, SWALLOWED),
    (hiding, {}, SWALLOWED),
    (forgetful, {}, SWALLOWED),
    (planned_blindly, {}, SWALLOWED),
]


@each_case(("job", "options", "problem"), BAD)
def test_bad_job_violates_one_property(job, options, problem) -> None:
    assert problem in message_of(job, **options)
    problems = Run._problems

    def others(run: Run, *given: object) -> Iterator[str]:
        return (each for each in problems(run, *given) if problem not in each)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "_problems", others)
        check(job, **options)
