"""The life of one call, from its arguments to its value or error, without any I/O.

`exchange` is a generator. It yields what is to be done next, `Send` or `Sleep`, and is sent
back what came of it. Two engines drive it, one for each colour; tests drive it with lists.
"""

import logging
from collections.abc import Awaitable, Callable, Generator
from typing import TypeVar

import attrs

from adclient._core import failure, retry
from adclient._core.call import Call
from adclient._core.paging import check_progress
from adclient._core.pause import Pauses
from adclient._core.reply import Outcome, Reply, request_id_of, value_of
from adclient._core.request import Request, build
from adclient._core.wire import WireError
from adclient.errors import Facts
from adclient.models import Answer, Response
from adclient.options import Options

R = TypeVar("R", bound=Answer)

log = logging.getLogger("adclient")


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
    """What a call takes from outside: time in seconds, waiting, chance in [0, 1), fresh keys."""

    now: Callable[[], float]
    sleep: Callable[[float], None]
    async_sleep: Callable[[float], Awaitable[None]]
    chance: Callable[[], float]
    new_key: Callable[[], str]


def exchange(call: Call[R], options: Options, world: World, pauses: Pauses) -> Exchange[R]:
    """Make a request of a call and see it through to its value, or raise its error."""
    operation, started = call.operation, world.now()
    deadline = started + options.timeout
    is_write = operation.kind == "write"
    keyed = is_write and options.conventions.idempotency_header is not None
    key = _key(options, world) if keyed else None
    facts: Facts = {"idempotency_key": key}
    request = build(call, options, key)
    attempt, may_be_staged = 0, False
    while True:
        yield from _held_back(call, options, world, pauses, deadline)
        time_left = deadline - world.now()
        attempt += 1
        try:
            outcome = yield Send(request, attempt, time_left)
        except Exception as error:
            if may_be_staged:
                raise failure.interrupted(call, facts, error) from error
            raise
        assert outcome is not None, "Send is answered with a Reply or a Failure"
        elapsed = world.now() - started
        log.debug("%s: attempt %d: %s, %.3f s", operation.full_name, attempt, outcome, elapsed)
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
            log.info("%s: trying again in %.3f s", operation.full_name, wait)
            yield Sleep(wait)
            if world.now() < deadline:
                continue
        raise failure.error_for(call, outcome, facts, may_be_staged=may_be_staged)


def _held_back(
    call: Call[Answer], options: Options, world: World, pauses: Pauses, deadline: float
) -> Generator[Sleep, Outcome | None, None]:
    """Wait as others were asked to, unless the time is too short: then the service shall say."""
    while wait := pauses.wait(call, options, now=world.now(), chance=world.chance()):
        if world.now() + wait >= deadline:
            return
        log.info("%s: held back for %.3f s by a rate limit", call.operation.full_name, wait)
        yield Sleep(wait)


def _key(options: Options, world: World) -> str:
    """The caller's own idempotency key, if the headers hold one, else a fresh one."""
    header = options.conventions.idempotency_header or ""
    return options.headers.get(header.lower()) or world.new_key()


def _value(call: Call[R], reply: Reply, facts: Facts) -> R:
    response = Response(
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
