"""The progress of one request in any sender, and the reason for a failure.

It imports no HTTP library.
"""

import os
import socket
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Self, cast
from urllib.parse import urlsplit

from adclient._core.request import Request
from adclient._core.response import Failure, Outcome, RawResponse
from adclient._tasks.clock import monotonic

Errors = tuple[type[Exception], ...]

# A peer may send single bytes, each of which takes forty as an object.
_LONGEST_IN_CHUNKS = 1024 * 1024


class Attempt:
    """One request in progress, and what has been received so far.

    It is also the stream of the request's body, sync and async. Once that is consumed, the service
    may have received the whole request.
    """

    def __init__(self, request: Request, deadline: float) -> None:
        self.request = request
        self.deadline = deadline
        self.body_consumed = False
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.received_at = 0.0
        self.chunks: list[bytes] = []
        self._body: Body | None = None
        self._is_whole = False

    def __iter__(self) -> Iterator[bytes]:
        # Before any of it is written: a write that was sent in part must not be sent again.
        self.body_consumed = True
        return iter((body,) if (body := self.request.body) else ())

    def __aiter__(self) -> "AsyncChunks":
        return AsyncChunks(iter(self))

    def begin(self, status: int, headers: Mapping[str, str], *, is_framed: bool = False) -> bool:
        """Take the head of the response; its names are in lower case.

        Returns whether the body is just the bytes in `chunks`: the sender `is_framed`, which means
        that it cuts the body at its content-length, and nothing has to be decoded or bounded. A
        transfer coding would override that length.
        """
        # The wall clock, since a `Retry-After` may be a date.
        self.status, self.headers, self.received_at = status, headers, time.time()
        coding, length = headers.get("content-encoding", ""), headers.get("content-length", "")
        longest = LONGEST_ERROR_BODY if status >= 400 else _LONGEST_IN_CHUNKS
        is_plain = not coding and "transfer-encoding" not in headers
        if is_framed and is_plain and length.isdecimal() and int(length) <= longest:
            return True
        self._body = Body(status, coding)
        return False

    def feed(self, chunk: bytes) -> bool:
        """Take a raw chunk of the body; True if the rest is not needed."""
        assert self._body is not None
        self._body.feed(chunk)
        return self._body.is_enough

    def finish(self) -> None:
        """Note the end of the body."""
        if self._body is not None:
            self._body.finish()
        self._is_whole = True

    @property
    def is_late(self) -> bool:
        """True once the deadline has passed."""
        return monotonic() >= self.deadline

    @property
    def time_left(self) -> float:
        """Seconds until the deadline, for a timeout: never 0, which some libraries read as none."""
        return max(0.001, self.deadline - monotonic())

    def response(self, broken: Failure | None = None) -> RawResponse:
        """The response, as far as it was received."""
        body = self._body
        return RawResponse(
            status=self.status,
            headers=self.headers,
            body=b"".join(self.chunks) if body is None else body.content,
            received_at=self.received_at,
            broken=broken,
            defect=None if body is None else body.defect,
        )

    def ended_by(self, reason: str, *, sent: bool, timed_out: bool = False) -> Outcome:
        """The outcome of an attempt with an error: a failure, or a response as far as it came."""
        if self._is_whole:  # only closing failed
            return self.response()
        if not sent and not timed_out:
            reason = f"{urlsplit(self.request.url).netloc} cannot be reached: {reason}"
        failure = Failure(reason=reason, sent=sent, timed_out=timed_out)
        return failure if self.status == 0 else self.response(broken=failure)

    def stopped(self, error: Exception) -> Outcome:
        """The failure for an error that the connection did not cause."""
        reason = f"stopped by {type(error).__name__}"
        return Failure(reason=reason, sent=self.body_consumed, error=error)


