"""Faults, which requests meet them, and what they make of the responses."""

import random
from collections.abc import Callable, Mapping
from typing import Self

import attrs

from adclient._core.operations import READS
from adclient._values import jsontext
from adclient._values.json_values import as_count, as_float, is_choice
from adclient.extend import OPERATIONS, Failure, Outcome, RawResponse
from adclient.models import JSON
from adclient.options import check_count, check_type
from adclient.testing._fake.pages import PagingFault
from adclient.testing._fake.profile import check_choice, check_seconds, unknown
from adclient.testing._fake.requests import RecordedRequest
from adclient.testing._fake.responses import (
    DROPPED,
    NO_RESPONSE,
    BodyFault,
    HTTPError,
    SlowBodyResponse,
    corrupted,
)


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
        response = corrupted(response, fault.body)
    response = attrs.evolve(response, status=fault.as_status or response.status)
    if fault.body_seconds:
        parts = attrs.asdict(response, recurse=False)
        return SlowBodyResponse(**parts, seconds=fault.body_seconds)
    return response


def _lower_case(headers: Mapping[str, str] | None) -> dict[str, str]:
    check_type("headers", headers, Mapping)
    return {} if headers is None else {name.lower(): value for name, value in headers.items()}


def _check_status(status: int) -> None:
    if not 200 <= (as_count(status) or 0) <= 599:
        raise ValueError("status must be from 200 to 599")


Where = Callable[[RecordedRequest], bool]
_OPERATIONS = [operation.full_name for operation in OPERATIONS]


@attrs.define
class FaultRule:
    """A fault and the requests that meet it."""

    fault: Fault
    operation: str | None
    account_id: str | None
    where: Where | None
    to_pass: int = 0
    left: int | None = None
    share: float = 1.0
    is_met: bool = False

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.fault, Fault):
            raise TypeError(f"expected a Fault, such as Fault.refused(), not {self.fault!r}")
        check_type("account_id", self.account_id, str)
        if not (self.where is None or callable(self.where)):
            raise TypeError(f"where must be a function of a request, not {self.where!r}")
        if self.operation is not None and not is_choice(self.operation, _OPERATIONS):
            raise ValueError(unknown("operation", self.operation, _OPERATIONS))
        if self.fault.page is not None and self.operation not in (None, *READS):
            raise ValueError(f"{self.operation} has no pages")

    def __deepcopy__(self, _: object) -> Self:
        return attrs.evolve(self)  # a fault never changes, and what `where` refers to is not ours

    def concerns(self, request: RecordedRequest) -> bool:
        """True if the fault may happen to a request."""
        return (
            self.operation in (None, request.operation)
            and self.account_id in (None, request.account_id)
            and (self.fault.page is None or request.operation in READS)
            and (self.where is None or self.where(request))
        )


