"""The check of a job: many runs, each with accounts, a profile and steps that Hypothesis draws."""

import asyncio
import inspect
import warnings
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from functools import partial
from typing import Any, Literal, cast

from adclient import AdClient, AsyncAdClient
from adclient._display.extras import needs
from adclient.conventions import Conventions
from adclient.errors import ConfigurationError
from adclient.ledger.sqlite import SQLiteLedger
from adclient.options import check_type
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
# The request of a call that meets a fault, as the arguments of `JobCall` after that.
_MET: list[tuple[Literal["read", "write"], int, bool, bool]] = [
    ("write", 1, False, False),
    ("write", 1, True, False),
    ("write", 1, False, True),
    ("write", 2, False, False),
    ("write", 2, False, True),
    ("write", 3, False, False),
    ("read", 1, False, False),
    ("read", 2, False, False),
]
# One draw for most steps is quick. Shrinking goes to the left, and None removes a step.
_STEP = st.sampled_from([None, *[JobCall()] * 5, *_MET, *EVENTS, *["settle the ledger"] * 2])


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
    """Check what a job does to drafts while requests fail, processes die and humans decide.

    The job is called again and again, in each run on a fake of its own. Faults meet its requests,
    its process is killed, time passes, and humans approve or reject drafts and settle the ledger.
    After each call, these properties must hold:

    1. Each draft that was staged has an entry in the ledger.
    2. No write was staged while the outcome of an equal one was unknown. Equal are the operation
       and the arguments.
    3. No request names an account that `policy.accounts` does not pin.
    4. No request exceeds another rule of the policy, except `change_at_most`.
    5. No unknown outcome is swallowed: the job raises it, as the cause or context of another error
       or in a group if it likes; or it returns the `PlanReport` that shows it; or it settles the
       entry, or reads it from `ledger.unknown()`.

    Apart from that, a job may raise errors of this library. Any other error that is not raised
    because of one is a failure of the job itself, and ends the check, as a failed `assert` and a
    `ConfigurationError` do, such as that of a closed client.
    Hypothesis prints the shortest run that fails, and begins with it the next time.

    Args:
        job: Your function, sync or async, which is called with a client. If it needs two arguments,
            the second is the ledger of that client. It must not close them, and may remember
            nothing from one call to the next. `AdClient()` inside of it reaches the same fake.
        accounts: The accounts of a fake; None for those in `policy.accounts`, or `account_1` and
            `account_2` if it has none, and for another one, `another_account`.
        policy: The pinned accounts and other limits; None for none.
        applies_policy: Whether the client of the job applies the policy. If False, the job must
            keep to it by itself.
        faults: The faults that requests meet; None for `faults()`.
        profiles: The profiles of the fakes; None for `profiles()`.
        conventions: The conventions of the fakes; None for `Conventions()`.
        settings: The settings of Hypothesis; None for its current profile, but with 200 runs, each
            of 30 steps, and without a deadline.

    Raises:
        AssertionError: A property does not hold; the message names the step and the write.
        ConfigurationError: `job` takes neither one nor two arguments, `policy` is no policy, or no
            request of the job was ever accepted, as of an account that the fakes do not have.

    Examples:
        >>> from adclient import AdClient, OutcomeUnknown
        >>> from adclient.testing.properties import check_job
        >>> def pause(client: AdClient) -> None:
        ...     try:
        ...         client.beta.pause_campaign(account_id="account_1", campaign_id="campaign_1")
        ...     except OutcomeUnknown:
        ...         pass
        >>> try:
        ...     check_job(pause)
        ... except AssertionError as error:
        ...     print(str(error).partition(": ")[2])
        the unknown outcome of beta.pause_campaign ... was swallowed: ...
    """
    check_type("policy", policy, Policy)
    parameters = inspect.signature(job).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.kind <= p.POSITIONAL_OR_KEYWORD]
    if len(needed) not in (1, 2):
        problem = "job must take a client, or a client and a ledger"
        raise ConfigurationError(problem, argument="job")
    is_async = any(map(inspect.iscoroutinefunction, (job, type(job).__call__)))
    limits = policy or Policy()
    if accounts is None:
        pinned = limits.accounts or ("account_1", "account_2")
        accounts = st.tuples(*map(strategies.accounts, [*pinned, "another_account"]))

    last_errors: dict[bool, BaseException | None] = {}  # by whether a request was accepted

    def connect(service: WatchedService) -> Callable[[], object]:
        ledger, limit = service.ledger, limits if applies_policy else None
        make = service.async_client if is_async else service.client
        client = make(ledger=ledger, policy=limit)
        called = partial(cast("Callable[..., Any]", job), *(client, ledger)[: len(needed)])
        return (lambda: runner.run(_whole(called()))) if is_async else called

    def run(accounts: Sequence[FakeAccount], profile: Profile, steps: list[JobCall | str]) -> None:
        service = WatchedService(accounts, profile, conventions, limits)
        with closing(service.ledger.database), service.as_environment():
            of_job = Run(service, connect)
            for step in steps:
                of_job.take(step)
        if of_job.calls:
            last_errors[service.has_accepted] = of_job.last_error

    # Hypothesis shows the name, and keeps failures by the source and the signature.
    # It cannot show one that is named as a lambda.
    run.__name__ = getattr(job, "__name__", type(job).__name__).replace("<lambda>", "job")
    run.__annotations__["return"] = f"{job.__module__}.{run.__name__}"
    given = hypothesis.given(
        accounts=accounts,
        profile=strategies.profiles() if profiles is None else profiles,
        steps=_steps(strategies.faults() if faults is None else faults),
    )
    settings = settings or hypothesis.settings(max_examples=200, deadline=None)
    # A blob is for a decorator of `run`, and an explanation, which takes long, is of its lines.
    phases = [phase for phase in settings.phases if phase is not hypothesis.Phase.explain]
    check = hypothesis.settings(settings, print_blob=False, phases=phases)(given(run))
    with asyncio.Runner() as runner, warnings.catch_warnings():
        # The warning names a draft to reject, which is a step of its own.
        warnings.simplefilter("ignore", PolicyWarning)
        check()
    if last_errors.keys() == {False}:
        problem = "the service accepted no request of the job, so nothing was checked"
        seen = last_errors[False] or "it raised no error"
        raise ConfigurationError(f"{problem}; see `accounts` and `policy`: {seen}", argument="job")


async def _whole(call: Awaitable[object]) -> object:
    """Await a call of a job, whose other tasks end with it, as those of a process do."""
    try:
        return await call
    finally:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


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
