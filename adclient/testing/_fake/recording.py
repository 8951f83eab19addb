"""The requests that reached the fake service, and a report of them for failed tests."""

from collections.abc import Mapping, Sequence
from typing import Self
from urllib.parse import parse_qsl, urlsplit

import attrs

from adclient._values import jsontext
from adclient._values.redact import one_line
from adclient._values.text import short
from adclient.extend import Operation, Request
from adclient.models import JSON

_MAX_REQUESTS = 20
_MAX_LINE = 300


@attrs.frozen(kw_only=True)
class RecordedRequest:
    """A request that reached the fake service.

    Attributes:
        method: The HTTP method.
        path: The path, without the query.
        query: The parameters in the query, decoded.
        headers: The headers, with names in lower case. They may contain a token.
        body: The bytes of the body; empty if there was none.
        operation: The operation, such as `beta.list_campaigns`; None if there is none.
        account_id: The account that the request named; None if it named none.
        status: The HTTP status of the response; None if the response was lost.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService()
        >>> page = fake.client().gamma.list_ads(account_id="account_c3d8")
        >>> request = fake.requests[0]
        >>> request.method, request.path, request.query
        ('GET', '/v1/gamma-ads/list-gamma-ads', {'account_id': 'account_c3d8'})
        >>> request.body, request.json
        (b'', None)
        >>> request.parameters
        {'account_id': 'account_c3d8'}
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str] = attrs.field(repr=False)
    body: bytes = attrs.field(repr=False)
    operation: str | None
    account_id: str | None
    status: int | None

    @property
    def json(self) -> JSON:
        """The body as JSON values; None if it was not JSON."""
        try:
            return jsontext.loads(self.body)
        except jsontext.JSONError:
            return None

    @property
    def parameters(self) -> dict[str, JSON]:
        """The parameters in the query and in the body."""
        body = self.json
        return {**self.query, **(body if isinstance(body, dict) else {})}

    def __deepcopy__(self, _: object) -> Self:
        return self  # snapshots share what never changes


def recorded(request: Request, operation: Operation | None) -> RecordedRequest:
    """The record of a request without a response; the operation is that at its path."""
    parts = urlsplit(request.url)
    record = RecordedRequest(
        method=request.method,
        path=parts.path,
        query=dict(parse_qsl(parts.query, keep_blank_values=True)),
        headers=request.headers,
        body=request.body or b"",
        operation=operation.full_name if operation and operation.method == request.method else None,
        account_id=None,
        status=None,
    )
    account_id = record.parameters.get("account_id")
    return attrs.evolve(record, account_id=account_id if isinstance(account_id, str) else None)


def report(requests: Sequence[RecordedRequest]) -> str:
    """The last requests, one on each line, without headers, which may hold a token."""
    earlier = len(requests) - _MAX_REQUESTS
    lines = [f"… {earlier} earlier"] if earlier > 0 else []
    for request in requests[-_MAX_REQUESTS:]:
        status = "no response" if request.status is None else request.status
        parameters = request.parameters.items()
        shown = " ".join(f"{short(name)}={short(value)}" for name, value in parameters)
        lines.append(one_line(f"{request.method} {request.path} -> {status} {shown}", _MAX_LINE))
    return "\n".join(lines or ["none"])
