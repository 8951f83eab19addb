"""The state of a shared gate in a file beside that of a ledger.

It is not in the ledger's own file, which is slower to write and must not be lost.
"""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from adclient.errors import LedgerError
from adclient.gate.database import READ, TABLE, WRITE, Decide, GateDatabase, State
from adclient.ledger.idle import IdleConnections
from adclient.ledger.sqlite import SMALLEST_PAGE, Connection

_APPLICATION_ID = 0x41644774  # "AdGt"
_FIND = "SELECT application_id, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id"
_CREATE = ("BEGIN IMMEDIATE", TABLE, f"PRAGMA application_id = {_APPLICATION_ID}", "COMMIT")
# SQLite in a child that is forked during a transaction assumes that it has the parent's locks.
_IN_USE = threading.RLock()
if hasattr(os, "register_at_fork"):  # pragma: no branch  (there is none on Windows)
    os.register_at_fork(
        before=_IN_USE.acquire, after_in_parent=_IN_USE.release, after_in_child=_IN_USE.release
    )


class SQLiteGate(GateDatabase):
    """A file that is cheap to write, as it need not survive a power failure.

    It may be deleted between two uses, though a connection stays open.
    """

    def __init__(
        self,
        ledger: Path,
        reason_of: Callable[[Exception], str | None],
        now: Callable[[], datetime],
    ) -> None:
        # All symbolic links to a ledger lead to the same gate.
        self._path = Path(f"{os.path.realpath(ledger)}-gate")
        super().__init__(str(self._path), reason_of)
        self._now = now
        # Windows deletes no file that is open.
        self._connections = IdleConnections[Connection](is_kept=os.name != "nt")

    def _use(self, key: str, decide: Decide, is_read: bool) -> float | None:
        with _IN_USE, self._connections.using(connection := self._kept() or self._open()):
            if not is_read:
                connection.execute("BEGIN IMMEDIATE")
            values = {"key": key, "now": self._now().timestamp()}
            answer, state = decide(State(*connection.execute(READ, values).fetchone()))
            if state is not None:
                connection.execute(WRITE, {"key": key, **state._asdict()})
            if not is_read:
                connection.execute("COMMIT")
            return answer

    def _kept(self) -> Connection | None:
        """The connection of the last use, if it still leads to the file."""
        if connection := self._connections.take():
            with suppress(OSError):
                if os.path.samestat(self._path.stat(), self._file):
                    return connection
            connection.close()
        return None

    def _open(self) -> Connection:
        """Open the file, and create it if it is missing."""
        # To close a file that SQLite uses would drop its locks, so this opens only a new one.
        with suppress(FileExistsError):
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        # SQLite takes a file shorter than a page for an empty one, and overwrites it.
        if 0 < self._path.stat().st_size < SMALLEST_PAGE:
            raise LedgerError("it is not an SQLite database")
        self._file = self._path.stat()
        connection = Connection(f"{self._path.as_uri()}?mode=rw")
        try:
            application_id, tables = connection.execute(_FIND).fetchone()
            if application_id != _APPLICATION_ID and (application_id or tables):
                raise LedgerError("it is an SQLite database, but not that of a gate")
            connection.execute("PRAGMA synchronous = OFF")
            for statement in () if application_id else _CREATE:
                connection.execute(statement)
        except BaseException:
            connection.close()
            raise
        return connection
