"""A gate that processes share: after a 429 with a `Retry-After`, all of them wait."""

import math
from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

import attrs

from adclient._core.call import Call
from adclient._core.events import warn
from adclient._core.response import Failure, Outcome, RawResponse, too_late
from adclient._display.signatures import public_in
from adclient._tasks.clock import monotonic
from adclient.errors import ConfigurationError, LedgerError
from adclient.ledger.entry import LedgerWarning
from adclient.ledger.gate_database import BURST, GateDatabase, State
from adclient.ledger.postgres import PostgresLedger
from adclient.ledger.rows import key
from adclient.ledger.sql import SQLLedger
from adclient.ledger.sqlite import SQLiteLedger
from adclient.models import Result
from adclient.options import Options, check_rate, check_type

Work = Callable[[], None]

LONGEST_PAUSE = 86400.0  # seconds; a longer one is renewed by the next 429
LONGEST_RECORD = 1.0  # seconds to wait until a pause is recorded
_FRESH = 0.01  # seconds; a look at the pause that is older is repeated before a request is sent
_PORTS = {"http": 80, "https": 443}


@public_in("adclient.ledger")
class SharedGate:
    """A gate for the requests of all clients that use it, in any number of processes.

    After a 429 with a `Retry-After`, no client of the gate sends a request before the pause is
    over. It can also cap the requests in a second. Each request asks the gate right before it is
    sent, and waits within the `timeout` of its call. If the wait for a pause or a turn does not
    fit, the call raises `CallTimeout` at once, with `retry_after` set, and sends nothing.

    `Conventions(rate_limit_scope=…)` of a client sets what belongs together: with `"account"`, the
    calls for one account, each of which has its own pause and cap; with `"client"`, all calls.
    With `"call"`, there is no pause, and the cap holds for all calls together. Services of
    different addresses have nothing in common.

    Args:
        ledger: A `SQLiteLedger` for processes of one machine, or a `PostgresLedger`. It only says
            where the state is, and need not be the ledger of a client: in the database of a
            `PostgresLedger`, or beside the file of a `SQLiteLedger`, for `drafts.db` in
            `drafts.db-gate`, which can be deleted. The ledger itself is neither used nor created.
        name: Gates of one name belong together. If the service limits tokens, use a name for each;
            not the token itself, as the name is stored and shown.
        per_second: How many requests may be sent in a second, also less than 1; a tenth of them may
            be sent at once. None for no such cap.

    Raises:
        ConfigurationError: An argument cannot be used; the message names it.

    Examples:
        >>> from adclient import CallTimeout, RateLimited, SharedGate, SQLiteLedger
        >>> from adclient.testing import FakeAdService, Fault
        >>> fake = FakeAdService()
        >>> gate = SharedGate(SQLiteLedger("drafts.db", now=fake.clock.now), per_second=10)
        >>> fake.faults.add(Fault.status(429, headers={"Retry-After": "60"}))
        >>> for client in (fake.client(gate=gate), fake.client(gate=gate)):
        ...     try:
        ...         client.beta.list_campaigns(account_id="account_b204")
        ...     except (RateLimited, CallTimeout) as error:
        ...         print(type(error).__name__, error.attempts, round(error.retry_after, -1))
        RateLimited 1 60.0
        CallTimeout 0 60.0
        >>> len(fake.requests)
        1
    """

    def __init__(
        self,
        ledger: SQLiteLedger | PostgresLedger,
        *,
        name: str = "",
        per_second: float | None = None,
    ) -> None:
        if not isinstance(ledger, SQLLedger):
            raise ConfigurationError(
                f"ledger must be a SQLiteLedger or a PostgresLedger, not {type(ledger).__name__}",
                argument="ledger",
            )
        check_type("name", name, str)
        self._database = ledger.__gate__()
        self._name = name or ""
        self._per_second = None if per_second is None else check_rate("per_second", per_second)

    def __repr__(self) -> str:
        name = f", name {self._name!r}" if self._name else ""
        rate = "" if self._per_second is None else f", {self._per_second:g} per second"
        return f"<SharedGate {self._database}{name}{rate}>"

    def __ticket__(
        self, call: Call[Result], options: Options, now: Callable[[], float]
    ) -> "Ticket | None":
        """The ticket of a call, by the clock of its client; None if nothing limits it."""
        scope = options.conventions.rate_limit_scope
        if scope == "call" and self._per_second is None:
            return None
        url = urlsplit(options.base_url)
        address = f"{url.scheme}://{url.hostname}:{url.port or _PORTS.get(url.scheme)}{url.path}"
        account_id = call.account_id if scope == "account" else ""
        return Ticket(
            self._database,
            self._per_second,
            key("\n".join([self._name, address.rstrip("/"), account_id])),
            call.operation.full_name,
            has_pauses=scope != "call",
            now=now,
        )


