"""Performs the steps of a call, which `Exchange` decides."""

from collections.abc import Callable
from functools import partial
from inspect import isawaitable  # async only
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from adclient._async.gate_slot import AsyncGateSlot
from adclient._async.page import AsyncListing, AsyncPage, AsyncSource
from adclient._core.auth import NO_AUTH, AuthHeaders, Credentials, checked_auth
from adclient._core.call import Call, checked
from adclient._core.events import Tracer, only_warning, reporter_for
from adclient._core.exchange import ACQUIRE, SEND, Exchange
from adclient._core.operations import BY_NAME
from adclient._core.request import Request, RequestBuilder
from adclient._core.response import Failure, Outcome, none_in_time, too_late
from adclient._core.retry import Pauses, RetryQuota
from adclient._http.slots import AsyncCapacityLimiter, AsyncSlot
from adclient._show.tracebacks import bare, forget_frames
from adclient._tasks.clock import (
    LONGEST_END,
    REPORTING,
    STOPS,
    Clock,
    async_in_time,
    async_run_blocking,
    countdown,
)
from adclient._values.text import name_of
from adclient.errors import AdClientError, CallTimeout, ConfigurationError
from adclient.models import JSON, Draft, Result
from adclient.options import Options

if TYPE_CHECKING:
    from adclient._async.tokens import AsyncTokenFetcher
    from adclient.extend import AsyncSender, CallGuard, Gate, Record

_NO_WRITES = (
    "over_accounts only reads; stage drafts in the loop over its results, or with a plan; "
    "nothing was sent"
)
_UNSENT = "the call ended before it was sent"


class AsyncConnections(Protocol):
    """Sends the requests of a client, and closes what it has opened for them."""

    is_closed: bool

    async def send(self, request: Request, deadline: float) -> Outcome: ...
    async def aclose(self) -> None: ...


