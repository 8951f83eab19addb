"""A fault of one request, and what it makes of the response."""

import gzip
from collections.abc import Mapping
from typing import Literal

import attrs

from adclient._values import jsontext
from adclient._values.arguments import as_count
from adclient.extend import Failure, Outcome, RawResponse
from adclient.models import JSON
from adclient.options import check_type
from adclient.testing._fake.pages import PagingFault
from adclient.testing._fake.profile import check_choice, check_seconds
from adclient.testing._fake.responses import HTTPError

BodyFault = Literal[
    "cut",
    "stalled",
    "wrong_length",
    "broken_gzip",
    "not_json",
    "not_utf8",
    "wrong_shape",
    "error_object",
    "duplicate_keys",
    "wrong_content_type",
    "huge",
]
DROPPED = Failure(reason="the connection was dropped", sent=True)
STALLED = Failure(reason="no more of the body in time", sent=True, timed_out=True)
NO_RESPONSE = Failure(reason="no response in time", sent=True, timed_out=True)
_HUGE = 5 * 1024 * 1024


def _in_short(instead: Outcome | HTTPError | None) -> str:
    return repr(instead.reason if isinstance(instead, Failure) else instead and instead.status)


@attrs.frozen(kw_only=True)
class Fault:
    """One thing that goes wrong; `Faults.add` chooses the requests.

    Make one with the methods below. Where a method has `taken`, True means that the service
    processes the request and only the response is lost: a write has then staged its draft. With a
    fault in the body, the page or the time of a response, the request is always processed.

    Attributes:
        taken: Whether the service processes the request.
        instead: What replaces the service's response; None for that response.
        as_status: The status that replaces that of the response; None for its own.
        body: What is wrong with the body of the response; None for nothing.
        page: What is wrong with the page of a listing; None for nothing.
        latency: Seconds until the response begins.
        body_seconds: Seconds that its body takes after that. Both are seconds of the fake's clock
            in process, and real ones over HTTP.

    Examples:
        >>> from adclient import OutcomeUnknown
        >>> from adclient.testing import FakeAdService, Fault
        >>> fake = FakeAdService()
        >>> fake.faults.add(Fault.dropped(taken=True))
        >>> try:
        ...     fake.client().beta.pause_campaign(
        ...         account_id="account_b204", campaign_id="campaign_57a7"
        ...     )
        ... except OutcomeUnknown:
        ...     print(len(fake.drafts), "draft was staged")
        1 draft was staged
    """

    taken: bool = True
    instead: Outcome | HTTPError | None = attrs.field(default=None, repr=_in_short)
    as_status: int | None = None
    body: BodyFault | None = None
    page: PagingFault | None = None
    latency: float = 0.0
    body_seconds: float = 0.0

    @classmethod
    def refused(cls) -> "Fault":
        """The connection is refused, so the service never receives the request.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.refused(), times=2)
        """
        return cls(taken=False, instead=Failure(reason="connection refused", sent=False))

    @classmethod
    def dropped(cls, *, taken: bool = False) -> "Fault":
        """The connection breaks after the request was sent, before any response.

        Args:
            taken: Whether the service processes the request first.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.dropped(taken=True), operation="gamma.list_ads")
        """
        return cls(taken=taken, instead=DROPPED)

    @classmethod
    def no_response(cls, *, taken: bool = False) -> "Fault":
        """There is no response before the client times out.

        Args:
            taken: Whether the service processes the request first.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.no_response(), call=2)
        """
        return cls(taken=taken, instead=NO_RESPONSE)

    @classmethod
    def slow(cls, seconds: float) -> "Fault":
        """The response is late, by the fake's clock in process and in real time over HTTP.

        If that exceeds the timeout of the client, it gets no response, although the service has
        processed the request.

        Args:
            seconds: How many seconds late the response is.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: `seconds` is negative or not finite.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.slow(40), operation="gamma.list_ads")
        """
        check_seconds("seconds", seconds)
        return cls(latency=seconds)

    @classmethod
    def slow_body(cls, seconds: float) -> "Fault":
        """The response begins at once, but its body arrives in small parts.

        In process, this takes time of the fake's clock, and a client with a shorter timeout gets a
        part of the body. Over HTTP, it takes real time.

        Args:
            seconds: How many seconds the body takes.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: `seconds` is negative or not finite.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.slow_body(40), operation="gamma.list_ads")
        """
        check_seconds("seconds", seconds)
        return cls(body_seconds=seconds)

    @classmethod
    def status(
        cls,
        status: int,
        *,
        code: str = "injected_fault",
        message: str = "a fault that the test asked for",
        headers: Mapping[str, str] | None = None,
        taken: bool = False,
    ) -> "Fault":
        """The response is an error, in the shape of the profile.

        Args:
            status: The HTTP status, from 200 to 599.
            code: The code of the error.
            message: The message of the error.
            headers: Headers to add, such as `Retry-After`.
            taken: Whether the service processes the request first.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: `status` is not an HTTP status.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.status(429, headers={"Retry-After": "5"}), times=2)
        """
        _check_status(status)
        error = HTTPError(status, code, message, headers=_lower_case(headers))
        return cls(taken=taken, instead=error)

    @classmethod
    def response(
        cls,
        body: bytes | str | JSON,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        taken: bool = True,
    ) -> "Fault":
        """The response is exactly this one.

        Args:
            body: The body as bytes or text; any other value is encoded as JSON.
            status: The HTTP status.
            headers: Headers to add or replace; by default the content type is JSON.
            taken: Whether the service processes the request first.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: `status` is not an HTTP status.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.response({"data": [], "page": {"next": None}}))
        """
        _check_status(status)
        if not isinstance(body, bytes):
            body = (body if isinstance(body, str) else jsontext.dumps(body, "body")).encode()
        response = RawResponse(status=status, headers=_lower_case(headers), body=body)
        return cls(taken=taken, instead=response)

    @classmethod
    def other_status(cls, status: int) -> "Fault":
        """The service's own response comes with another status, such as 200 instead of 201.

        Args:
            status: The HTTP status.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: `status` is not an HTTP status.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.other_status(200), operation="beta.pause_campaign")
        """
        _check_status(status)
        return cls(as_status=status)

    @classmethod
    def redirect(
        cls, location: str = "https://elsewhere.example/", *, status: int = 302
    ) -> "Fault":
        """The response is a redirect.

        Args:
            location: The URL to redirect to.
            status: The HTTP status, such as 307.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: `status` is not a redirect.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.redirect("https://elsewhere.example/login"))
        """
        if not 300 <= (as_count(status) or 0) <= 399:
            raise ValueError("status must be from 300 to 399")
        response = RawResponse(status=status, headers={"location": location})
        return cls(taken=False, instead=response)

    @classmethod
    def in_body(cls, what: BodyFault) -> "Fault":
        """The body of the response is corrupt.

        Args:
            what: `"cut"`: the connection breaks in the middle. `"stalled"`: half of it arrives, and
                no more before the timeout. `"wrong_length"`: shorter than its `Content-Length`.
                `"broken_gzip"`: damaged compression. `"not_json"`: a web page. `"not_utf8"`: an
                invalid byte. `"wrong_shape"`: other JSON. `"error_object"`: an error with the
                status of a success. `"duplicate_keys"`: its first key occurs twice.
                `"wrong_content_type"`: it is declared as text. `"huge"`: 5 MiB.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: There is no such fault.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.in_body("cut"), operation="beta.pause_campaign")
        """
        check_choice("what", what, BodyFault)
        return cls(body=what)

    @classmethod
    def in_page(cls, what: PagingFault) -> "Fault":
        """The page of a listing is wrong, or does not fit the other pages.

        Args:
            what: `"same_next"`: `next` is always that of the first page. `"empty_page"`: no items,
                although `next` is set. `"foreign_next"`: `next` is a URL of another service.
                `"duplicates"`: the last item of the previous page is repeated.
                `"shrinking_list"`: an item was removed meanwhile, so another one is skipped.
                `"next_missing"`, `"page_missing"`, `"data_missing"`: a part of the envelope is
                missing.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: There is no such fault.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.in_page("same_next"), times=None)
        """
        check_choice("what", what, PagingFault)
        return cls(page=what)


