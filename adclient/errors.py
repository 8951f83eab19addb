"""Every error that the library raises.

```text
AdClientError
├── ConfigurationError        a setting is invalid, or the client is closed (also ValueError)
├── InvalidRequest            refused before anything was sent              (also ValueError)
│   └── PolicyRefused         the policy of the client does not allow it
├── LedgerError               the ledger or shared gate cannot record the call: nothing was sent
├── TransportError            no complete response
│   ├── ConnectionFailed      nothing was sent: safe to repeat              (also ConnectionError)
│   ├── ConnectionLost        broke after the request was sent              (also ConnectionError)
│   └── CallTimeout           the call, or its last attempt, took too long  (also TimeoutError)
├── APIError                  the service returned an error status
│   ├── BadRequest 400 · Unauthenticated 401 · PermissionDenied 403 · NotFound 404
│   ├── Conflict 409 · Unprocessable 422 · RateLimited 429
│   └── ServerError 5xx
├── UnexpectedResponse        a success status whose body is not the documented shape
├── PaginationError           a listing that cannot continue
└── OutcomeUnknown            a write that the service may have accepted
    └── OutcomeUnknown…       the same, and also one of the classes above
```

`except OutcomeUnknown` catches every case in which a draft may have been staged although the call
failed. Such an error is also a `ConnectionLost`, `CallTimeout`, `ServerError`, `APIError` or
`UnexpectedResponse` where one of these describes the last failure.

Errors contain plain data only. They pickle and copy with equal messages and attributes.
"""

from collections.abc import Mapping
from typing import TypedDict, Unpack

from adclient._show.records import Card, Shown
from adclient._values.containers import Headers
from adclient._values.json_values import JSON
from adclient._values.redact import without_secrets


class ErrorDetails(TypedDict, total=False):
    """The attributes of an error, which `AdClientError` documents."""

    operation: str
    method: str
    path: str
    url: str
    status: int
    headers: Mapping[str, str]
    code: str | None
    message: str
    details: JSON
    request_id: str | None
    attempts: int
    elapsed: float
    retry_after: float | None
    body: str
    argument: str
    rule: str
    draft_id: str | None
    idempotency_key: str | None
    cursor: JSON