@attrs.define(eq=False, repr=False)
class AsyncEngine:
    """Performs the calls of one client.

    A copy made by `with_options` shares the connections and the token, and does not own them.
    """

    options: Options
    credentials: Credentials
    sender: "AsyncSender"  # `connections`, unless a tool passes its own to `extend.run`
    connections: AsyncConnections
    limiter: AsyncCapacityLimiter
    clock: Clock
    random: Callable[[], float]
    tracer: Tracer | None
    gate: "Gate | None" = None
    guard: "CallGuard | None" = None
    at_close: Callable[[], None] | None = None  # it may block
    quota: RetryQuota = attrs.field(factory=RetryQuota)
    pauses: Pauses = attrs.field(factory=Pauses)  # without gate=
    owns_connections: bool = True
    is_closed: bool = False
    tokens: "AsyncTokenFetcher | None" = None
    requests: RequestBuilder = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        fixed = self.credentials.fixed
        headers = None if fixed is None else fixed.headers
        self.requests = RequestBuilder(self.options, headers, new_key=_new_key)
        token = self.credentials.token
        if self.tokens is None and callable(token):
            from adclient._async.tokens import AsyncTokenFetcher  # deferred: most tokens are texts

            self.tokens = AsyncTokenFetcher(token, self.clock.wall_time)

    async def stage(self, name: str, *values: object) -> Draft:
        """Stage a draft, by the values of the parameters in the order of the interface."""
        try:
            draft: Draft = await self.run(checked(BY_NAME[name], values))
            return draft
        except BaseException as error:
            forget_frames(error)
            raise

    async def run_bare(self, call: Call) -> Draft | AsyncPage[Any]:
        """Perform one call of a tool, whose errors do not show the requests either."""
        if not call.operation.is_write:
            source: AsyncSource[Any] = AsyncSource(self, call)
            return await source.page(call.cursor)
        try:
            draft: Draft = await self.run(call)
            return draft
        except BaseException as error:
            forget_frames(error)
            raise

    def read(self, name: str, cursor: JSON, *values: object) -> AsyncListing[Any]:
        """Read a listing, by the values of the parameters in the order of the interface."""
        try:
            call = checked(BY_NAME[name], values, cursor)
            source: AsyncSource[Any] = AsyncSource(self, call)
            return AsyncListing(source, call.cursor)
        except AdClientError as error:
            forget_frames(error)
            raise

    async def run(self, call: Call) -> Any:
        """Perform one call, and return its draft or page, or raise its error."""
        if call.operation.is_write and STOPS.get():
            # A loop that is left or fails early would lose the drafts of the other accounts.
            raise ConfigurationError(f"{call.operation.full_name}: {_NO_WRITES}")
        if self.clock.begin_call is not None:
            self.clock.begin_call()
        record = None if self.guard is None else self.guard.admit(call, self.options.actor)
        reporter = reporter_for(call, self.options, self.clock.now, self.tracer)
        request, conventions = self.requests.build(call)
        exchange = Exchange(
            call,
            request,
            self.options,
            self.quota,
            AsyncPage,
            now=self.clock.now,
            random=self.random,
            auth=self.credentials.fixed or NO_AUTH,
            may_renew_token=self.tokens is not None,
            reporter=reporter,
            end_of_listing=conventions.end_of_listing,
        )
        slot = AsyncSlot(self.limiter)
        if self.gate is not None:
            slot = AsyncGateSlot(self.limiter, self.gate, exchange)
        try:
            if record is None:
                value = await self._perform(exchange, slot)
            else:
                value = await self._perform_recorded(exchange, slot, record)
        except BaseException as error:
            if reporter is not None:
                reporter.end(error)
            raise
        finally:
            try:
                slot.release()
            finally:  # also after an interrupt in between
                if slot.place is not None:
                    slot.place.release()
        if reporter is not None:
            reporter.end(None)
        return value

    async def aclose(self) -> None:
        """Close the connections, if they are this engine's own."""
        self.is_closed = True
        if self.owns_connections:
            try:
                await self.connections.aclose()
            finally:  # also if that is cancelled
                if self.at_close is not None:
                    await async_run_blocking(self.at_close, LONGEST_END, None)

    def with_parts(self, **parts: Any) -> "AsyncEngine":
        """An engine with other parts, and the same connections and limits."""
        return attrs.evolve(self, owns_connections=False, **parts)

    @property
    def guarded(self) -> dict[str, str]:
        """What the guard consists of, and the gate, for display."""
        shown: dict[str, str] = getattr(self.guard, "shown", {})
        return shown if self.gate is None else {**shown, "gate": name_of(self.gate)}

    def check_open(self) -> None:
        """Raise an error if the client, or the iteration that needs the call, was closed."""
        if self.is_closed or self.connections.is_closed:
            raise ConfigurationError("this client is closed; make another one")
        if (stops := STOPS.get()) and any(stop.is_set for stop in stops):
            # No AdClientError, which a loop over accounts takes for a failure of one of them.
            raise RuntimeError("this iteration was closed, so nothing is sent")

    async def _perform_recorded(self, exchange: Exchange, slot: AsyncSlot, record: "Record") -> Any:
        """Perform a call between the record of its beginning and that of its end."""
        what = f"{exchange.call.operation.full_name}: its end could not be recorded"

        def ending(result: Result | BaseException, attempts: int) -> Callable[[], None]:
            return only_warning(partial(record.end, result, attempts), what)

        seconds = exchange.time_left
        # A little is left to report that the record failed.
        left = countdown(seconds - min(REPORTING, seconds / 10))
        late = await async_run_blocking(
            lambda: record.reserve(left()),
            seconds,
            too_late("the record of the call took the whole timeout"),
            lambda: ending(CallTimeout(_UNSENT), 0)(),
        )
        # Never in the sync twin; and tracers miss the lines behind a cancellation.
        if late is not None:  # pragma: no cover
            return exchange.result(late)
        try:
            value = await self._perform(exchange, slot)
        except BaseException as error:
            slot.release()
            if slot.place is not None:
                slot.place.release()
            # Record a cancelled call too: its number of attempts shows whether it was sent.
            await async_run_blocking(ending(error, exchange.attempts), LONGEST_END, None)
            raise
        # Return the draft even if the record hangs.
        await async_run_blocking(ending(value, exchange.attempts), LONGEST_END, None)
        return value

    # `run` releases the slot in the end: an interrupt at the jump of a loop would skip a
    # `finally` around the loop.
    async def _perform(self, exchange: Exchange, slot: AsyncSlot) -> Any:
        """Perform the steps of a call, and return its value."""
        steps = exchange.steps()
        outcome: Outcome | float | None = None
        try:
            while True:
                try:
                    step = steps.send(outcome)
                except StopIteration as done:
                    final: Outcome = done.value
                    break
                if step is SEND:
                    raw = await self.sender.send(exchange.outgoing, exchange.attempt_deadline)
                    outcome = exchange.examine(raw)
                    # Before the slot is released for another call.
                    if exchange.pause and isinstance(slot, AsyncGateSlot):
                        await slot.pause()
                    elif exchange.pause:
                        self.pauses.begin(exchange.key, exchange.now(), exchange.pause)
                    continue
                slot.release()
                if isinstance(slot, AsyncGateSlot):
                    slot.leave_line()
                if step is ACQUIRE:
                    outcome = await self._acquire(exchange, slot)
                else:
                    await self.clock.async_sleep(step)
                    outcome = None
        except Exception as error:
            exchange.raise_if_staged(error)
            raise
        slot.release()
        return exchange.result(final)  # without a slot, which another call can use meanwhile

    async def _acquire(self, exchange: Exchange, slot: AsyncSlot) -> Failure | float | None:
        """Get what an attempt needs; the seconds to wait, or a failure if that takes too long."""
        gate_slot = slot if isinstance(slot, AsyncGateSlot) else None
        # A turn lasts a moment: a call that has waited for its own has its credentials.
        if self.credentials.fixed is None and (gate_slot is None or not gate_slot.has_turn):
            fetch = partial(self._fetch_credentials, exchange)
            try:
                failure = exchange.authorize(await async_in_time(exchange.time_left, fetch))
            except ConfigurationError as refused:
                # Tracebacks can show local variables, which hold the refused value below here.
                raise bare(refused) from None
            if failure is not None:
                self.check_open()
                return failure
        wait: Failure | float | None = None
        if gate_slot is not None:
            wait = await gate_slot.enter()
        elif not await slot.acquire(exchange.time_left):
            wait = none_in_time("no free connection", self.limiter.total)
        elif self.pauses.ends:
            wait = exchange.pause_left(self.pauses)
        self.check_open()
        return wait

    async def _fetch_credentials(self, exchange: Exchange) -> AuthHeaders | None:
        """Ask the caller's function for credentials; None if a token took too long."""
        if self.tokens is not None:
            return await self.tokens.fetch(exchange.time_left, exchange.refused)
        assert self.credentials.auth is not None
        request = exchange.request
        # A copy: the headers are shared with other requests of the operation.
        headers = self.credentials.auth(attrs.evolve(request, headers=dict(request.headers)))
        if isawaitable(headers):  # async only
            headers = await headers  # async only
        return checked_auth(headers)


def _new_key() -> str:
    from uuid import uuid4  # deferred: few services know idempotency keys

    return str(uuid4())
