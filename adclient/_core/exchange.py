"""The life of one call, from its arguments to its value or error, without any I/O.

`exchange` is a generator. It yields what is to be done next, `Send` or `Sleep`, and is sent
back what came of it. Two engines drive it, one for each colour; tests drive it with lists.
"""

from collections.abc import Awaitable, Callable, Generator
from typing import TypeVar

import attrs

from adclient._core import failure, retry
from adclient._core.call import Call
from adclient._core.observe import Observer, Tracer
from adclient._core.paging import check_progress
from adclient._core.pause import Pauses
from adclient._core.reply import Failure, Outcome, Reply, request_id_of, value_of
from adclient._core.request import Request, build
from adclient._core.wire import WireError
from adclient.errors import Facts
from adclient.models import Answer, Response
from adclient.options import Options

R = TypeVar("R", bound=Answer)


@attrs.frozen
class Send:
    """Send the request, and come back with a `Reply` or `Failure` within `time_left` seconds."""

    request: Request
    attempt: int
    time_left: float


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
        value = yield from _attempts(call, request, key, options, world, pauses, observer)
        observer.returning(value)
        return value


def _attempts(
    call: Call[R],
    request: Request,
    key: str | None,
    options: Options,
    world: World,
    pauses: Pauses,
    observer: Observer,
) -> Exchange[R]:
    """Send a request until it has given a value, or an error that is final."""
    started = world.now()
    deadline = started + options.timeout
    is_write, keyed = call.operation.kind == "write", key is not None
    facts: Facts = {"idempotency_key": key}
    attempt, may_be_staged = 0, False
    while True:
        yield from _held_back(call, options, world, pauses, observer, deadline)
        time_left = deadline - world.now()
        attempt += 1
        observer.sending(attempt)
        try:
            outcome = yield Send(request, attempt, time_left)
            if isinstance(outcome, Failure) and outcome.error is not None:
                facts["attempts"] = attempt
                may_be_staged = may_be_staged or (is_write and outcome.sent)
                raise outcome.error
        except Exception as error:
            if may_be_staged:
                raise failure.interrupted(call, facts, error) from error
            raise
        assert outcome is not None, "Send is answered with a Reply or a Failure"
        elapsed = world.now() - started
        observer.answered(attempt, outcome, elapsed)
        facts["attempts"], facts["elapsed"] = attempt, elapsed
        if isinstance(outcome, Reply):
            facts["request_id"] = request_id_of(outcome, options.conventions.request_id_headers)
            if outcome.is_success and outcome.broken is None:
                return _value(call, outcome, facts)
        pauses.note(call, options, outcome, world.now())
        may_be_staged = may_be_staged or (is_write and retry.may_be_taken(outcome))
        wait = retry.delay(
            options.retry,
            outcome,
            attempt=attempt,
            repeatable=keyed or not is_write,
            chance=world.chance(),
        )
        if wait is not None and elapsed + wait < options.timeout:
            observer.waiting(attempt, outcome, wait)
            yield Sleep(wait)
            if world.now() < deadline:
                continue
        raise failure.error_for(call, outcome, facts, may_be_staged=may_be_staged)


def _held_back(
    call: Call[Answer],
    options: Options,
    world: World,
    pauses: Pauses,
    observer: Observer,
    deadline: float,
) -> Generator[Sleep, Outcome | None, None]:
    """Wait as others were asked to, unless the time is too short: then the service shall say."""
    while wait := pauses.wait(call, options, now=world.now(), chance=world.chance()):
        if world.now() + wait >= deadline:
            return
        observer.holding_back(wait)
        yield Sleep(wait)


def _key(call: Call[Answer], options: Options, world: World) -> str | None:
    """The idempotency key of a write: the caller's own, if the headers hold one, else fresh."""
    header = options.conventions.idempotency_header
    if header is None or call.operation.kind == "read":
        return None
    return options.headers.get(header.lower()) or world.new_key()


def _value(call: Call[R], reply: Reply, facts: Facts) -> R:
    response = Response(
        operation=call.operation.full_name,
        account_id=call.account_id,
        target_id=call.target_id,
        status=reply.status,
        headers=reply.headers,
        request_id=facts.get("request_id"),
        attempts=facts.get("attempts", 1),
        elapsed=facts.get("elapsed", 0.0),
    )
    try:
        value = value_of(call, reply, response)
    except WireError as error:
        raise failure.unreadable(call, reply, facts, str(error)) from None
    check_progress(call, value)
    return value