class AsyncChunks:
    """Chunks for async code. An async generator would warn if it were left in the middle."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        for chunk in self._chunks:
            return chunk
        raise StopAsyncIteration


def decoded_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers as text, with names in lower case; several of one name are joined by commas."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name = raw_name.decode("latin-1").lower()
        # HTTP sets no encoding for values; services that send more than ASCII mostly use UTF-8.
        try:
            value = raw_value.decode()
        except UnicodeDecodeError:
            value = raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def reason_of(error: BaseException, remote: Errors) -> str:
    """Describe the innermost cause without any content of the request.

    The text of a `remote` error describes what the other end sent, so it is safe to show.
    """
    for cause in reversed(causes_of(error)):
        if isinstance(cause, ConnectionError) and cause.errno is not None:
            return strerror(cause.errno)
        if isinstance(cause, OSError) and cause.args:
            return str(cause.strerror or cause)
        if isinstance(cause, remote):
            return str(cause) or "the response was not valid HTTP"
    return f"the connection broke ({type(error).__name__})"


def strerror(code: int) -> str:
    """The text of a socket's error; `os.strerror` of Windows has none for these."""
    texts: dict[int, str] = getattr(socket, "errorTab", {})  # only Windows has it
    return texts[code].rstrip(".") if code in texts else os.strerror(code)


def causes_of(error: BaseException) -> list[BaseException]:
    """An error and what caused it, down to the innermost."""
    causes: list[BaseException] = []
    outer: BaseException | None = error
    while outer is not None and outer not in causes:  # `raise error from error` makes a circle
        causes.append(outer)
        # The failures of several addresses are a group; its first error represents them.
        group = cast("tuple[BaseException, ...]", getattr(outer, "exceptions", ()))
        outer = group[0] if group else outer.__cause__ or outer.__context__
    return causes


LONGEST_BODY = 64 * 1024 * 1024
LONGEST_ERROR_BODY = 64 * 1024
_PIECE = 64 * 1024

_GZIP = zlib.MAX_WBITS | 16


class Body:
    """Collects the raw chunks of a body, and decompresses them.

    `defect` is the reason why the body cannot be used; the rest need not be read then.
    """

    def __init__(self, status: int, coding: str) -> None:
        self._is_error = status >= 400
        self._longest = LONGEST_ERROR_BODY if self._is_error else LONGEST_BODY
        self._received = bytearray()
        self.defect: str | None = None
        coding = coding.strip().lower()
        is_coded = coding not in ("", "identity")
        if is_coded and coding not in ("gzip", "x-gzip"):
            self.defect = f"its content coding {coding!r} was not requested"
        self._inflate = zlib.decompressobj(_GZIP) if is_coded else None

    @property
    def is_enough(self) -> bool:
        """True if the rest of the body is not needed."""
        return self.defect is not None or len(self._received) > self._longest

    @property
    def content(self) -> bytes:
        """The decoded bytes."""
        return bytes(memoryview(self._received)[: self._longest])

    def feed(self, chunk: bytes) -> None:
        """Take the next raw chunk."""
        # A transport of the caller may hand over a body of any size as one chunk.
        for start in range(0, len(chunk), _PIECE):
            if self.is_enough:
                return
            raw = chunk[start : start + _PIECE]
            if self._inflate is None:
                self._received += raw
            # In pieces: a few kilobytes may decompress to more than a body may have. What follows
            # the end is padding or junk.
            while self._inflate is not None and not (self.is_enough or self._inflate.eof):
                try:
                    piece = self._inflate.decompress(raw, _PIECE)
                except zlib.error:
                    self.defect = "its compressed data is damaged"
                    return
                self._received += piece
                raw = self._inflate.unconsumed_tail
                if not raw and len(piece) < _PIECE:
                    break
            if len(self._received) > self._longest and not self._is_error:
                self.defect = f"it is larger than {self._longest // 1024 // 1024} MiB"
                del self._received[LONGEST_ERROR_BODY:]  # an error shows only the beginning

    def finish(self) -> None:
        """Note that the last chunk was fed."""
        if self._inflate is not None and not (self.is_enough or self._inflate.eof):
            self.defect = "its compressed data is truncated"
