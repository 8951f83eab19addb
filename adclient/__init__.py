"""A typed client of the ad management service, for sync code, async code and notebooks."""

from adclient._async.client import AsyncAdClient
from adclient._async.listing import AsyncListing
from adclient._async.paging import AsyncItemIterator, AsyncPage, AsyncPageIterator
from adclient._core.request import Request
from adclient._sync.client import AdClient
from adclient._sync.paging import ItemIterator, Page, PageIterator
from adclient._version import __version__
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
    NotFound,
    OutcomeUnknown,
    PaginationError,
    PermissionDenied,
    RateLimited,
    ServerError,
    TransportError,
    Unauthenticated,
    UnexpectedReply,
    Unprocessable,
)
from adclient.frames import Items
from adclient.hooks import DraftEvent, Hooks, RequestEvent, ResponseEvent, RetryEvent
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
    Response,
    TargetingOption,
    WastedSpend,
)
from adclient.options import RetryPolicy

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
    "Hooks",
    "InvalidRequest",
    "Item",
    "ItemIterator",
    "Items",
    "NotFound",
    "Objective",
    "OutcomeUnknown",
    "Page",
    "PageIterator",
    "PaginationError",
    "PermissionDenied",
    "RateLimited",
    "Request",
    "RequestEvent",
    "Response",
    "ResponseEvent",
    "RetryEvent",
    "RetryPolicy",
    "ServerError",
    "TargetingOption",
    "TransportError",
    "Unauthenticated",
    "UnexpectedReply",
    "Unprocessable",
    "WastedSpend",
    "__version__",
]


def __dir__() -> list[str]:
    """The public names, and of the modules only the one that users import."""
    return [*__all__, *(globals().keys() & {"testing"})]