def with_fault(response: RawResponse, fault: Fault) -> RawResponse:
    """Apply a fault to a successful response; errors are left alone."""
    if not response.is_success:
        return response
    if fault.body is not None:
        response = _corrupted(response, fault.body)
    response = attrs.evolve(response, status=fault.as_status or response.status)
    if fault.body_seconds:
        parts = attrs.asdict(response, recurse=False)
        return SlowBodyResponse(**parts, seconds=fault.body_seconds)
    return response


def _corrupted(response: RawResponse, fault: BodyFault) -> RawResponse:
    """A response with a fault in its body."""
    body, headers = response.body, dict(response.headers)
    broken: Failure | None = None
    match fault:
        case "cut" | "stalled":
            body = body[: len(body) // 2]
            broken = DROPPED if fault == "cut" else STALLED
        case "wrong_length":
            headers["content-length"] = str(len(body) + 10)
            reason = f"received {len(body)} bytes, expected {len(body) + 10}"
            broken = Failure(reason=reason, sent=True)
        case "broken_gzip":
            headers["content-encoding"] = "gzip"
            packed = gzip.compress(body, mtime=0)
            body = packed[:10] + bytes(255 - byte for byte in packed[10:])
        case "not_json":
            headers["content-type"] = "text/html"
            body = b"<html><head><title>Checking your browser</title></head></html>"
        case "not_utf8":
            start, quote, end = body.rpartition(b'"')
            body = start + b"\xff" + quote + end
        case "wrong_shape":
            body = b'{"result":%s}' % body
        case "error_object":
            body = b'{"error":{"code":"internal","message":"something went wrong","details":[]}}'
        case "duplicate_keys":
            first_key, _, rest = body.partition(b":")
            body = first_key + b":null," + first_key[1:] + b":" + rest
        case "wrong_content_type":
            headers["content-type"] = "text/plain"
        case _:  # "huge"
            body = body[:-1] + b',"padding":"%s"}' % (b"x" * _HUGE)
    return attrs.evolve(response, headers=headers, body=body, broken=broken)


@attrs.define(kw_only=True)
class SlowBodyResponse(RawResponse):
    """A response whose body takes `seconds` to arrive."""

    seconds: float


def received_within(
    time_left: float | None, outcome: Outcome, seconds: float
) -> tuple[Outcome, float]:
    """The part of an outcome that a client receives within some time, and when."""
    if time_left is not None and seconds >= time_left:
        return NO_RESPONSE, time_left
    if isinstance(outcome, SlowBodyResponse):
        if time_left is not None and seconds + outcome.seconds >= time_left:
            received = int(len(outcome.body) * (time_left - seconds) / outcome.seconds)
            outcome = attrs.evolve(outcome, body=outcome.body[:received], broken=STALLED)
        seconds += outcome.seconds
    failure = outcome if isinstance(outcome, Failure) else outcome.broken
    if time_left is not None and failure is not None and failure.timed_out:
        seconds = time_left  # the client waits for the rest until it times out
    return outcome, seconds


def _lower_case(headers: Mapping[str, str] | None) -> dict[str, str]:
    check_type("headers", headers, Mapping)
    return {} if headers is None else {name.lower(): value for name, value in headers.items()}


def _check_status(status: int) -> None:
    if not 200 <= (as_count(status) or 0) <= 599:
        raise ValueError("status must be from 200 to 599")