class Faults:
    """The faults of a fake service, and the requests that meet them.

    Each attempt of a client is a request of its own. A request meets at most one fault: of those
    that apply to it, the one that was added first.

    Examples:
        >>> from adclient.testing import FakeAdService, Fault
        >>> fake = FakeAdService()
        >>> fake.faults.add(Fault.refused())
        >>> fake.faults.add(Fault.status(500), operation="beta.pause_campaign", call=3)
        >>> client = fake.client()
        >>> draft = client.beta.pause_campaign(
        ...     account_id="account_b204", campaign_id="campaign_57a7"
        ... )
        >>> draft.response.attempts, fake.faults.pending
        (2, 1)
        >>> [fault.instead.status for fault in fake.faults.unmet]
        [500]
        >>> fake.faults.clear()
    """

    def __init__(self, seed: str) -> None:
        self._chance = random.Random(f"{seed}:faults")  # noqa: S311 (no secret)
        self._rules: list[FaultRule] = []

    def __repr__(self) -> str:
        return f"<Faults, {len(self._rules)} to come>"

    @property
    def pending(self) -> int:
        """The number of faults that are still to happen, once or more."""
        return len(self._rules)

    @property
    def unmet(self) -> tuple[Fault, ...]:
        """The added faults that no request has met, such as one with a wrong call number.

        Faults that happen at random are not included.
        """
        return tuple(rule.fault for rule in self._rules if rule.share == 1 and not rule.is_met)

    def add(
        self,
        fault: Fault,
        *,
        operation: str | None = None,
        account_id: str | None = None,
        where: Where | None = None,
        call: int = 1,
        times: int | None = 1,
    ) -> None:
        """Make a fault happen to the next request, or to a later one.

        Args:
            fault: What goes wrong.
            operation: The operation that it happens to, such as `beta.list_campaigns`; None for
                any.
            account_id: The account that it happens to; None for any.
            where: A function that is called with a `RecordedRequest` without a status, and returns
                whether it may happen to that; None for any request.
            call: The number of the first request that meets it, counted from now among those that
                the arguments above select.
            times: How many requests in a row meet it; None for all from then on.

        Raises:
            ValueError: The operation is unknown, or a number is not a whole number from 1; the
                message names it.
            TypeError: `fault` is not a `Fault`.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> fake = FakeAdService(page_size=50)
            >>> fake.faults.add(Fault.dropped(), operation="gamma.list_ads", call=2)
            >>> ads = list(fake.client().gamma.list_ads(account_id="account_c3d8"))
            >>> len(ads), [request.status for request in fake.requests]
            (126, [200, None, 200, 200])

            A fault of one campaign:

            >>> fake.faults.add(
            ...     Fault.status(503),
            ...     where=lambda request: request.parameters.get("campaign_id") == "campaign_cb1a",
            ...     times=None,
            ... )
        """
        call = check_count("call", call, least=1)
        if times is not None:
            times = check_count("times", times, least=1)
        self._rules.append(FaultRule(fault, operation, account_id, where, call - 1, times))

    def at_random(
        self,
        fault: Fault,
        *,
        share: float,
        operation: str | None = None,
        account_id: str | None = None,
        where: Where | None = None,
    ) -> None:
        """Make a fault happen at random, from the fake's seed.

        Args:
            fault: What goes wrong.
            share: The probability that a request meets it, from 0 to 1.
            operation: The operation that it happens to; None for any.
            account_id: The account that it happens to; None for any.
            where: A function of a request, as in `add`; None for any request.

        Raises:
            ValueError: The operation is unknown, or `share` is out of range; the message names it.
            TypeError: `fault` is not a `Fault`.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> fake = FakeAdService()
            >>> fake.faults.at_random(Fault.status(503), share=0.2)
            >>> fake.faults.pending
            1
        """
        if not 0 <= as_float(share) <= 1:
            raise ValueError("share must be from 0 to 1")
        self._rules.append(FaultRule(fault, operation, account_id, where, share=share))

    def clear(self) -> None:
        """Remove all faults, so that no further request meets one."""
        self._rules.clear()

    def take(self, request: RecordedRequest) -> Fault | None:
        """Return the fault that a request meets; the fake calls this for each request.

        Args:
            request: The request, without a status.

        Returns:
            The fault, or None.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> fake = FakeAdService()
            >>> page = fake.client().gamma.list_ads(account_id="account_c3d8")
            >>> fake.faults.add(Fault.refused(), account_id="account_c3d8")
            >>> fake.faults.take(fake.requests[0]) == Fault.refused()
            True
        """
        due: FaultRule | None = None
        for rule in self._rules:
            if not rule.concerns(request):
                continue
            # All rules count the request, not only the one that is due first.
            if rule.to_pass:
                rule.to_pass -= 1
            elif (rule.share == 1 or self._chance.random() < rule.share) and due is None:
                due = rule
        if due is None:
            return None
        due.is_met = True
        if due.left is not None:
            due.left -= 1
            if not due.left:
                self._rules.remove(due)
        return due.fault
