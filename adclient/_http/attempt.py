"""One request on its way: what was sent of it, and what has come back so far."""

import os
import time
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import cast
from urllib.parse import urlsplit

import httpx

from adclient._core.body import Body
from adclient._core.call import Turn
from adclient._core.redact import Redactor, one_line
from adclient._core.request import Request
from adclient._core.response import Failure, Outcome, RawResponse
from adclient._http.family import Family
from adclient._http.handlers import AsyncHandler, Handler


class Attempt:
    """One request on its way, and what has come back so far."""

    def __init__(
        self,
        family: Family,
        request: Request,
        time_left: float,
        secrets: Redactor,
        handler: Handler | AsyncHandler | None,
        turn: Turn,
    ) -> None:
        self.deadline = time.monotonic() + time_left
        self.family = family
        self._is_ours = handler is None
        self._names_requests = handler is not None and handler.names_requests
        self._request = request
        self._secrets = secrets
        self._turn = turn
        self.time_left = time_left
        self._timeouts: dict[str, float] = {}
        self._sent_as: httpx.Request | None = None
        self._taken = False
        self._is_abandoned = False
        self._response: httpx.Response | None = None
        self._headers: Mapping[str, str] = {}
        self._received_at = 0.0
        self._body: Body | None = None
        self._is_whole = False

    def begin(self, extensions: Mapping[str, object] = MappingProxyType({})) -> httpx.Request:
        """The request, with the time that is left for it now."""
        self._give_time()
        own = {"timeout": self._timeouts, "adclient.time_left": self.time_left}
        self._sent_as = self.family.request(
            self._request.method,
            self.family.url(self._request.url),
            headers=dict(self._request.headers),
            stream=self.family.stream(self._outgoing),
            extensions={**own, **extensions},
        )
        return self._sent_as

    def abandon(self) -> None:
        """Let nothing be sent from now on whose sending has not begun."""
        self._is_abandoned = True

    def answered(self, response: httpx.Response) -> None:
        """Note the status and headers, and leave the time that remains to the body."""
        self._response, self._received_at = response, time.time()
        self._headers = {name.lower(): value for name, value in response.headers.items()}
        coding = "" if response.is_stream_consumed else self._headers.get("content-encoding", "")
        self._body = Body(response.status_code, coding)
        self._turn.answer_began(response.status_code, self._headers, self._received_at)
        self._give_time()

    def received(self, chunk: bytes) -> bool:
        """Take a piece of the body; True if no more of it is wanted."""
        assert self._body is not None
        if self._is_over():
            raise self.family.read_timeout("")
        self._body.feed(chunk)
        return self._body.is_enough

    def finished(self, *, is_cut: bool = False) -> None:
        """Note that the body is as complete as it is going to be, if it was not cut by us."""
        assert self._body is not None
        if is_cut:
            raise self.family.read_timeout("")
        self._body.finish()
        self._is_whole = True

    def outcome(self, broken: Failure | None = None) -> Outcome:
        """What came back."""
        assert self._response is not None
        assert self._body is not None
        return RawResponse(
            status=self._response.status_code,
            headers=self._headers,
            body=self._body.content,
            received_at=self._received_at,
            broken=broken,
            defect=self._body.defect,
            secrets=self._secrets,
        )

    def failed(self, error: Exception) -> Outcome:
        """What came back before something broke."""
        if self._is_whole:
            return self.outcome()
        timed_out = isinstance(error, self.family.timeouts) or self._is_over()
        sent = self._is_sent(error)
        reason = self._late(error) if timed_out else self._reason(error)
        if not sent and not timed_out:
            reason = f"{urlsplit(self._request.url).netloc} cannot be reached: {reason}"
        return self._broken_off(Failure(reason=reason, sent=sent, timed_out=timed_out))

    def stopped(self, error: Exception) -> Failure:
        """What came of it when something raised that is no fault of the connection."""
        reason = f"stopped by {type(error).__name__}"
        return Failure(reason=reason, sent=self._taken, error=error)

    def timed_out(self, max_concurrency: int) -> Outcome:
        """What came back before the time was over."""
        if self._is_whole:
            return self.outcome()
        reason = self._late(None)
        if self._sent_as is None:
            reason = f"no free connection in time (max_concurrency is {max_concurrency})"
        return self._broken_off(Failure(reason=reason, sent=self._taken, timed_out=True))

    def _outgoing(self) -> Iterator[bytes]:
        if self._is_abandoned:
            raise self.family.pool_timeout("")
        self._taken = True
        yield self._request.body or b""

    def _is_sent(self, error: Exception) -> bool:
        """Whether the service may have seen the request."""
        # An event hook or `auth` of somebody's client may fail at a request of its own.
        failed: object = getattr(error, "_request", self._sent_as)
        if failed is not self._sent_as and (failed is not None or self._names_requests):
            return self._taken
        if isinstance(error, self.family.never_sent):
            return self._taken and _is_of_aiohttp(error.__cause__)
        # Our own connections take a body before they wait for an answer, if not that of a proxy.
        return self._taken or (not self._is_ours and isinstance(error, self.family.surely_sent))

    def _broken_off(self, failure: Failure) -> Outcome:
        return failure if self._response is None else self.outcome(broken=failure)

    def _is_over(self) -> bool:
        return time.monotonic() >= self.deadline

    def _give_time(self) -> None:
        left = max(0.001, self.deadline - time.monotonic())
        self._timeouts.update(connect=left, read=left, write=left, pool=left)

    def _late(self, error: Exception | None) -> str:
        if isinstance(error, self.family.connect_timeout) or (self._is_ours and not self._taken):
            return "no connection in time"
        if isinstance(error, self.family.pool_timeout):
            return "no free connection of the http_client in time"
        return "no answer in time"

    def _reason(self, error: BaseException) -> str:
        """The innermost cause in words that hold nothing of the request."""
        for cause in reversed(list(_causes(error))):
            if isinstance(cause, ConnectionError) and cause.errno is not None:
                return os.strerror(cause.errno)
            if isinstance(cause, OSError) and cause.args:
                return one_line(str(cause.strerror or cause))
            if isinstance(cause, self.family.told_by_the_peer):
                return one_line(str(cause)) or "the answer was no valid HTTP"
        return f"the connection broke ({type(error).__name__})"


def _is_of_aiohttp(error: object) -> bool:
    """Whether httpx-aiohttp is at work, where nobody could refuse it: in a wrapper of the caller's.

    It says of a connection that broke in use that it was never made.
    """
    return type(error).__module__.startswith("aiohttp.")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it came from, inwards; of several, the first."""
    while error is not None:
        yield error
        several = cast("tuple[BaseException, ...]", getattr(error, "exceptions", ()))
        error = several[0] if several else error.__cause__ or error.__context__
