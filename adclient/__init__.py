"""A typed client of the ad management service, for sync code, async code and notebooks."""

from typing import TYPE_CHECKING

from adclient._version import __version__

if TYPE_CHECKING:
    from adclient._agents.tools import call_tool, tools
    from adclient._async.client import AsyncAdClient
    from adclient._async.iterators import AsyncItemIterator, AsyncPageIterator
    from adclient._async.listing import AsyncListing
    from adclient._async.page import AsyncPage
    from adclient._core.request import Request
    from adclient._sync.client import AdClient
    from adclient._sync.iterators import ItemIterator, PageIterator
    from adclient._sync.page import Page
    from adclient._tables.items import Items
    from adclient.conventions import Conventions
    from adclient.errors import (
        AdClientError,
        APIError,
        BadRequest,
        CallTimeout,
        ConfigurationError,
        Conflict,
        ConnectionFailed,
        ConnectionLost,
        InvalidRequest,
        LedgerError,
        NotFound,
        OutcomeUnknown,
        PaginationError,
        PermissionDenied,
        PolicyRefused,
        RateLimited,
        ServerError,
        TransportError,
        Unauthenticated,
        UnexpectedResponse,
        Unprocessable,
    )
    from adclient.hooks import DraftEvent, Hooks, RequestEvent, ResponseEvent, RetryEvent
    from adclient.ledger.entry import Entry, Ledger, LedgerWarning
    from adclient.ledger.postgres import PostgresLedger
    from adclient.ledger.sqlite import SQLiteLedger
    from adclient.models import (
        ENABLED,
        HUMAN_TWO_STEP_APPROVE,
        JSON,
        LAST_30_DAYS,
        PENDING_APPROVAL,
        Ad,
        BusinessProfile,
        Campaign,
        CreativeFatigue,
        Diff,
        Draft,
        Item,
        Objective,
        ResponseInfo,
        TargetingOption,
        WastedSpend,
    )
    from adclient.options import RetryPolicy
    from adclient.plan import Plan, PlanReport
    from adclient.policy import Policy, PolicyWarning

__all__ = [
    "ENABLED",
    "HUMAN_TWO_STEP_APPROVE",
    "JSON",
    "LAST_30_DAYS",
    "PENDING_APPROVAL",
    "APIError",
    "Ad",
    "AdClient",
    "AdClientError",
    "AsyncAdClient",
    "AsyncItemIterator",
    "AsyncListing",
    "AsyncPage",
    "AsyncPageIterator",
    "BadRequest",
    "BusinessProfile",
    "CallTimeout",
    "Campaign",
    "ConfigurationError",
    "Conflict",
    "ConnectionFailed",
    "ConnectionLost",
    "Conventions",
    "CreativeFatigue",
    "Diff",
    "Draft",
    "DraftEvent",
    "Entry",
    "Hooks",
    "InvalidRequest",
    "Item",
    "ItemIterator",
    "Items",
    "Ledger",
    "LedgerError",
    "LedgerWarning",
    "NotFound",
    "Objective",
    "OutcomeUnknown",
    "Page",
    "PageIterator",
    "PaginationError",
    "PermissionDenied",
    "Plan",
    "PlanReport",
    "Policy",
    "PolicyRefused",
    "PolicyWarning",
    "PostgresLedger",
    "RateLimited",
    "Request",
    "RequestEvent",
    "ResponseEvent",
    "ResponseInfo",
    "RetryEvent",
    "RetryPolicy",
    "SQLiteLedger",
    "ServerError",
    "TargetingOption",
    "TransportError",
    "Unauthenticated",
    "UnexpectedResponse",
    "Unprocessable",
    "WastedSpend",
    "__version__",
    "call_tool",
    "tools",
]

# The module of each name, imported when the name is first used: the sync client does not load the
# async one, and an error class loads neither.
_MODULES = {
    "AsyncAdClient": "_async.client",
    "AsyncListing": "_async.listing",
    "AsyncItemIterator": "_async.iterators",
    "AsyncPage": "_async.page",
    "AsyncPageIterator": "_async.iterators",
    "Request": "_core.request",
    "AdClient": "_sync.client",
    "ItemIterator": "_sync.iterators",
    "Page": "_sync.page",
    "PageIterator": "_sync.iterators",
    "Conventions": "conventions",
    "AdClientError": "errors",
    "APIError": "errors",
    "BadRequest": "errors",
    "CallTimeout": "errors",
    "ConfigurationError": "errors",
    "Conflict": "errors",
    "ConnectionFailed": "errors",
    "ConnectionLost": "errors",
    "InvalidRequest": "errors",
    "LedgerError": "errors",
    "NotFound": "errors",
    "OutcomeUnknown": "errors",
    "PaginationError": "errors",
    "PermissionDenied": "errors",
    "PolicyRefused": "errors",
    "RateLimited": "errors",
    "ServerError": "errors",
    "TransportError": "errors",
    "Unauthenticated": "errors",
    "UnexpectedResponse": "errors",
    "Unprocessable": "errors",
    "Items": "_tables.items",
    "call_tool": "_agents.tools",
    "tools": "_agents.tools",
    "DraftEvent": "hooks",
    "Hooks": "hooks",
    "RequestEvent": "hooks",
    "ResponseEvent": "hooks",
    "RetryEvent": "hooks",
    "ENABLED": "models",
    "HUMAN_TWO_STEP_APPROVE": "models",
    "JSON": "models",
    "LAST_30_DAYS": "models",
    "PENDING_APPROVAL": "models",
    "Ad": "models",
    "BusinessProfile": "models",
    "Campaign": "models",
    "CreativeFatigue": "models",
    "Diff": "models",
    "Draft": "models",
    "Item": "models",
    "Objective": "models",
    "ResponseInfo": "models",
    "TargetingOption": "models",
    "WastedSpend": "models",
    "RetryPolicy": "options",
    "Entry": "ledger.entry",
    "Ledger": "ledger.entry",
    "LedgerWarning": "ledger.entry",
    "PostgresLedger": "ledger.postgres",
    "SQLiteLedger": "ledger.sqlite",
    "Plan": "plan",
    "PlanReport": "plan",
    "Policy": "policy",
    "PolicyWarning": "policy",
}

_PUBLIC_MODULES = frozenset(
    {"conventions", "errors", "hooks", "ledger", "models", "options", "plan", "policy"}
)

# Hidden from type checkers, which would accept any attribute otherwise.
if not TYPE_CHECKING:  # pragma: no branch

    def __getattr__(name):
        """Import a public name, or a public module."""
        from importlib import import_module

        if name in _PUBLIC_MODULES:
            return import_module(f"{__name__}.{name}")
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        return value

    def __dir__():
        """The public names, and `testing` once it is imported."""
        return [*__all__, *(globals().keys() & {"testing"})]