class AdClientError(Exception, Shown):
    """The base of all errors of this library.

    An attribute is None where it does not apply.

    Attributes:
        operation: The method that was called, such as `alpha.update_campaign_budget`.
        method: The HTTP method.
        path: The path of the endpoint, such as `/v1/alpha-ads/update-alpha-campaign-budget`.
        url: The URL of the request, without the query.
        status: The HTTP status, if there was a response.
        headers: The headers of the response, by names in any case, without cookies; empty if there
            was no response.
        code: The error code in the response body, if there is one.
        message: The message in the response body; without one, that of the error itself.
        details: Further details in the response body, as JSON values.
        request_id: The service's id of the request; its support may ask for it.
        attempts: How many requests were sent.
        elapsed: Seconds from the start of the call to the error.
        retry_after: Seconds to wait before the next call, from a header of the response, or from
            a `SharedGate`.
        body: The first 2048 bytes of the response body, as text.
        argument: The name of the argument that was refused.
        rule: The rule of the policy that refused the call.
        draft_id: The id of a draft, if the response contains one.
        idempotency_key: The key that was sent with every attempt, if the client sends one.
        cursor: Where a listing continues: pass it as `cursor=` to the method.
        outcome_unknown: True if the service may have staged a draft although the call failed.

    Examples:
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
    url: str | None = None
    status: int | None = None
    headers: Mapping[str, str] = Headers()
    code: str | None = None
    message: str = ""
    details: JSON = None
    request_id: str | None = None
    attempts: int = 0
    elapsed: float = 0.0
    retry_after: float | None = None
    body: str | None = None
    argument: str | None = None
    rule: str | None = None
    draft_id: str | None = None
    idempotency_key: str | None = None
    cursor: JSON = None
    outcome_unknown: bool = False
    __advice__: str | None = None  # what to do about it, at the end of the text

    def __init__(self, text: str, **details: Unpack[ErrorDetails]) -> None:
        super().__init__(text)
        details.setdefault("message", text)
        self.__dict__.update(details)

    def _show(self) -> Card:
        names = [name for name in ErrorDetails.__annotations__ if name != "headers"]
        values = self.__dict__ | {"cursor": without_secrets(self.cursor)}
        attributes = ((name, values.get(name)) for name in names)
        rows = [each for each in attributes if each[1] not in (None, str(self))]
        return Card(str(self), rows, state=type(self).__name__)


class ConfigurationError(AdClientError, ValueError):
    """A setting is invalid, or the client is closed; `argument` names the setting."""


class InvalidRequest(AdClientError, ValueError):
    """An argument was refused and nothing was sent; `argument` names it."""


class PolicyRefused(InvalidRequest):
    """The policy does not allow the call, and nothing was sent; `rule` names the rule."""


class LedgerError(AdClientError):
    """The ledger or the shared gate cannot be used; a request that it should admit was not sent."""


class TransportError(AdClientError):
    """The service sent no complete response."""

    __advice__: str | None = "Call again"


class ConnectionFailed(TransportError, ConnectionError):
    """The service was not reached: nothing was sent, so the call is safe to repeat."""

    __advice__: str | None = "Nothing was sent; check base_url and the network"


class ConnectionLost(TransportError, ConnectionError):
    """The connection broke after the request was sent."""


class CallTimeout(TransportError, TimeoutError):
    """The call, retries included, or its last attempt took longer than its timeout."""

    __advice__: str | None = "Call again, or allow a longer timeout"


class APIError(AdClientError):
    """The service returned an error status, in `status`.

    The interface names no error status, so the subclasses follow the meaning that HTTP gives them.
    """


class BadRequest(APIError):
    """400: the request is malformed."""


class Unauthenticated(APIError):
    """401: the credentials are missing or invalid."""

    __advice__: str | None = "Check token= or auth="


class PermissionDenied(APIError):
    """403: the credentials do not allow this."""

    __advice__: str | None = "Check what the credentials and the account allow"


class NotFound(APIError):
    """404: the account or entity does not exist, or the path is wrong."""

    __advice__: str | None = "Check the ids, and base_url"


class Conflict(APIError):
    """409: the state of the entity does not allow this."""


class Unprocessable(APIError):
    """422: the service refused a parameter."""


class RateLimited(APIError):
    """429, or what `Conventions.rate_limit_errors` names: too many requests.

    `retry_after` is the wait in seconds that the service asks for.

    Examples:
        >>> from adclient import RateLimited
        >>> from adclient.testing import FakeAdService, Fault
        >>> fake = FakeAdService()
        >>> fake.faults.add(Fault.status(429, headers={"Retry-After": "20"}))
        >>> try:
        ...     page = fake.client(max_retries=0).gamma.list_ads(account_id="account_c3d8")
        ... except RateLimited as error:
        ...     print(error.retry_after)
        20.0
    """

    __advice__: str | None = "Call again later"


class ServerError(APIError):
    """5xx: the service failed."""

    __advice__: str | None = "Call again later"


class UnexpectedResponse(AdClientError):
    """A success status with a body of another shape than documented; `body` is its beginning."""

    __advice__: str | None = "The error's body holds what was received"


class PaginationError(AdClientError):
    """A listing cannot continue: `page.next` repeats, or leads elsewhere; see `cursor`."""


class OutcomeUnknown(AdClientError):
    """A write failed, but may have staged a draft: look in the approval dashboard.

    The library does not retry it without an idempotency key, because that could stage the change
    a second time.

    Examples:
        >>> from adclient import OutcomeUnknown
        >>> from adclient.testing import FakeAdService, Fault
        >>> fake = FakeAdService()
        >>> fake.faults.add(Fault.dropped(taken=True))  # only the response is lost
        >>> try:
        ...     fake.client().delta.remove_auto_search_themes(account_id="account_d118")
        ... except OutcomeUnknown as error:
        ...     print(type(error).__name__, error.attempts)
        OutcomeUnknownConnectionLost 1
    """

    outcome_unknown = True
    __advice__: str | None = (
        "A draft may have been staged: look for it in the approval dashboard before calling again"
    )


class OutcomeUnknownConnectionLost(OutcomeUnknown, ConnectionLost):
    """The connection broke after a write was sent."""


class OutcomeUnknownTimeout(OutcomeUnknown, CallTimeout):
    """The time limit passed after a write was sent."""


class OutcomeUnknownServerError(OutcomeUnknown, ServerError):
    """The service failed on a write that may have staged a draft."""


class OutcomeUnknownAPIError(OutcomeUnknown, APIError):
    """The error status of a write does not show whether a draft was staged."""


class OutcomeUnknownResponse(OutcomeUnknown, UnexpectedResponse):
    """A write succeeded with an unreadable response; `draft_id` is set if its id was found."""


def for_status(status: int) -> type[APIError]:
    """The error class for a status."""
    if 500 <= status <= 599:
        return ServerError
    return _BY_STATUS.get(status, APIError)


def with_unknown_outcome(cls: type[AdClientError]) -> type[OutcomeUnknown]:
    """The class that is both `cls` and `OutcomeUnknown`."""
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
