"""Ledgers: a record of all writes, so that no draft is ever lost."""

import os
import re
from typing import TYPE_CHECKING

from adclient.errors import LedgerError
from adclient.ledger.entry import (
    Check,
    DraftOutcome,
    Entry,
    Ledger,
    LedgerWarning,
    OutcomeState,
    State,
)

if TYPE_CHECKING:
    from adclient.ledger.postgres import PostgresLedger
    from adclient.ledger.sql import SQLLedger
    from adclient.ledger.sqlite import SQLiteLedger

__all__ = [
    "Check",
    "DraftOutcome",
    "Entry",
    "Ledger",
    "LedgerWarning",
    "OutcomeState",
    "PostgresLedger",
    "SQLiteLedger",
    "State",
    "open_ledger",
]

# A URL of something else, or a connection string of libpq. As the name of a file, it would put the
# writes where nobody looks for them, and its password into errors.
_NO_PATH = re.compile(r"\w[\w+.-]+://|(?:.*\s)?(?:host|hostaddr|dbname|password)\s*=")


def open_ledger(where: str | os.PathLike[str]) -> "SQLLedger":
    """Return the ledger in a file, or in the database of a `postgresql://` URL.

    Args:
        where: The path of the file, or the URL.

    Returns:
        A `SQLiteLedger` or a `PostgresLedger`. Nothing is opened or created before it is used.

    Raises:
        LedgerError: The URL is invalid, or is not one of PostgreSQL.
        ModuleNotFoundError: psycopg is missing; `pip install 'adclient[postgres]'`.

    Examples:
        >>> from adclient.ledger import open_ledger
        >>> open_ledger("/var/lib/ads/drafts.db")
        <SQLiteLedger /var/lib/ads/drafts.db>
    """
    if isinstance(where, str) and where.startswith(("postgresql://", "postgres://")):
        from adclient.ledger.postgres import PostgresLedger

        return PostgresLedger(where)
    if isinstance(where, str) and _NO_PATH.match(where):
        raise LedgerError("a ledger is a file, or a URL that begins with postgresql://")
    from adclient.ledger.sqlite import SQLiteLedger

    return SQLiteLedger(where)


# Hidden from type checkers, which would accept any attribute otherwise. Loaded when first used: a
# client needs no database of its own to record writes in another ledger.
if not TYPE_CHECKING:  # pragma: no branch

    def __getattr__(name):
        """Import a class of another module."""
        from importlib import import_module

        modules = {"PostgresLedger": "postgres", "SQLiteLedger": "sqlite"}
        if name not in modules:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{modules[name]}"), name)
