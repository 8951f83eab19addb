"""A gate that processes share: after a 429 with a `Retry-After`, all of them wait."""

import logging
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from math import inf
from uuid import uuid4

from adclient._core.call import Call
from adclient._core.caps import Caps, Decision, Seen
from adclient._core.events import write_log
from adclient._core.redact import one_line
from adclient._core.response import Failure, Outcome, RawResponse
from adclient._core.retry import retry_after
from adclient._display.signatures import public_in
from adclient.errors import ConfigurationError, LedgerError
from adclient.ledger import gate_database as sql
from adclient.ledger.entry import DEADLINE, LedgerWarning
from adclient.ledger.postgres import PostgresLedger
from adclient.ledger.rows import key
from adclient.ledger.sql import SQLLedger
from adclient.ledger.sqlite import SQLiteLedger
from adclient.models import Result
from adclient.options import Options, check_count, check_rate, check_type

Work = Callable[[], None]

LONGEST_PAUSE = 86400.0  # seconds; a longer one is renewed by the next 429
LONGEST_LEAVE = 1.0  # seconds to wait until a response is recorded
_REPORTING = 0.1  # seconds, at most, of a call's time that are left to report a failure
_GRACE = 1.0  # seconds after its deadline in which a request may still be under way


@public_in("adclient.ledger")
class SharedGate:
    """A gate for the requests of all clients that use it, in any number of processes.

    After a 429 with a `Retry-After`, no client of the gate sends a request before the pause is
    over. It can also cap the requests in a second, and those under way. Each request asks the gate
    right before it is sent, and waits within the `timeout` of its call. If the wait does not fit,
    the call raises `CallTimeout` at once, with `retry_after` set, and sends nothing.

    `Conventions(rate_limit_scope=…)` of a client sets what belongs together: with `"account"`, the
    calls for one account, each of which has its own pause and caps; with `"client"`, all calls.
    With `"call"`, there is no pause, and the caps hold for all calls together. Services of
    different addresses have nothing in common.

    Args:
        ledger: A `SQLiteLedger` for processes of one machine, or a `PostgresLedger`. It is only the
            place, and need not be the ledger of a client. The state is in the database of a
            `PostgresLedger`, or beside the file of a `SQLiteLedger`: for `drafts.db` in
            `drafts.db-gate`, which can be deleted. A ledger in a file is created, if it is missing.
        name: Gates of one name belong together. If the service limits tokens, use a name for each;
            not the token itself, as the name is stored and shown.
        per_second: How many requests may be sent in a second, also less than 1; a tenth of them may
            be sent at once. None for no such cap.
        at_once: How many requests may be under way. One of a process that was killed counts until
            the `timeout` of its call, or of its attempt, is over. None for no such cap.

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
        at_once: int | None = None,
    ) -> None:
        if not isinstance(ledger, SQLLedger):
            raise ConfigurationError(
                f"ledger must be a SQLiteLedger or a PostgresLedger, not {type(ledger).__name__}",
                argument="ledger",
            )
        check_type("name", name, str)
        if per_second is not None:
            check_rate("per_second", per_second)
        if at_once is not None:
            check_count("at_once", at_once, least=1)
        self._database = ledger.__gate__()
        self._name = name or ""
        self._caps = Caps(per_second, at_once)

    def __repr__(self) -> str:
        caps = {"per second": self._caps.per_second, "at once": self._caps.at_once}
        shown = [f"{cap:g} {name}" for name, cap in caps.items() if cap is not None]
        name = [f"name {self._name!r}"] if self._name else []
        return f"<SharedGate {', '.join([str(self._database), *name, *shown])}>"

    def close(self) -> None:
        """Close the connection to the database; the next call opens another one.

        Examples:
            >>> from adclient import SharedGate, SQLiteLedger
            >>> gate = SharedGate(SQLiteLedger("drafts.db"), at_once=4)
            >>> gate.close()
            >>> gate
            <SharedGate ...drafts.db-gate, 4 at once>
        """
        self._database.close()

    def __ticket__(self, call: Call[Result], options: Options) -> "Ticket":
        """The ticket of a call."""
        scope = options.conventions.rate_limit_scope
        parts = [self._name, options.base_url, call.account_id if scope == "account" else ""]
        return Ticket(
            self._database,
            self._caps,
            key=key("\n".join(parts)),
            operation=call.operation.full_name,
            shares_pauses=scope != "call",
        )


class Ticket:
    """One call at a gate: it asks before each of its requests, and leaves after it."""

    def __init__(
        self,
        database: sql.GateDatabase,
        caps: Caps,
        *,
        key: str,
        operation: str,
        shares_pauses: bool,
    ) -> None:
        self._database = database
        self._caps = caps
        self._values: dict[str, str | float] = {"key": key, "call_id": uuid4().hex}
        self._operation = operation
        self._shares_pauses = shares_pauses
        self._decision = Decision()
        self._arrived_at = inf  # when it first asked for its next request

    @property
    def answer(self) -> Failure | float | None:
        """None for a request that may be sent, or seconds to wait, or why there is no time."""
        wait, reason = self._decision.wait, self._decision.reason
        if reason is None:
            return wait or None
        after = wait if self._decision.is_known else None
        return Failure(reason=reason, sent=False, timed_out=True, retry_after=after)

    def asking(self, longest: float, attempt_timeout: float | None, random: float) -> Work:
        """A function that asks for a request; it may block.

        The call has `longest` seconds left from now on; `random` is in [0, 1).

        Raises, when it is called:
            LedgerError: The database cannot be used.
        """
        end = time.monotonic() + longest
        first_asked_at = self._arrived_at

        def decide(row: sql.Row) -> sql.Writes:
            seen, left = Seen(*row), max(_REPORTING / 100, end - time.monotonic())
            arrived_at = min(first_asked_at, seen.now)
            lease = _GRACE + min(left, attempt_timeout or left)
            self._decision = self._caps.decide(
                seen, arrived_at, longest=left, lease=lease, random=random
            )
            # Its next request has to queue again.
            self._arrived_at = arrived_at if self._decision.wait else inf
            return _written(self._decision)

        def ask() -> None:
            token = DEADLINE.set(end - min(_REPORTING, longest / 10))
            try:
                with self._database.errors_explained():
                    if self._caps == Caps():
                        decide(self._database.execute([sql.READ_PAUSE], self._values) or [0.0])
                    else:
                        values = {**self._values, "arrived_at": first_asked_at}
                        self._database.update(sql.READ, values, decide)
            except LedgerError as error:
                self._decision = Decision()
                text = f"{self._operation}: the shared gate in {self._database} cannot be asked"
                text += f", so the request was not sent: {error}"
                raise LedgerError(text, operation=self._operation) from None
            finally:
                DEADLINE.reset(token)

        return ask

    def has_to_leave(self, outcome: Outcome | None) -> bool:
        """Check if the database has a place of this call, or needs to know of a pause."""
        return self._decision.place is not None or self._pause_after(outcome) > 0

    def leaving(self, outcome: Outcome | None) -> Work:
        """A function that records the end of a request, and a pause.

        It may block, and never raises.
        """

        def leave() -> None:
            statements, values = list[str](), dict(self._values)
            if (pause := self._pause_after(outcome)) > 0:
                statements.append(sql.PAUSE)
                values["asked"] = pause
            if self._decision.place is not None:
                statements.append(sql.LEAVE)
            self._decision = Decision()
            token = DEADLINE.set(time.monotonic() + LONGEST_LEAVE)
            try:
                with self._database.errors_explained():
                    self._database.execute(statements, values)
            except Exception as error:
                what = f"a pause of {pause:g} s" if pause else "the end of a request"
                _warn(f"{self._operation}: the shared gate could not record {what}: {error}")
            finally:
                DEADLINE.reset(token)

        return leave

    def _pause_after(self, outcome: Outcome | None) -> float:
        """Seconds that a response asks all calls to wait; 0 for none."""
        if isinstance(outcome, RawResponse) and outcome.status == 429 and self._shares_pauses:
            return min(retry_after(outcome) or 0.0, LONGEST_PAUSE)
        return 0.0


def _written(decision: Decision) -> sql.Writes:
    """The statements that keep what was decided, and their values."""
    statements, values = [sql.CLEAR], dict[str, str | float]()
    if (place := decision.place) is not None:
        statements.append(sql.PLACE)
        values |= {"is_sent": int(place.is_sent), "at": place.at, "until": place.until}
    if decision.next_at is not None:
        statements.append(sql.SET_NEXT)
        values["next_at"] = decision.next_at
    return statements, values


def _warn(text: str) -> None:
    text = one_line(text, 600)
    write_log(logging.WARNING, text)
    # A program that turns warnings into errors must not lose the response.
    with suppress(Warning):
        warnings.warn(text, LedgerWarning, stacklevel=2)
