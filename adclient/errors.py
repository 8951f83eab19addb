"""Every error that the library raises.

```text
AdClientError
├── ConfigurationError        the client cannot be built or used so       (also ValueError)
├── InvalidRequest            refused before anything was sent            (also ValueError)
├── TransportError            no answer
│   ├── ConnectionFailed      never reached the service: safe to repeat   (also ConnectionError)
│   ├── ConnectionLost        broke after the request had left            (also ConnectionError)
│   └── CallTimeout           the time for the call is over               (also TimeoutError)
├── APIError                  the service answered with an error status
│   ├── BadRequest 400 · Unauthenticated 401 · PermissionDenied 403 · NotFound 404
│   ├── Conflict 409 · Unprocessable 422 · RateLimited 429
│   └── ServerError 5xx
├── UnexpectedResponse           a success status whose body is not the documented shape
├── PaginationError           a listing that cannot go on
└── OutcomeUnknown            a write that the service may have taken
    └── OutcomeUnknown…          the same, and one of the classes above as well
```

`except OutcomeUnknown` catches every case in which a draft may have been staged without our
knowing. Each such error is also a `ConnectionLost`, `CallTimeout`, `ServerError`, `APIError` or
`UnexpectedResponse` where one of these describes what happened last.

Errors hold plain data only. They pickle and copy with equal text and attributes.
"""

from typing import TypedDict, Unpack

from adclient import _notebook
from adclient._json import JSON


class ErrorDetails(TypedDict, total=False):
    """What an error may know about its call; `AdClientError` documents each field."""

    operation: str
    method: str
    path: str
    status: int
    code: str | None
    message: str
    details: JSON
    request_id: str | None
    attempts: int
    elapsed: float
    retry_after: float | None
    body: str
    argument: str
    draft_id: str | None
    idempotency_key: str | None
    cursor: JSON


class AdClientError(Exception, _notebook.HTMLRepr):
    """The base of all errors of this library.

    Attributes:
        operation: The method that was called, such as `alpha.update_campaign_budget`.
        method: The HTTP method.
        path: The path of the endpoint, without the query.
        status: The HTTP status, if the service answered.
        code: The service's own error code, if its body held one.
        message: What the service said, or what happened if it said nothing.
        details: Further details from the service's error body, as JSON.
        request_id: The service's id of the request, for its support.
        attempts: How many requests were sent.
        elapsed: Seconds from the start of the call to the error.
        retry_after: Seconds after which the service asks to be called again.
        body: The first kilobytes of the answer's body, as text.
        argument: The name of the argument that was refused.
        draft_id: The id of a draft that could still be read from an answer that is not valid.
        idempotency_key: The key that went with every attempt, if the client sends one.
        cursor: Where a listing goes on: pass it as `cursor=`.
        outcome_unknown: True if the service may have staged a draft that we do not know of.

    Example:
        >>> from adclient import AdClientError
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> try:
        ...     client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_0")
        ... except AdClientError as error:
        ...     print(error.operation, error.status, error.code)
        beta.pause_campaign 404 campaign_not_found
    """

    operation: str | None = None
    method: str | None = None
    path: str | None = None
    status: int | None = None
    code: str | None = None
    message: str = ""
    details: JSON = None
    request_id: str | None = None
    attempts: int = 0
    elapsed: float = 0.0
    retry_after: float | None = None
    body: str | None = None
    argument: str | None = None
    draft_id: str | None = None
    idempotency_key: str | None = None
    cursor: JSON = None
    outcome_unknown: bool = False

    def __init__(self, text: str, **facts: Unpack[ErrorDetails]) -> None:
        super().__init__(text)
        self.message = text
        self.__dict__.update(facts)

    def __str__(self) -> str:
        return str(self.args[0])

    def _repr_html_(self) -> str:
        known = [(name, self.__dict__.get(name)) for name in ErrorDetails.__annotations__]
        facts = [(name, value) for name, value in known if value is not None]
        return _notebook.card(type(self).__name__, facts, notes=[str(self)])


class ConfigurationError(AdClientError, ValueError):
    """The client cannot be built or used in this way; the text names the argument."""


class InvalidRequest(AdClientError, ValueError):
    """An argument was refused, and nothing was sent; `argument` names it."""


class TransportError(AdClientError):
    """No answer came from the service."""


class ConnectionFailed(TransportError, ConnectionError):
    """The service was never reached, so the call is safe to repeat."""


class ConnectionLost(TransportError, ConnectionError):
    """The connection broke after the request had left."""


class CallTimeout(TransportError, TimeoutError):
    """The time for the call, its retries included, is over."""


class APIError(AdClientError):
    """The service answered with a status that is not a success."""


class BadRequest(APIError):
    """400: the service could not read the request."""


class Unauthenticated(APIError):
    """401: the credentials are missing or not valid."""


class PermissionDenied(APIError):
    """403: the credentials do not allow this."""


class NotFound(APIError):
    """404: the account or entity does not exist, or the path is wrong."""


class Conflict(APIError):
    """409: the state of the entity does not allow this."""


class Unprocessable(APIError):
    """422: the service refused a parameter."""


class RateLimited(APIError):
    """429: too many requests; `retry_after` says when to come back, if the service did."""


class ServerError(APIError):
    """5xx: the service failed."""


class UnexpectedResponse(AdClientError):
    """A success status whose body is not the documented shape; `body` keeps what came."""


class PaginationError(AdClientError):
    """A listing cannot go on: its continuation repeats or leads elsewhere; see `cursor`."""


class OutcomeUnknown(AdClientError):
    """A write may have staged a draft without our knowing: look in the approval dashboard.

    Sending the call again may stage the change a second time, so the library does not.
    """

    outcome_unknown = True


class OutcomeUnknownConnectionLost(OutcomeUnknown, ConnectionLost):
    """The connection broke after a write had left."""


class OutcomeUnknownTimeout(OutcomeUnknown, CallTimeout):
    """The time was over after a write had left."""


class OutcomeUnknownServerError(OutcomeUnknown, ServerError):
    """The service failed while it may have been staging a draft."""


class OutcomeUnknownAPIError(OutcomeUnknown, APIError):
    """The service answered a write with a status that does not say whether it was taken."""


class OutcomeUnknownResponse(OutcomeUnknown, UnexpectedResponse):
    """A write succeeded, and its answer cannot be read; `draft_id` is set if it was found."""


def for_status(status: int) -> type[APIError]:
    """The class for an error status."""
    if 500 <= status <= 599:
        return ServerError
    return _BY_STATUS.get(status, APIError)


def with_unknown_outcome(cls: type[AdClientError]) -> type[OutcomeUnknown]:
    """The class that says the same as `cls` and that the outcome is unknown."""
    for family, variant in _WITH_UNKNOWN_OUTCOME.items():
        if issubclass(cls, family):
            return variant
    return OutcomeUnknown


_BY_STATUS: dict[int, type[APIError]] = {
    400: BadRequest,
    401: Unauthenticated,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    422: Unprocessable,
    429: RateLimited,
}

_WITH_UNKNOWN_OUTCOME: dict[type[AdClientError], type[OutcomeUnknown]] = {
    ConnectionLost: OutcomeUnknownConnectionLost,
    CallTimeout: OutcomeUnknownTimeout,
    ServerError: OutcomeUnknownServerError,
    APIError: OutcomeUnknownAPIError,
    UnexpectedResponse: OutcomeUnknownResponse,
}
