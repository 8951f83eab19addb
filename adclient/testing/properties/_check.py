"""The check of a job: many runs, each with accounts, a profile and steps that Hypothesis draws."""

import asyncio
import inspect
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, cast

from adclient._async.client import AsyncAdClient
from adclient._display.extras import needs
from adclient._sync.client import AdClient
from adclient.conventions import Conventions
from adclient.errors import ConfigurationError
from adclient.ledger.sqlite import SQLiteLedger
from adclient.policy import Policy, PolicyWarning
from adclient.testing._accounts.account import FakeAccount
from adclient.testing._faults.fault import Fault
from adclient.testing._profile import Profile
from adclient.testing.properties import _strategies as strategies
from adclient.testing.properties._run import EVENTS, Run
from adclient.testing.properties._service import JobCall, WatchedService

with needs("hypothesis"):
    import hypothesis
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy

Job = (
    Callable[[AdClient], object]
    | Callable[[AdClient, SQLiteLedger], object]
    | Callable[[AsyncAdClient], object]
    | Callable[[AsyncAdClient, SQLiteLedger], object]
)
"""A function that is called with a client, and with the ledger if it has two parameters."""

_LENGTH = 30  # steps of a run
_KILLED = [
    JobCall(Fault.dropped(taken=taken), number=number, is_killed=True)
    for number in (1, 2)
    for taken in (True, False)
]
_MET: list[tuple[Literal["read", "write"], int, bool]] = [
    *(("write", number, False) for number in (1, 2, 3)),
    *(("read", number, False) for number in (1, 2)),
    ("write", 1, True),
]
# One draw for each step is quick. Shrinking goes to the left, and None removes a step. A tuple is
# the request of a call that meets a fault.
_STEP = st.sampled_from(
    [None, *[JobCall()] * 4, *EVENTS, *["settle the ledger"] * 2, *_KILLED, *_MET]
)


def check_job(
    job: Job,
    *,
    accounts: SearchStrategy[Sequence[FakeAccount]] | None = None,
    policy: Policy | None = None,
    applies_policy: bool = True,
    faults: SearchStrategy[Fault] | None = None,
    profiles: SearchStrategy[Profile] | None = None,
    conventions: Conventions | None = None,
    settings: hypothesis.settings | None = None,
) -> None:
    """Check that a job loses no draft, stages none twice and keeps to its limits.

    The job is called again and again, on a fake of its own in each run. Faults meet its requests,
    its process is killed, and between its calls time passes and humans approve or reject drafts and
    settle the ledger. After each call, these properties hold:

    1. Each draft that the service has staged has an entry in the ledger.
    2. No write is staged again while the outcome of an equal one, by operation and arguments, is
       unknown: the job waits until somebody has settled it.
    3. No request has reached an account that `policy.accounts` does not pin.
    4. No request has exceeded another rule of the policy. Only `change_at_most` is not checked.
    5. No unknown outcome is swallowed. The job raises it, as an error of its own with that cause,
       or in a group; or returns a `PlanReport` that shows it; or settles its entry; or reads the
       entry from `ledger.unknown()`.

    A job may raise errors of this library. An error without one in its chain is a failure of the
    job, and is raised. Hypothesis then looks for the shortest run that fails, and prints it.

    Args:
        job: Your function, sync or async. It is called with a client, and with the ledger of that
            client, a `SQLiteLedger`, if it has two parameters. `AdClient()` inside of it reaches
            the fake as well, without a ledger. It keeps nothing between two calls, except in the
            ledger, and does not close the client.
        accounts: The accounts of each fake; None for `accounts` of the ids in `policy.accounts`, or
            else `account_1` and `account_2`, and for one more, `another_account`.
        policy: The limits; None for none, which leaves the properties 3 and 4 out.
        applies_policy: Whether the client refuses what the policy does not allow. False checks that
            the job does not even try.
        faults: The faults that requests meet; None for `faults()`.
        profiles: The profiles of the fakes; None for `profiles()`.
        conventions: The conventions of service and client; None for `Conventions()`.
        settings: Settings of Hypothesis; None for those of its profile with 200 runs, and without
            a deadline. A run has 30 steps.

    Raises:
        AssertionError: A property does not hold; the message names the step and what was seen.
        ConfigurationError: The job has no fitting parameters.

    Examples:
        >>> from adclient import AdClient, OutcomeUnknown
        >>> from adclient.testing.properties import check_job
        >>> from hypothesis import settings
        >>> def pause(client: AdClient) -> None:
        ...     try:
        ...         client.beta.pause_campaign(account_id="account_1", campaign_id="campaign_1")
        ...     except OutcomeUnknown:
        ...         pass
        >>> try:
        ...     check_job(pause, settings=settings(derandomize=True, deadline=None))
        ... except AssertionError as error:
        ...     print(str(error).partition(" {")[0])
        step 1, call the job, with ...
    """
    parameters = inspect.signature(job).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.kind <= p.POSITIONAL_OR_KEYWORD]
    if len(needed) not in (1, 2):
        raise ConfigurationError("job must take a client, or a client and a ledger", argument="job")
    is_async = any(map(inspect.iscoroutinefunction, (job, type(job).__call__)))
    limits = policy or Policy()
    if accounts is None:
        pinned = limits.accounts or ("account_1", "account_2")
        accounts = st.tuples(*map(strategies.accounts, [*pinned, "another_account"]))

    def connect(service: WatchedService) -> Callable[[], object]:
        ledger, limit = service.ledger, limits if applies_policy else None
        make = service.async_client if is_async else service.client
        client = make(ledger=ledger, policy=limit)
        called = partial(cast("Callable[..., Any]", job), *(client, ledger)[: len(needed)])
        return (lambda: runner.run(called())) if is_async else called

    def run(accounts: Sequence[FakeAccount], profile: Profile, steps: list[JobCall | str]) -> None:
        service = WatchedService(accounts, profile, conventions, limits)
        with service.as_environment():
            of_job = Run(service, connect)
            for step in steps:
                of_job.take(step)

    # Hypothesis shows the name, and keeps failures by the source and the signature.
    run.__name__ = getattr(job, "__name__", type(job).__name__)
    run.__annotations__["return"] = f"{job.__module__}.{run.__name__}"
    given = hypothesis.given(
        accounts=accounts,
        profile=profiles or strategies.profiles(),
        steps=_steps(faults or strategies.faults()),
    )
    settings = settings or hypothesis.settings(max_examples=200, deadline=None)
    # A blob is for a decorator of `run`, and an explanation, which takes long, is of its lines.
    phases = [phase for phase in settings.phases if phase is not hypothesis.Phase.explain]
    check = hypothesis.settings(settings, print_blob=False, phases=phases)(given(run))
    with asyncio.Runner() as runner, warnings.catch_warnings():
        # The warning names a draft to reject, which is a step of its own.
        warnings.simplefilter("ignore", PolicyWarning)
        check()


@st.composite
def _steps(draw: st.DrawFn, faults: SearchStrategy[Fault]) -> list[JobCall | str]:
    """Draw up to 30 steps."""
    steps: list[JobCall | str] = []
    for _ in range(_LENGTH):
        step = draw(_STEP)
        if isinstance(step, tuple):
            steps.append(JobCall(draw(faults), *step))
        elif step is not None:
            steps.append(step)
    return steps
