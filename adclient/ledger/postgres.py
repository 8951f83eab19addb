"""A ledger in a PostgreSQL database."""

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from adclient._show.signatures import public_in
from adclient._show.tracebacks import needs
from adclient._values.redact import Redactor, one_line
from adclient.errors import LedgerError
from adclient.ledger.database import BUSY_SECONDS, LOCKED, MISSING, Mode, machine_time, seconds_left
from adclient.ledger.sql import SQLLedger
from adclient.ledger.transaction import SCHEMA, DatabaseConnection, DatabaseError

if TYPE_CHECKING:
    from adclient.gate.databases import GateDatabase
    from adclient.ledger.postgres_connection import TimedConnection

_FORMAT = "adclient ledger, format 2"
_EARLIER_FORMATS = ("adclient ledger, format 1",)
_SET_FORMAT = f"COMMENT ON TABLE adclient_ledger IS '{_FORMAT}'"
# One round trip. With READ COMMITTED, the usage is read after the wait for the lock, which all
# ledgers of a database share. A client that vanishes in a transaction must not keep the lock.
_BEGIN_WRITING = f"""
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL lock_timeout = '{{milliseconds}}ms';
SET LOCAL idle_in_transaction_session_timeout = '{2 * BUSY_SECONDS}s';
SELECT pg_advisory_xact_lock({0x41644C67});
"""
_APPEND_ONLY = (
    """
    CREATE OR REPLACE FUNCTION adclient_ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''a ledger is append-only''; END'
    """,
    """
    CREATE OR REPLACE TRIGGER adclient_ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE
    ON adclient_ledger EXECUTE FUNCTION adclient_ledger_refuse()
    """,
    _SET_FORMAT,
)
_DEFAULTS = {
    "application_name": "adclient",
    # For a network that drops packets: without keepalives, a call could wait for hours.
    "connect_timeout": str(BUSY_SECONDS),
    "tcp_user_timeout": str(2000 * BUSY_SECONDS),
    "keepalives_idle": str(BUSY_SECONDS),
    "keepalives_interval": "1",
}
_FIND = """
SELECT to_regclass('adclient_ledger') IS NOT NULL,
    obj_description(to_regclass('adclient_ledger'), 'pg_class'),
    current_setting('server_encoding'), clock_timestamp() AT TIME ZONE 'UTC'
"""


@public_in("adclient.ledger")
class PostgresLedger(SQLLedger):
    """A ledger in a PostgreSQL database, which clients on many machines can share.

    The first write creates its table, `adclient_ledger`. Rows are only added, and each contains a
    hash of the one before, which detects accidents (see `verify`). A ledger cannot approve a draft.
    The encoding of the database must be UTF8 or SQL_ASCII.

    Args:
        url: `postgresql://user:password@host:5432/database`, perhaps with parameters of libpq. What
            it leaves out, libpq takes from its environment variables and the file `.pgpass`.
        now: A function that returns the current time, for tests; None for the clock of the server.

    Raises:
        LedgerError: The URL is invalid.
        ModuleNotFoundError: psycopg is missing; `pip install 'adclient[postgres]'`.

    Examples:
        >>> from adclient.ledger import PostgresLedger
        >>> ledger = PostgresLedger("postgresql://ads@db.example.com/ads")
        >>> ledger  # nothing is opened before it is used
        <PostgresLedger postgresql://db.example.com/ads>
    """

    def __init__(self, url: str, *, now: Callable[[], datetime] | None = None) -> None:
        with needs("postgres"):
            import psycopg.conninfo
        try:
            parsed = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.Error:
            parsed = {}
        given = {name: str(value) for name, value in parsed.items()}
        settings = _DEFAULTS | given | {"client_encoding": "UTF8"}
        self._conninfo = psycopg.conninfo.make_conninfo("", **settings)
        self._redactor = Redactor([given.get("password", "")])
        host, port, database = (given.get(name, "") for name in ("host", "port", "dbname"))
        # A password with an unencoded special character ends up in one of them.
        if not given or "@" in f"{host}{port}{database}":
            raise LedgerError(
                "the URL of a ledger must be like postgresql://user:password@host:5432/database, "
                "with special characters of the password percent-encoded"
            )
        shown = f"postgresql://{host}{port and ':' + port}/{database}"
        super().__init__(self._redactor.redact(shown), now)

    def __gate__(self) -> "GateDatabase":
        from adclient.gate.databases import PostgresGate

        return PostgresGate(self._shown, self._reason, self._connect)

    def _exists(self) -> bool:
        with closing(self._connect("read")) as connection:
            return bool(connection.execute(_FIND).fetchone()[0])

    def _connect(self, mode: Mode = "read") -> "TimedConnection":  # noqa: ARG002
        from adclient.ledger.postgres_connection import TimedConnection

        # Prepared statements fail behind some poolers.
        return TimedConnection.connect(self._conninfo, autocommit=True, prepare_threshold=None)

    def _check_and_begin(self, connection: DatabaseConnection, mode: Mode) -> datetime | None:
        if mode != "read":
            # 0 would disable lock_timeout.
            milliseconds = max(1, round(1000 * seconds_left()))
            connection.execute(_BEGIN_WRITING.format(milliseconds=milliseconds))
        exists, comment, encoding, now = connection.execute(_FIND).fetchone()
        if encoding not in ("UTF8", "SQL_ASCII"):  # others cannot store every character
            raise DatabaseError(f"its database has the encoding {encoding} instead of UTF8")
        if exists and comment not in (_FORMAT, *_EARLIER_FORMATS):
            raise DatabaseError(f"its table has the comment {comment!r} instead of {_FORMAT!r}")
        if not exists and mode != "create":
            raise DatabaseError(MISSING)
        if not exists:
            for statement in SCHEMA + _APPEND_ONLY:
                connection.execute(statement)
        elif mode != "read" and comment != _FORMAT:
            connection.execute(_SET_FORMAT)
        return now.replace(tzinfo=UTC) if self._now is machine_time else None

    def _reason(self, error: Exception) -> str | None:
        import psycopg

        if isinstance(error, psycopg.errors.LockNotAvailable):
            return LOCKED
        if isinstance(error, psycopg.Error):
            return one_line(self._redactor.redact(str(error)))
        return None
