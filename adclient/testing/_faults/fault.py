"""What can go wrong with one request."""

import math
from collections.abc import Mapping
from typing import get_args

import attrs

from adclient._core import jsontext
from adclient._core.response import Failure, Outcome, RawResponse
from adclient.models import JSON
from adclient.testing._faults.dripping import DrippingReply
from adclient.testing._faults.spoiling import BodyFault, spoilt
from adclient.testing._reads.paging import PagingFault
from adclient.testing._wire.protocol import Refusal


@attrs.frozen(kw_only=True)
class Fault:
    """One thing that goes wrong; `Faults.add` says with which request.

    Where a fault takes `taken`, True means that the service does what the request asks and only
    its answer is lost: a write has then staged its draft. A fault in the body, the pages or the
    time of an answer has always been taken.

    Attributes:
        taken: Whether the service does its work.
        instead: What comes instead of the service's answer; None for that answer.
        as_status: The status that the answer comes with; None for its own.
        body: What is wrong with the body of the answer.
        page: What is wrong with the page of a listing.
        latency: Seconds until the answer comes.
        dripping: Seconds that its body takes from then on. In process, both are seconds of the
            fake's clock; over HTTP they are real ones.

    Example:
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
    instead: Outcome | Refusal | None = None
    as_status: int | None = None
    body: BodyFault | None = None
    page: PagingFault | None = None
    latency: float = 0.0
    dripping: float = 0.0

    @classmethod
    def refused(cls) -> "Fault":
        """The connection is refused, so that the service never sees the request.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.
        """
        return cls(taken=False, instead=Failure(reason="connection refused", sent=False))

    @classmethod
    def dropped(cls, *, taken: bool = False) -> "Fault":
        """The connection breaks after the request was sent, before any answer.

        Args:
            taken: Whether the service does its work first.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Example:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.dropped(taken=True), operation="gamma.list_ads")
        """
        return cls(taken=taken, instead=Failure(reason="the connection was dropped", sent=True))

    @classmethod
    def no_answer(cls, *, taken: bool = False) -> "Fault":
        """Nothing comes, until the client's time is over.

        Args:
            taken: Whether the service does its work first.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Example:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.no_answer(), call=2)
        """
        failure = Failure(reason="no response in time", sent=True, timed_out=True)
        return cls(taken=taken, instead=failure)

    @classmethod
    def slow(cls, seconds: float) -> "Fault":
        """The answer takes its time: of the fake's clock in process, real time over HTTP.

        If that is longer than the client gives it, the client gets no answer; the service has
        done its work all the same.

        Args:
            seconds: How long the answer takes.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: `seconds` is negative or not finite.

        Example:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.slow(40), operation="gamma.list_ads")
        """
        _check_seconds(seconds)
        return cls(latency=seconds)

    @classmethod
    def drip(cls, seconds: float) -> "Fault":
        """The answer begins at once, and its body comes little by little.

        In process this takes time of the fake's clock, and a client that waits less gets a part
        of the body. Over HTTP it takes real time.

        Args:
            seconds: How long the body takes.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: `seconds` is negative or not finite.

        Example:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.drip(40), operation="gamma.list_ads")
        """
        _check_seconds(seconds)
        return cls(dripping=seconds)

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
        """The service answers with an error, in the shape of its profile.

        Args:
            status: The HTTP status.
            code: The code of the error.
            message: The message of the error.
            headers: Further headers, such as `Retry-After`.
            taken: Whether the service does its work first.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: `status` is no HTTP status.

        Example:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.status(429, headers={"Retry-After": "5"}), times=2)
        """
        _check_status(status)
        return cls(taken=taken, instead=Refusal(status, code, message, headers=_lowered(headers)))

    @classmethod
    def answer(
        cls,
        body: bytes | str | JSON,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        taken: bool = True,
    ) -> "Fault":
        """The answer is this very one.

        Args:
            body: The raw bytes or text; any other value is written as JSON.
            status: The HTTP status.
            headers: Headers to add or replace; the content type is JSON unless they say else.
            taken: Whether the service does its work first.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: `status` is no HTTP status.

        Example:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.answer({"data": [], "page": {"next": None}}))
        """
        _check_status(status)
        raw = body if isinstance(body, bytes | str) else jsontext.dumps(body, "body")
        content = raw if isinstance(raw, bytes) else raw.encode()
        reply = RawResponse(status=status, headers=_lowered(headers), body=content)
        return cls(taken=taken, instead=reply)

    @classmethod
    def other_status(cls, status: int) -> "Fault":
        """The service's own answer comes with another status, such as 200 instead of 201.

        Args:
            status: The HTTP status.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: `status` is no HTTP status.

        Example:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.other_status(200), operation="beta.pause_campaign")
        """
        _check_status(status)
        return cls(as_status=status)

    @classmethod
    def redirect(
        cls, location: str = "https://elsewhere.example/", *, status: int = 302
    ) -> "Fault":
        """The service sends the client elsewhere.

        Args:
            location: Where to.
            status: The HTTP status, such as 307.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: `status` is no redirect.

        Example:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.redirect("https://elsewhere.example/login"))
        """
        if not 300 <= status <= 399:
            raise ValueError("status must be from 300 to 399")
        reply = RawResponse(status=status, headers={"location": location})
        return cls(taken=False, instead=reply)

    @classmethod
    def in_body(cls, what: BodyFault) -> "Fault":
        """The body of the answer is not what it should be.

        Args:
            what: `"cut"`: the connection breaks in the middle. `"stalled"`: half of it comes, and
                no more in time. `"wrong_length"`: less comes than the headers say.
                `"broken_gzip"`: its compression is damaged. `"not_json"`: a web page.
                `"not_utf8"`: a byte that UTF-8 does not have. `"wrong_shape"`: another JSON.
                `"error_object"`: an error with the status of a success. `"duplicate_keys"`: its
                first key comes twice. `"wrong_content_type"`: it calls itself text. `"huge"`: it
                has 5 MiB.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: There is no such fault.

        Example:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.in_body("cut"), operation="beta.pause_campaign")
        """
        _check_choice("what", what, get_args(BodyFault))
        return cls(body=what)

    @classmethod
    def in_page(cls, what: PagingFault) -> "Fault":
        """The page of a listing does not fit the others, or leads astray.

        Args:
            what: `"same_next"`: `next` is always that of the first page. `"empty_page"`: no items,
                though `next` leads on. `"foreign_next"`: `next` is a URL of another service.
                `"duplicates"`: the last item of the page before comes again.
                `"shrinking_list"`: the list lost an item meanwhile, so one is skipped.
                `"next_missing"`, `"page_missing"`: a part of the envelope is not there.
                `"data_null"`: there are no items, not even none.

        Returns:
            The fault, for `Faults.add` or `Faults.at_random`.

        Raises:
            ValueError: There is no such fault.

        Example:
            >>> from adclient.testing import FakeAdService, Fault
            >>> FakeAdService().faults.add(Fault.in_page("same_next"), times=None)
        """
        _check_choice("what", what, get_args(PagingFault))
        return cls(page=what)

    def spoil(self, reply: RawResponse) -> RawResponse:
        """What is left of an answer; the service calls this, and errors stay as they are."""
        if not reply.is_success:
            return reply
        spoiled = reply if self.body is None else spoilt(reply, self.body)
        spoiled = attrs.evolve(spoiled, status=self.as_status or reply.status)
        return DrippingReply.of(spoiled, self.dripping) if self.dripping else spoiled


def _lowered(headers: Mapping[str, str] | None) -> dict[str, str]:
    return {name.lower(): value for name, value in (headers or {}).items()}


def _check_seconds(seconds: float) -> None:
    if not 0 <= seconds < math.inf:
        raise ValueError("seconds must be a finite number, 0 or more")


def _check_status(status: int) -> None:
    if not 200 <= status <= 599:
        raise ValueError("status must be from 200 to 599")


def _check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}")
