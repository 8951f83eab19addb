"""The life of one call, from its arguments to its value or error, without any I/O.

`exchange` is a generator. It yields what is to be done next, `Send` or `Sleep`, and is sent
back what came of it. Two engines drive it, one for each colour; tests drive it with lists.
"""

from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import Generic, Protocol, TypeVar

import attrs

from adclient._core import errors_from, retry
from adclient._core.events import Observer, Tracer
from adclient._core.jsontext import JSONError
from adclient._core.operations import Call
from adclient._core.paging import check_progress
from adclient._core.pause import Pauses
from adclient._core.request import Request, build
from adclient._core.response import Failure, Outcome, RawResponse, request_id_of, value_of
from adclient.errors import ErrorDetails
from adclient.models import ResponseInfo, Result
from adclient.options import Options

R = TypeVar("R", bound=Result)


class Turn(Protocol):
    """What the connections ask and tell a call when its turn has come, before that of the next."""

    def may_send(self) -> bool:
        """Whether the request may still be sent."""
        ...

    def answer_began(self, status: int, headers: Mapping[str, str], received_at: float) -> None:
        """The head of its answer is there."""
        ...


@attrs.frozen
class Send:
    """Send the request, and come back with a `RawResponse` or `Failure` within `time_left` seconds.

    If `turn` says that it may not be sent any more, come back with None.
    """

    request: Request
    attempt: int
    time_left: float
    turn: Turn


@attrs.frozen
class Sleep:
    """Wait, and come back with None."""

    seconds: float


Exchange = Generator[Send | Sleep, Outcome | None, R]


@attrs.frozen(kw_only=True)
class World:
    """What a call takes from outside: time in seconds, waiting, chance in [0, 1), keys, spans."""

    now: Callable[[], float]
    sleep: Callable[[float], None]
    async_sleep: Callable[[float], Awaitable[None]]
    chance: Callable[[], float]
    new_key: Callable[[], str]
    tracer: Tracer | None = None


def exchange(call: Call[R], options: Options, world: World, pauses: Pauses) -> Exchange[R]:
    """Make a request of a call and see it through to its value, or raise its error."""
    key = _key(call, options, world)
    request = build(call, options, key)
    with Observer(call, options, world.now, world.tracer) as observer:
        life = _Life(call, request, key, options, world, pauses, observer)
        value = yield from life.see_through()
        observer.returning(value)
        return value


def _key(call: Call[Result], options: Options, world: World) -> str | None:
    """The idempotency key of a write: the caller's own, if the headers hold one, else fresh."""
    header = options.conventions.idempotency_header
    if header is None or call.operation.kind == "read":
        return None
    return options.headers.get(header.lower()) or world.new_key()


class _Life(Generic[R]):
    """One call, from its first attempt to its last."""

    def __init__(
        self,
        call: Call[R],
        request: Request,
        key: str | None,
        options: Options,
        world: World,
        pauses: Pauses,
        observer: Observer,
    ) -> None:
        self._call = call
        self._request = request
        self._options = options
        self._world = world
        self._pauses = pauses
        self._observer = observer
        self._is_write = call.operation.kind == "write"
        self._is_repeatable = key is not None or not self._is_write
        self._started = world.now()
        self._attempts = 0
        self._may_be_staged = False
        self._facts: ErrorDetails = {"idempotency_key": key}

    def see_through(self) -> Exchange[R]:
        """Send the request until it has given a value, or an error that is final."""
        while True:
            yield from self._hold_back()
            outcome = yield from self._attempt()
            if isinstance(outcome, RawResponse) and outcome.is_whole_success:
                return self._value(outcome)
            wait = self._wait_after(outcome)
            if wait is not None:
                self._observer.waiting(self._attempts, outcome, wait)
                yield Sleep(wait)
            if wait is None or self._time_left() <= 0:
                raise errors_from.error_for(
                    self._call, outcome, self._facts, may_be_staged=self._may_be_staged
                )

    def _hold_back(self) -> Generator[Sleep, Outcome | None, None]:
        """Wait as others were asked to; if the time is too short, the service shall say so."""
        while 0 < (wait := self._pause(self._world.chance())) < self._time_left():
            self._observer.holding_back(wait)
            yield Sleep(wait)

    def _pause(self, chance: float) -> float:
        """Seconds for which the call should hold back."""
        return self._pauses.wait(self._call, self._options, now=self._world.now(), chance=chance)

    def may_send(self) -> bool:
        """Whether nobody was asked to wait while the call waited for its turn."""
        # Only if the longest wait fits as well: else the call might be held back without one.
        return not 0 < self._pause(chance=1.0) < self._time_left()

    def answer_began(self, status: int, headers: Mapping[str, str], received_at: float) -> None:
        """Note what an answer asks of other calls as well."""
        if status == 429:
            head = RawResponse(status=status, headers=headers, received_at=received_at)
            self._pauses.note(self._call, self._options, head, self._world.now())

    def _attempt(self) -> Generator[Send | Sleep, Outcome | None, Outcome]:
        """Send the request once."""
        self._attempts += 1
        self._observer.sending(self._attempts)
        try:
            while (outcome := (yield self._send())) is None:
                yield from self._hold_back()
            self._note(outcome)
            if isinstance(outcome, Failure) and outcome.error is not None:
                raise outcome.error
        except Exception as error:
            if self._may_be_staged:
                raise errors_from.interrupted(self._call, self._facts, error) from error
            raise
        return outcome

    def _send(self) -> Send:
        return Send(self._request, self._attempts, self._time_left(), self)

    def _note(self, outcome: Outcome) -> None:
        """Note what came of an attempt."""
        now = self._world.now()
        elapsed = now - self._started
        self._facts["attempts"], self._facts["elapsed"] = self._attempts, elapsed
        if isinstance(outcome, RawResponse):
            names = self._options.conventions.request_id_headers
            self._facts["request_id"] = request_id_of(outcome, names)
        if self._is_write and retry.may_be_taken(outcome):
            self._may_be_staged = True
        self._observer.answered(self._attempts, outcome, elapsed, self._facts.get("request_id"))

    def _wait_after(self, outcome: Outcome) -> float | None:
        """Seconds until the next attempt; None if there must be none, or is no time for it."""
        wait = retry.delay(
            self._options.retry,
            outcome,
            attempt=self._attempts,
            repeatable=self._is_repeatable,
            chance=self._world.chance(),
        )
        return None if wait is None or wait >= self._time_left() else wait

    def _time_left(self) -> float:
        return self._started + self._options.timeout - self._world.now()

    def _value(self, reply: RawResponse) -> R:
        response = ResponseInfo(
            operation=self._call.operation.full_name,
            account_id=self._call.account_id,
            target_id=self._call.target_id,
            status=reply.status,
            headers=reply.headers,
            request_id=self._facts.get("request_id"),
            attempts=self._attempts,
            elapsed=self._facts.get("elapsed", 0.0),
        )
        try:
            value = value_of(self._call, reply, response)
        except JSONError as error:
            raise errors_from.unreadable(self._call, reply, self._facts, str(error)) from None
        except Exception as error:  # such as a module that cannot be loaded now
            if self._may_be_staged:
                raise errors_from.interrupted(self._call, self._facts, error) from error
            raise
        check_progress(self._call, value)
        return value
