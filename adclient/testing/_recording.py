"""The record of what was sent to the fake service."""

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

import attrs

from adclient._core import jsontext
from adclient._core.request import Request
from adclient._core.response import Outcome, RawResponse
from adclient.models import JSON
from adclient.testing._wire.protocol import operation_at


@attrs.frozen(kw_only=True)
class RecordedRequest:
    """A request that reached the fake service.

    Attributes:
        method: The HTTP method.
        path: The path, without the query.
        query: The query parameters.
        headers: The headers, with names in lower case. They may hold a token.
        body: The bytes of the body; empty if there was none.
        json: The body as JSON; None if it was none.
        operation: The operation, such as `beta.list_campaigns`; None if there is none.
        account_id: The account that it was for, if it named one.
        status: The status of the answer; None if the answer was lost.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str] = attrs.field(repr=False)
    body: bytes = attrs.field(repr=False)
    json: JSON
    operation: str | None
    account_id: str | None
    status: int | None


def recorded(request: Request, outcome: Outcome) -> RecordedRequest:
    """The record of a request and of what came of it."""
    operation = operation_at(request)
    parts = urlsplit(request.url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    try:
        body = jsontext.loads(request.body or b"")
    except jsontext.JSONError:
        body = None
    arguments = {**query, **(body if isinstance(body, dict) else {})}
    account_id = arguments.get("account_id")
    return RecordedRequest(
        method=request.method,
        path=parts.path,
        query=query,
        headers=request.headers,
        body=request.body or b"",
        json=body,
        operation=operation.full_name if operation and operation.method == request.method else None,
        account_id=account_id if isinstance(account_id, str) else None,
        status=outcome.status if isinstance(outcome, RawResponse) else None,
    )
