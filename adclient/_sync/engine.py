# Generated from ../_async by tools/make_twin.py: change it there.
"""Performs the steps of a call, which `Exchange` decides."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar, Unpack

import attrs

from adclient._sync.page import Page
from adclient._sync.page import Source
from adclient._core.auth import NO_AUTH, AuthHeaders, Credentials, checked_auth
from adclient._core.call import Call, validated
from adclient._core.events import Tracer, reporter_for
from adclient._core.exchange import ACQUIRE, ASK, SEND, Exchange
from adclient._core.operations import Arguments, Operation, PageBody
from adclient._core.request import RequestBuilder
from adclient._core.response import Failure, Outcome, too_late
from adclient._core.retry import RateLimitGate, RetryQuota
from adclient._display.tracebacks import bare, forget_frames
from adclient._http.limiter import CapacityLimiter, Slot
from adclient._http.send import Sender
from adclient._tasks.blocking import LONGEST_END, run_blocking
from adclient._tasks.clock import Clock, in_time
from adclient._tasks.stopping import is_reading_accounts, is_stopped
from adclient.errors import AdClientError, ConfigurationError
from adclient.models import JSON, Draft, Result
from adclient.options import Options

if TYPE_CHECKING:
    from adclient._sync.tokens import TokenFetcher
    from adclient._limits.guard import Guard
    from adclient.ledger.entry import Entry
    from adclient.ledger.gate import SharedGate, Ticket

R = TypeVar("R", bound=Result)
T = TypeVar("T")

# Not the thread of the ledger, which may be locked; what needs no slot has another one, so that
# a call whose turn has come is not behind those that still ask for one.
GATE_THREAD, TURNS_THREAD = "adclient-gate", "adclient-turns"


@attrs.define(eq=False, repr=False)
class Engine:
    """Performs the calls of one client.

    A copy made by `with_options` shares the connections and the token, and does not own them.
    """

    options: Options
    credentials: Credentials
    sender: Sender
    limiter: CapacityLimiter
    clock: Clock
    random: Callable[[], float]
    tracer: Tracer | None
    guard: "Guard | None" = None
    gate: RateLimitGate = attrs.field(factory=RateLimitGate)
    quota: RetryQuota = attrs.field(factory=RetryQuota)
    shared_gate: "SharedGate | None" = None
    owns_connections: bool = True
    is_closed: bool = False
    tokens: "TokenFetcher | None" = None
    _requests: RequestBuilder = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        fixed = self.credentials.fixed
        headers = None if fixed is None else fixed.headers
        self._requests = RequestBuilder(self.options, headers, new_key=_new_key)
        token = self.credentials.token
        if self.tokens is None and callable(token):
            from adclient._sync.tokens import TokenFetcher  # deferred: most tokens are texts

            self.tokens = TokenFetcher(token, self.clock.wall_time)

    def stage(self, operation: Operation[Draft], **arguments: Unpack[Arguments]) -> Draft:
        """Stage a draft."""
        try:
            return self.run(validated(operation, arguments))
        except BaseException as error:
            forget_frames(error)
            raise

    def read(
        self, operation: Operation[PageBody[T]], *, cursor: JSON, **arguments: Unpack[Arguments]
    ) -> Page[T]:
        """Read a listing."""
        try:
            call = validated(operation, arguments, cursor)
            return Source(self, call).page(call.cursor)
        except AdClientError as error:
            forget_frames(error)
            raise

    def run(self, call: Call[R]) -> R:
        """Perform one call, and return its value or raise its error."""
        if call.operation.is_write and is_reading_accounts():
            # A loop that is left or fails early would lose the drafts of the other accounts.
            problem = (
                f"{call.operation.full_name}: over_accounts only reads; stage drafts in the loop"
            )
            raise ConfigurationError(
                f"{problem} over its results, or with a plan; nothing was sent"
            )
        if self.clock.begin_call is not None:
            self.clock.begin_call()
        guard = self.guard
        entry = None if guard is None else guard.entry_for(call, self.options.actor)
        reporter = reporter_for(call, self.options, self.clock.now, self.tracer)
        shared = self.shared_gate
        ticket = None if shared is None else shared.__ticket__(call, self.options, self.clock.now)
        exchange = Exchange(
            call,
            self._requests.build(call),
            self.options,
            self.gate if ticket is None else RateLimitGate(),  # the shared one has all pauses
            self.quota,
            now=self.clock.now,
            random=self.random,
            auth=self.credentials.fixed or NO_AUTH,
            may_renew_token=self.tokens is not None,
            has_shared_gate=ticket is not None,
            reporter=reporter,
        )
        slot = Slot(self.limiter)
        place = slot if ticket is None else Slot(self.limiter.line(ticket.key))
        try:
            if guard is None or entry is None:
                value = self._perform(exchange, slot, ticket, place)
            else:
                value = self._perform_recorded(exchange, slot, ticket, place, guard, entry)
        except BaseException as error:
            if reporter is not None:
                reporter.end(error)
            raise
        finally:
            try:
                slot.release()
            finally:  # also after an interrupt in between
                place.release()
        if reporter is not None:
            reporter.end(None)
        return value

    def close(self) -> None:
        """Close the connections, if they are this engine's own."""
        self.is_closed = True
        if self.owns_connections:
            try:
                self.sender.close()
            finally:  # also if that is cancelled
                if self.guard is not None and self.guard.ledger is not None:
                    run_blocking(self.guard.kept_open.close, LONGEST_END)

    def with_options(self, options: Options) -> "Engine":
        """An engine with other options and the same connections."""
        return attrs.evolve(self, options=options, owns_connections=False)

    def preview(self, call: Call[Result]) -> str:
        """The request of a call as a command for `curl`."""
        from adclient._core.preview import as_curl, preview_request  # deferred: few programs use it

        request = preview_request(call, self._requests)
        return as_curl(request, self.options.headers, self.credentials.kind)

    @property
    def guarded(self) -> dict[str, str]:
        """The policy, the ledger and the shared gate, for display."""
        shown = {} if self.guard is None else self.guard.shown
        return shown if self.shared_gate is None else {**shown, "gate": repr(self.shared_gate)}

    def check_open(self) -> None:
        """Raise an error if the client, or the iteration that needs the call, was closed."""
        if self.is_closed or self.sender.is_closed:
            raise ConfigurationError("this client is closed; make another one")
        if is_stopped():
            # No AdClientError, which a loop over accounts takes for a failure of one of them.
            raise RuntimeError("this iteration was closed, so nothing is sent")

    def _perform_recorded(
        self,
        exchange: Exchange[R],
        slot: Slot,
        ticket: "Ticket | None",
        place: Slot,
        guard: "Guard",
        entry: "Entry",
    ) -> R:
        """Perform a write between its reservation in the ledger and the record of its end."""
        left = exchange.time_left
        is_in_time = run_blocking(
            guard.reserving(entry, left), left, guard.giving_up(entry)
        )
        # A blocking call is never late here, and tracers miss the lines behind a cancellation.
        if not is_in_time:  # pragma: no cover
            return exchange.result(too_late("the ledger took the whole timeout"))
        try:
            value = self._perform(exchange, slot, ticket, place)
        except BaseException as error:
            slot.release()
            place.release()
            # Record a cancelled call too: its number of attempts shows whether it was sent.
            run_blocking(guard.ending(entry, error, exchange.attempts), LONGEST_END)
            raise
        # Return the draft even if the ledger hangs.
        run_blocking(guard.ending(entry, value, exchange.attempts), LONGEST_END)
        return value

    # `run` releases the slot in the end: an interrupt at the jump of a loop would skip a
    # `finally` around the loop.
    def _perform(
        self, exchange: Exchange[R], slot: Slot, ticket: "Ticket | None", place: Slot
    ) -> R:
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
                    sent = self.sender.send(exchange.outgoing, exchange.attempt_deadline)
                    outcome = exchange.received(sent)
                    # Before the slot is released, so that no other call uses it meanwhile.
                    if ticket is not None and (pause := ticket.pause_after(outcome)):
                        work = ticket.pausing(pause)
                        run_blocking(work, LONGEST_END, thread=GATE_THREAD)
                    continue
                if step is ASK:
                    assert ticket is not None
                    if not ticket.may_send:
                        outcome = self._ask(ticket, exchange.time_left, GATE_THREAD)
                    continue
                slot.release()
                if ticket is not None and not ticket.has_turn:
                    place.release()
                if step is ACQUIRE:
                    outcome = self._acquire(exchange, slot, ticket, place)
                else:
                    self.clock.sleep(step)
                    outcome = None
        except Exception as error:
            exchange.raise_if_staged(error)
            raise
        slot.release()
        place.release()
        return exchange.result(final)  # without a slot, which another call can use meanwhile

    def _acquire(
        self, exchange: Exchange[R], slot: Slot, ticket: "Ticket | None", place: Slot
    ) -> Failure | float | None:
        """Get what an attempt needs; the seconds to wait, or a failure if that takes too long."""
        late = None
        needs_turn = ticket is not None and not ticket.has_turn
        # A turn lasts a moment: a call that has waited for its own has its credentials.
        if self.credentials.fixed is None and (needs_turn or ticket is None or ticket.is_free):
            auth = self._fetch_credentials(exchange)
            is_late = auth is None or exchange.time_left <= 0
            late = too_late("the credentials took the whole timeout") if is_late else None
            exchange.auth = auth or NO_AUTH
            exchange.outgoing = exchange.auth.apply(exchange.request)
        # If a token was refused, there may be no other one to use the turn.
        if late is None and ticket is not None and needs_turn and exchange.refused is NO_AUTH:
            place.release()  # of a turn that has just gone
            if not slot.is_nested and not place.acquire(exchange.time_left):
                return self._too_late("no turn at the shared gate")
            decision = self._ask(ticket, exchange.time_left, TURNS_THREAD)
            if decision is not None:
                return decision
        if late is None and not slot.acquire(exchange.time_left):
            late = self._too_late("no free connection")
        self.check_open()
        return late

    def _too_late(self, what: str) -> Failure:
        return too_late(f"{what} in time (max_concurrency is {self.limiter.total})")

    def _ask(self, ticket: "Ticket", left: float, thread: str) -> Failure | float | None:
        """Ask the shared gate; the seconds to wait, or a failure if that takes too long."""
        asking = ticket.asking(left, self.random())
        if run_blocking(asking, left, ticket.give_up, thread=thread):
            self.check_open()
            return ticket.decision
        # A blocking call is never late here, and tracers miss the lines behind a cancellation.
        return too_late("the shared gate took the whole timeout")  # pragma: no cover

    def _fetch_credentials(self, exchange: Exchange[R]) -> AuthHeaders | None:
        """Ask the caller's function for credentials; None if it took too long."""
        try:
            return in_time(exchange.time_left, partial(self._credentials, exchange))
        except ConfigurationError as refused:
            # Tracebacks can show local variables, which contain the refused value below this frame.
            raise bare(refused) from None

    def _credentials(self, exchange: Exchange[R]) -> AuthHeaders | None:
        if self.tokens is not None:
            return self.tokens.fetch(exchange.time_left, exchange.refused)
        assert self.credentials.auth is not None
        request = exchange.request
        # A copy: the headers are shared with other requests of the operation.
        headers = self.credentials.auth(attrs.evolve(request, headers=dict(request.headers)))
        return checked_auth(headers)


def _new_key() -> str:
    from uuid import uuid4  # deferred: few services know idempotency keys

    return str(uuid4())