@attrs.define(eq=False)
class Ticket:
    """One call at a gate: it reserves a turn for each of its requests, and records a pause.

    Turns are reserved without a slot, so that a call whose turn has come finds one: calls that
    queue for the database must not have them all. Right before the request is sent, the call
    checks with its slot that there is no pause, or takes another turn if its own is over.

    `decision` is None if the call may go on, the seconds to wait, or the failure of a call that has
    no time to wait.
    """

    database: GateDatabase
    per_second: float | None
    key: str
    operation: str
    has_pauses: bool
    now: Callable[[], float]
    decision: Failure | float | None = attrs.field(default=None, init=False)
    # By `now`: when the reserved turn is over, and when the state was read.
    _turn_at: float = attrs.field(default=-math.inf, init=False)
    _read_at: float = attrs.field(default=-math.inf, init=False)

    @property
    def is_free(self) -> bool:
        """Whether it needs no turn."""
        return self.per_second is None

    @property
    def has_turn(self) -> bool:
        """Whether it needs no turn, or has one that is not over."""
        return self.is_free or self.now() <= self._turn_at

    @property
    def may_send(self) -> bool:
        """Whether it has its turn, and need not look again for a pause."""
        is_fresh = not self.has_pauses or self.now() - self._read_at <= _FRESH
        return is_fresh and self.has_turn

    def asking(self, longest: float, random: float) -> Work:
        """A function that asks for a request; it may block.

        The call has `longest` seconds left from now on; `random` is in [0, 1).

        Raises, when it is called:
            LedgerError: The database cannot be used.
        """
        # Not when it is called: a slow database must not take the turn of a call that was in time.
        end, has_turn = monotonic() + longest, self.has_turn

        def ask() -> None:
            decide = partial(self._decide, has_turn, end, random)
            try:
                self.database.use(self.key, decide, end, is_read=has_turn)
            except LedgerError as error:
                if monotonic() < end:
                    text = f"{self.operation}: the shared gate in {self.database} cannot be asked"
                    text += f", so the request was not sent: {error}"
                    raise LedgerError(text, operation=self.operation) from None
                # Without the path: the reason of an error is cut where it is long.
                self.decision = too_late(f"the shared gate cannot be asked in time: {error}")

        return ask

    def pause_after(self, outcome: Outcome) -> float:
        """Seconds that a response asks all calls to wait; 0 for none. Its turn is used."""
        self._turn_at = -math.inf
        if isinstance(outcome, RawResponse) and outcome.is_rate_limit and self.has_pauses:
            return min(outcome.retry_after or 0.0, LONGEST_PAUSE)
        return 0.0

    def pausing(self, seconds: float) -> Work:
        """A function that records a pause; it may block, and never raises."""

        def decide(state: State) -> State | None:
            is_longer = seconds > state.pause_left
            end = state.now + seconds
            return state._replace(paused_at=state.now, paused_until=end) if is_longer else None

        def pause() -> None:
            try:
                self.database.use(self.key, decide, monotonic() + LONGEST_RECORD)
            except Exception as error:
                text = f"could not record a pause of {seconds:g} s: {error}"
                warn(f"{self.operation}: the shared gate in {self.database} {text}", LedgerWarning)

        return pause

    def give_up(self) -> None:
        """Do nothing: a call that was cancelled leaves its turn unused."""

    def _decide(self, has_turn: bool, end: float, random: float, state: State) -> State | None:
        """Make a decision, and return the state with a reserved turn."""
        self._read_at, self.decision = self.now(), None
        if self.has_pauses and (left := state.pause_left) > 0:
            left += state.jitter(random)
            reason = f"the service asked for a pause, of which {left:.3g} s are left"
            self.decision, self._turn_at = _wait(left, end, reason), -math.inf
            return None
        if self.per_second is None or has_turn:
            return None
        turn_at = state.next_turn(self.per_second)
        if (wait := turn_at - BURST - state.now) > 0:
            reason = f"{self.per_second:g} requests per second: {wait:.3g} s to wait"
            self.decision = _wait(wait, end, reason)
            if isinstance(self.decision, Failure):
                return None
        self._turn_at = self._read_at + turn_at - state.now
        return state._replace(reserved_at=state.now, turn_at=turn_at)


def _wait(seconds: float, end: float, reason: str) -> Failure | float:
    """Seconds to wait, or a failure if that takes longer than the call has."""
    failure = Failure(reason=reason, sent=False, timed_out=True, retry_after=seconds)
    return seconds if seconds < end - monotonic() else failure
