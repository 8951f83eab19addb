"""A typed client of the ad management service, for sync code, async code and notebooks."""

from typing import TYPE_CHECKING

from adclient._version import __version__ as __version__

if TYPE_CHECKING:
    from adclient._async.accounts import (
        AsyncAccountIterator as AsyncAccountIterator,
        AsyncAccountRead as AsyncAccountRead,
    )
    from adclient._async.client import AsyncAdClient as AsyncAdClient
    from adclient._async.iterators import (
        AsyncItemIterator as AsyncItemIterator,
        AsyncPageIterator as AsyncPageIterator,
    )
    from adclient._async.page import AsyncListing as AsyncListing, AsyncPage as AsyncPage
    from adclient._core.auth import Token as Token
    from adclient._core.converters import Lenient as Lenient
    from adclient._core.request import Request as Request
    from adclient._sync.accounts import (
        AccountIterator as AccountIterator,
        AccountRead as AccountRead,
    )
    from adclient._sync.client import AdClient as AdClient
    from adclient._sync.iterators import ItemIterator as ItemIterator, PageIterator as PageIterator
    from adclient._sync.page import Page as Page
    from adclient._tables.items import Items as Items
    from adclient.conventions import Conventions as Conventions
    from adclient.errors import (
        AdClientError as AdClientError,
        APIError as APIError,
        BadRequest as BadRequest,
        CallTimeout as CallTimeout,
        ConfigurationError as ConfigurationError,
        Conflict as Conflict,
        ConnectionFailed as ConnectionFailed,
        ConnectionLost as ConnectionLost,
        InvalidRequest as InvalidRequest,
        LedgerError as LedgerError,
        NotFound as NotFound,
        OutcomeUnknown as OutcomeUnknown,
        PaginationError as PaginationError,
        PermissionDenied as PermissionDenied,
        PolicyRefused as PolicyRefused,
        RateLimited as RateLimited,
        ServerError as ServerError,
        TransportError as TransportError,
        Unauthenticated as Unauthenticated,
        UnexpectedResponse as UnexpectedResponse,
        Unprocessable as Unprocessable,
    )
    from adclient.hooks import (
        DraftEvent as DraftEvent,
        Hooks as Hooks,
        RequestEvent as RequestEvent,
        ResponseEvent as ResponseEvent,
        RetryEvent as RetryEvent,
    )
    from adclient.models import (
        ENABLED as ENABLED,
        HUMAN_TWO_STEP_APPROVE as HUMAN_TWO_STEP_APPROVE,
        JSON as JSON,
        LAST_30_DAYS as LAST_30_DAYS,
        PENDING_APPROVAL as PENDING_APPROVAL,
        Ad as Ad,
        BusinessProfile as BusinessProfile,
        Campaign as Campaign,
        CreativeFatigue as CreativeFatigue,
        Diff as Diff,
        Draft as Draft,
        Item as Item,
        Objective as Objective,
        ResponseInfo as ResponseInfo,
        TargetingOption as TargetingOption,
        WastedSpend as WastedSpend,
    )
    from adclient.options import RetryPolicy as RetryPolicy


# Hidden from type checkers, which would accept any attribute otherwise.
if not TYPE_CHECKING:  # pragma: no branch
    # The module of each name, imported when the name is first used: the sync client does not load
    # the async one, and an error class loads neither.
    _NAMES = {
        "_async.accounts": "AsyncAccountIterator AsyncAccountRead",
        "_async.client": "AsyncAdClient",
        "_async.iterators": "AsyncItemIterator AsyncPageIterator",
        "_async.page": "AsyncListing AsyncPage",
        "_core.auth": "Token",
        "_core.converters": "Lenient",
        "_core.request": "Request",
        "_sync.accounts": "AccountIterator AccountRead",
        "_sync.client": "AdClient",
        "_sync.iterators": "ItemIterator PageIterator",
        "_sync.page": "Page",
        "_tables.items": "Items",
        "conventions": "Conventions",
        "errors": """
            APIError AdClientError BadRequest CallTimeout ConfigurationError Conflict
            ConnectionFailed ConnectionLost InvalidRequest LedgerError NotFound OutcomeUnknown
            PaginationError PermissionDenied PolicyRefused RateLimited ServerError
            TransportError Unauthenticated UnexpectedResponse Unprocessable
        """,
        "hooks": "DraftEvent Hooks RequestEvent ResponseEvent RetryEvent",
        "models": """
            ENABLED HUMAN_TWO_STEP_APPROVE JSON LAST_30_DAYS PENDING_APPROVAL Ad
            BusinessProfile Campaign CreativeFatigue Diff Draft Item Objective ResponseInfo
            TargetingOption WastedSpend
        """,
        "options": "RetryPolicy",
    }
    _MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
    _PUBLIC_MODULES = "agents conventions errors gate hooks ledger models options plan policy"

    __all__ = [*_MODULES, "__version__"]

    def __getattr__(name):
        """Import a public name, or a public module."""
        from importlib import import_module

        if name in _PUBLIC_MODULES.split():
            return import_module(f"{__name__}.{name}")
        if name not in _MODULES:
            if name.islower():  # such as a module that is imported
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
            from adclient._advice import no_name

            raise no_name(name)
        globals()[name] = value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        return value

    def __dir__():
        """The public names, and `testing` once it is imported."""
        return [*__all__, *(globals().keys() & {"testing"})]
