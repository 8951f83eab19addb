"""The database of a ledger: how it is opened, created and verified."""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal
from weakref import WeakSet, finalize

from adclient._tasks.clock import monotonic
from adclient.errors import ConfigurationError, LedgerError
from adclient.ledger.entry import WAIT_UNTIL
from adclient.ledger.transaction import FIRST_HASH, DatabaseConnection, DatabaseError, Transaction
from adclient.options import check_type

if TYPE_CHECKING:
    from adclient.gate.databases import GateDatabase


_everywhere: WeakSet["IdleConnections"] = WeakSet()
_leaked_on_purpose: list[object] = []  # closing a parent's connection could disturb the parent


class IdleConnections:
    """Connections to one database that wait for their next use, in any thread of this process.

    There is no lock: the methods of a list are atomic. One is kept open while there is a reason,
    or else none.
    """

    def __init__(self, *, is_kept: bool = False) -> None:
        self._idle: list[
            tuple[int, DatabaseConnection]
        ] = []  # each with the process that opened it
        self._reasons = ["its owner"] if is_kept else []
        # Unlike `__del__`, it runs before those of the connections, which warn if they are open.
        finalize(self, _close, self._idle)
        _everywhere.add(self)

    @contextmanager
    def kept(self) -> Generator[None]:
        """Keep one open in this block."""
        self._reasons.append("a block")
        try:
            yield
        finally:
            self._reasons.pop()
            if not self._reasons:
                self.close()

    def take(self) -> DatabaseConnection | None:
        """Take a connection for its next use; None if there is none."""
        return _taken(self._idle)

    @contextmanager
    def using(self, connection: DatabaseConnection) -> Generator[None]:
        """Use a connection in this block; an error closes it, which rolls back."""
        try:
            yield
        except BaseException:
            connection.close()
            raise
        self._idle.append((os.getpid(), connection))
        _close(self._idle, most=1 if self._reasons else 0)

    def close(self) -> None:
        """Close them; later uses open others."""
        _close(self._idle)


def _taken(idle: list[tuple[int, DatabaseConnection]]) -> DatabaseConnection | None:
    with suppress(IndexError):
        while True:
            pid, connection = idle.pop()
            if pid == os.getpid():
                return connection
            _leaked_on_purpose.append(connection)
    return None


def _close(idle: list[tuple[int, DatabaseConnection]], most: int = 0) -> None:
    while len(idle) > most and (connection := _taken(idle)) is not None:
        connection.close()


def _close_everywhere() -> None:
    for connections in [*_everywhere]:
        connections.close()


# A child must not use them, and SQLite in it would assume that it has the locks of its parent.
if hasattr(os, "register_at_fork"):  # pragma: no branch  (there is none on Windows)
    os.register_at_fork(before=_close_everywhere)


Mode = Literal["read", "write", "create"]  # `create` writes, too

BUSY_SECONDS = 5
LOCKED = "another user has locked it"
MISSING = "it does not exist; the first write of a client creates it"
_HASH = re.compile("[0-9A-Fa-f]{64}")


def machine_time() -> datetime:
    """The time by the clock of this machine."""
    return datetime.now(UTC)


def seconds_left() -> float:
    """Seconds to wait until another user unlocks the database."""
    return max(0.0, min(BUSY_SECONDS, WAIT_UNTIL.get() - monotonic()))


