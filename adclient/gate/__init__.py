"""A gate that processes share: after a 429 with a `Retry-After`, all of them wait."""

from collections.abc import Callable
from functools import partial

from adclient._tasks.clock import monotonic
from adclient.errors import ConfigurationError, LedgerError
from adclient.extend import Call, Failure, Turn, warn
from adclient.gate.databases import Decision, GateState
from adclient.ledger.entry import LedgerWarning
from adclient.ledger.postgres import PostgresLedger
from adclient.ledger.sql import SQLLedger
from adclient.ledger.sqlite import SQLiteLedger
from adclient.ledger.transaction import key as key_in_row
from adclient.options import check_rate, check_type

__all__ = ["SharedGate"]

LONGEST_PAUSE = 86400.0  # seconds; a longer one is renewed by the next 429
LONGEST_RECORD = 1.0  # seconds to wait until a pause is recorded


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
        >>> from adclient import CallTimeout, RateLimited
        >>> from adclient.gate import SharedGate
        >>> from adclient.ledger import SQLiteLedger
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

        As an `adclient.extend.Gate`, which a gate of your own can ask:

        >>> from adclient.extend import OPERATIONS, validated
        >>> call = validated(OPERATIONS[-1], {"account_id": "account_d118"})
        >>> gate.pause(call, "mine", 60)
        >>> round(gate.ask(call, "mine", 90), -1)
        60.0
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

    def ask(self, call: Call, key: str, seconds: float) -> Failure | float | None:
        """Ask if there is a pause, right before a request is sent; it may block.

        Args:
            call: The call that makes the request.
            key: What a pause holds for, such as an account of a service.
            seconds: How many seconds the call has left.

        Returns:
            None if there is none, the seconds until it is over, or a failure if that cannot be told
                in time.

        Raises:
            LedgerError: The database cannot be used.
        """
        return self._asked(call, key, seconds)

    def pause(self, call: Call, key: str, seconds: float) -> None:
        """Record a pause; it may block, and never raises.

        Args:
            call: The call that was refused with a 429.
            key: What the pause holds for.
            seconds: How long it lasts; a longer one that is recorded stays.
        """
        seconds = min(seconds, LONGEST_PAUSE)

        def decide(state: GateState) -> Decision:
            paused = state._replace(paused_at=state.now, paused_until=state.now + seconds)
            return None, paused if seconds > state.pause_left else None

        try:
            self._database.use(self._row(key), decide, monotonic() + LONGEST_RECORD)
        except Exception as error:
            text = f"could not record a pause of {seconds:g} s: {error}"
            name = call.operation.full_name
            warn(f"{name}: the shared gate in {self._database} {text}", LedgerWarning)

    @property
    def __reserve__(self) -> Callable[..., Failure | float | None] | None:
        """What reserves a `Turn`, if the gate limits requests per second."""
        per_second = self._per_second
        return None if per_second is None else partial(self._asked, per_second=per_second)

    def _asked(
        self, call: Call, key: str, seconds: float, per_second: float | None = None
    ) -> Failure | float | None:
        end = monotonic() + seconds

        def decide(state: GateState) -> Decision:
            if state.pause_left > 0:
                return state.pause_left, None
            if per_second is None:
                return None, None
            turn_at = state.next_turn(per_second)
            turn = Turn(turn_at - Turn.LASTS - state.now)
            if turn > 0 and turn >= end - monotonic():  # nobody would use it
                return float(turn), None
            return turn, state._replace(reserved_at=state.now, turn_at=turn_at)

        try:
            return self._database.use(self._row(key), decide, end, is_read=per_second is None)
        except LedgerError as error:
            if monotonic() < end:
                name = call.operation.full_name
                text = f"{name}: the shared gate in {self._database} cannot be asked"
                text += f", so the request was not sent: {error}"
                raise LedgerError(text, operation=name) from None
            # Without the path: the reason of an error is cut where it is long.
            reason = f"the shared gate cannot be asked in time: {error}"
            return Failure(reason=reason, sent=False, timed_out=True)

    def _row(self, name: str) -> str:
        return key_in_row(f"{self._name}\n{name}")
