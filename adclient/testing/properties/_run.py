"""One run of a job against one fake: its steps, and what is checked after each call."""

import inspect
import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

import attrs

from adclient.errors import AdClientError, ConfigurationError
from adclient.plan import PlanReport
from adclient.testing.properties._service import JobCall, WatchedService

Connected = Callable[[], object]
"""A job with a client of its own process, to be called."""


@attrs.define(eq=False)
class Run:
    """A run; `connect` starts a process of the job, as at the beginning and after its death."""

    service: WatchedService
    connect: Callable[[WatchedService], Connected]
    job: Connected = attrs.field(init=False)
    number: int = 0
    calls: int = 0
    last_error: BaseException | None = None

    def __attrs_post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Continue in a new process, with a new client of the same ledger."""
        self.job = self.connect(self.service)

    def take(self, step: JobCall | str) -> None:
        """Take the next step."""
        self.number += 1
        if isinstance(step, JobCall):
            self._call(step)
        else:
            EVENTS[step](self)

    def settle(self) -> None:
        """Let a human look in the dashboard, and settle the ledger by what is there."""
        ledger = self.service.ledger
        for entry in ledger.latest:
            if entry.is_unknown:
                draft_id = self.service.draft_of(entry)
                if draft_id is not None or entry.state == "unknown":  # others are under way
                    ledger.settle(entry, draft_id=draft_id, by="human")
            elif entry.over_limit is not None and entry.settled_by is None:
                ledger.settle(entry, by="human")

    def review(self, place: int, *, is_approved: bool) -> None:
        """Let two humans approve the oldest or newest draft, or one reject it."""
        dashboard = self.service.dashboard
        if waiting := dashboard.pending():
            if is_approved:
                dashboard.arm(waiting[place], reviewer="one")
                dashboard.confirm(waiting[place], reviewer="another")
            else:
                dashboard.reject(waiting[place], reviewer="one")

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.service.clock.advance(seconds)

    def _call(self, call: JobCall) -> None:
        """Call the job, and raise an error if it violates a property, or fails by itself."""
        self.calls += 1
        self.service.begin(call)
        result: object = None
        error: BaseException | None = None
        try:
            result = self.job()
        except KeyboardInterrupt:
            raise
        except BaseException as raised:
            error = raised
        if inspect.iscoroutine(result) or inspect.isgenerator(result):
            result.close()
            kind = type(result).__name__
            problem = f"job returned a {kind}, which does nothing: pass an `async def`"
            raise ConfigurationError(problem, argument="job")
        errors = [*_chain_of(error)]
        for problem in self._problems(errors, result):
            raise AssertionError(f"step {self.number}, {call}: {problem}") from error
        if self.service.is_killed:
            self.restart()
            return
        self.last_error = error
        is_ours = any(isinstance(each, AdClientError) for each in errors)
        # A closed client or a wrong setting is no failure that a service causes.
        is_own = isinstance(error, AssertionError | ConfigurationError) or not is_ours
        if error is not None and is_own:
            raise error

    def _problems(self, errors: list[BaseException], result: object) -> Iterator[str]:
        """What the last call has violated, in words."""
        service = self.service
        if (write := service.unrecorded()) is not None:
            yield f"{write} was staged, and the ledger has no entry of it"
        yield from service.problems
        if service.is_killed:
            return
        reported = Counter(
            each.operation
            for each in errors
            if isinstance(each, AdClientError) and each.outcome_unknown
        )
        if isinstance(result, PlanReport):
            reported.update(each.operation for each in result.changes if each.verdict == "unknown")
        for entry in service.ended_unknown():
            reported[entry.operation] -= 1
            if reported[entry.operation] < 0:
                arguments = json.dumps(entry.arguments, default=str)
                yield (
                    f"the unknown outcome of {entry.operation} {arguments} was swallowed: the job "
                    "has neither raised nor settled it, nor returned the PlanReport that shows it, "
                    "nor read it from ledger.unknown()"
                )


EVENTS: dict[str, Callable[[Run], None]] = {
    "restart": Run.restart,
    "settle the ledger": Run.settle,
    "approve the oldest draft": partial(Run.review, place=0, is_approved=True),
    "approve the newest draft": partial(Run.review, place=-1, is_approved=True),
    "reject the oldest draft": partial(Run.review, place=0, is_approved=False),
    "reject the newest draft": partial(Run.review, place=-1, is_approved=False),
    "wait a minute": partial(Run.wait, seconds=60),
    "wait an hour": partial(Run.wait, seconds=3600),
    "wait a day": partial(Run.wait, seconds=86_400),
    "wait three days": partial(Run.wait, seconds=3 * 86_400),
}


def _chain_of(error: BaseException | None) -> Iterator[BaseException]:
    """The error and all that its traceback would show, those of a group included."""
    waiting, seen = [error], set[int]()
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [each.__cause__, None if each.__suppress_context__ else each.__context__]
        if isinstance(each, BaseExceptionGroup):
            waiting += cast("BaseExceptionGroup[BaseException]", each).exceptions