class LedgerDatabase(ABC):
    """A database with a ledger in it.

    A use takes the connection that is kept open for clients, or opens one of its own.
    """

    def __init__(self, shown: str, now: Callable[[], datetime] | None) -> None:
        self._shown = shown
        self._now = machine_time if now is None else now
        self._connections = IdleConnections()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._shown}>"

    @abstractmethod
    def _exists(self) -> bool:
        """Check if there is anything."""

    @abstractmethod
    def _connect(self, mode: Mode) -> DatabaseConnection:
        """Open a connection; what may be created need not exist."""

    @abstractmethod
    def _check_and_begin(self, connection: DatabaseConnection, mode: Mode) -> datetime | None:
        """Check that it is a ledger, or create it, and begin a transaction to write.

        What is written carries a ledger of an older format forward. Returns the time by the clock
        of the database, if it has one of its own.
        """

    @abstractmethod
    def _reason(self, error: Exception) -> str | None:
        """The reason in an error of the database, which may be `LOCKED`; None for another error."""

    @abstractmethod
    def __gate__(self) -> "GateDatabase":
        """Where a `SharedGate` keeps its state."""

    def __kept_open__(self) -> AbstractContextManager[None]:
        """A block in which a connection stays open between uses."""
        return self._connections.kept()

    def __head__(self) -> str:
        """The hash of the last row, without a check of any row."""
        with self._transaction("read") as transaction:
            return transaction.last()[1]

    def _damage(self, transaction: Transaction) -> str | None:  # noqa: ARG002
        """The damage that a check of the database itself finds, in words; None if none."""
        return None

    def verify(self, *, head: str | None = None) -> str:
        """Check that no row was changed or removed, nor added between others.

        Each row contains a hash of itself and of the row before. That detects accidents, not
        attackers who can write to the database: they can compute all hashes again. If you keep the
        returned hash elsewhere, such as in a pull request, you detect that as well, and a ledger
        that was replaced by an older copy of itself. Of a file, SQLite's own integrity check is
        done as well.

        Args:
            head: A hash that was returned earlier, or that a report of a plan contains. It must be
                that of one of the rows. None for no such check.

        Returns:
            The hash of the last row, as 64 hexadecimal digits.

        Raises:
            LedgerError: The ledger cannot be read, or is damaged; the message has the number of the
                first bad row. Or it has no row with the hash `head`.
            ConfigurationError: `head` is not a hash.

        Examples:
            >>> from adclient.ledger import Entry, SQLiteLedger
            >>> ledger = SQLiteLedger("drafts.db")
            >>> entry = Entry(entry_id="1", operation="beta.pause_campaign", account_id="a")
            >>> _ = ledger.reserve(entry, lambda usage: None)
            >>> head = ledger.verify()
            >>> len(head), ledger.verify(head=head) == head
            (64, True)
        """
        check_type("head", head, str)
        if head is not None and not _HASH.fullmatch(head):
            raise ConfigurationError("head must be 64 hexadecimal digits", argument="head")
        head = FIRST_HASH if head is None else head.lower()
        with self._transaction("read") as transaction:
            problem = self._damage(transaction)
            if problem is not None:
                raise self._error(problem)
            number, last_hash, is_found = 0, FIRST_HASH, head == FIRST_HASH
            for number, (row, row_hash) in enumerate(transaction.rows(), start=1):
                last_hash = row.hash_after(last_hash)
                if row_hash != last_hash:  # which covers the number
                    raise self._error(f"row {number} was changed, or is missing")
                is_found = is_found or last_hash == head
            if not is_found:
                problem = f"none of its {number} rows has the hash {head[:12]}…"
                raise self._error(f"{problem}: rows were removed, or it is another ledger")
            return last_hash

    def create(self) -> None:
        """Create the ledger, unless it exists; without this, the first write of a client does.

        Raises:
            LedgerError: It cannot be created.

        Examples:
            >>> from adclient.ledger import SQLiteLedger
            >>> ledger = SQLiteLedger("drafts.db")
            >>> ledger.create()
            >>> ledger.exists(), ledger.entries()
            (True, <Items of 0 × item>)
        """
        with self._transaction("create"):
            pass

    def exists(self) -> bool:
        """Check if the ledger exists; the first write of a client creates it.

        Returns:
            Whether there is anything, which may still turn out to be something else than a ledger.

        Raises:
            LedgerError: It cannot be determined.

        Examples:
            >>> from adclient.ledger import SQLiteLedger
            >>> SQLiteLedger("misspelt.db").exists()
            False
        """
        with self._errors_explained():
            return self._exists()

    def close(self) -> None:
        """Close the connection that is kept open for clients; the next use opens another.

        To close the last client does that, too.

        Examples:
            >>> from adclient.ledger import SQLiteLedger
            >>> SQLiteLedger("drafts.db").close()
        """
        self._connections.close()

    @contextmanager
    def _transaction(self, mode: Mode) -> Generator[Transaction]:
        """Use a connection alone in this block; what writes is one transaction."""
        with self._errors_explained():
            connection, now = self._opened(mode)
            with self._connections.using(connection):
                # Otherwise the caller has left, and would never end the reservation.
                if monotonic() > WAIT_UNTIL.get():
                    raise self._error("the time of the call is over")
                yield Transaction(connection, now)
                if mode != "read":
                    connection.execute("COMMIT")

    def _opened(self, mode: Mode) -> tuple[DatabaseConnection, datetime]:
        """Begin a use, on a connection that was kept open or on a new one; also its time."""
        kept = self._connections.take()
        connection = kept or self._connect(mode)
        try:
            return connection, self._check_and_begin(connection, mode) or self._now()
        except BaseException as error:
            connection.close()
            # The server may have closed it long ago; nothing was done yet.
            is_lost = isinstance(error, Exception) and self._reason(error) not in (None, LOCKED)
            if kept is None or not is_lost:
                raise
            return self._opened(mode)

    @contextmanager
    def _errors_explained(self) -> Generator[None]:
        """Raise a `LedgerError` in place of an error of the database."""
        try:
            yield
        except Exception as error:
            reason = str(error) if isinstance(error, DatabaseError) else self._reason(error)
            if reason is None:
                raise
            explained = self._error(reason)
            try:
                raise explained
            finally:
                explained.__context__ = None  # a driver's error could expose secrets

    def _error(self, reason: str) -> LedgerError:
        return LedgerError(f"the ledger {self._shown}: {reason}")
