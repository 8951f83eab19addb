"""Ledgers: the record of all writes, kept so that no draft is ever lost."""

from adclient.ledger.entry import Check, Entry, Ledger, LedgerWarning, State

__all__ = ["Check", "Entry", "Ledger", "LedgerWarning", "State"]
