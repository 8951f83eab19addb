"""What was sent to the fake service, in a few lines for the report of a failed test."""

from collections.abc import Iterator, Sequence

from adclient._core.redact import one_line
from adclient._notebook import short
from adclient.testing._recording import RecordedRequest

_MOST_REQUESTS = 20
_LONGEST_LINE = 300


def listed(requests: Sequence[RecordedRequest]) -> str:
    """The last requests, one on each line; without headers, which may hold a token."""
    return "\n".join(_lines(requests))


def _lines(requests: Sequence[RecordedRequest]) -> Iterator[str]:
    if not requests:
        yield "none"
    if len(requests) > _MOST_REQUESTS:
        yield f"… {len(requests) - _MOST_REQUESTS} earlier"
    for request in requests[-_MOST_REQUESTS:]:
        yield one_line(_line(request), _LONGEST_LINE)


def _line(request: RecordedRequest) -> str:
    status = "no answer" if request.status is None else request.status
    body = request.json if isinstance(request.json, dict) else {}
    parameters = {**request.query, **body}
    shown = " ".join(f"{short(name)}={short(value)}" for name, value in parameters.items())
    return f"{request.method} {request.path} → {status} {shown}"
