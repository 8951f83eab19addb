"""The body of a reply: decoded and bounded while it is read."""

import zlib
from collections.abc import Mapping
from typing import Protocol

LONGEST_BODY = 64 * 1024 * 1024
LONGEST_ERROR_BODY = 64 * 1024

_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32


class Inflate(Protocol):
    """What zlib gives for decompressing; it has no public name there."""

    @property
    def eof(self) -> bool:
        """Whether the end of the data was met."""
        ...

    def decompress(self, data: bytes, max_length: int = 0, /) -> bytes:
        """Undo the compression of a piece."""
        ...


class Body:
    """Collects the raw chunks of a body and undoes its one content coding.

    `defect` says why the body cannot be used, once that is known; reading on is pointless then.
    """

    def __init__(self, status: int, headers: Mapping[str, str]) -> None:
        self._is_error = status >= 400
        self._longest = LONGEST_ERROR_BODY if self._is_error else LONGEST_BODY
        self._received = bytearray()
        self._inflate: Inflate | None = None
        self.defect: str | None = None
        coding = headers.get("content-encoding", "identity").strip().lower()
        if coding in ("gzip", "x-gzip", "deflate"):
            self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB)
        elif coding not in ("", "identity"):
            self.defect = f"its content coding {coding[:40]!r} was not asked for"

    @property
    def is_enough(self) -> bool:
        """Whether more of the body would not help."""
        return self.defect is not None or len(self._received) > self._longest

    @property
    def content(self) -> bytes:
        """What was received, decoded."""
        return bytes(self._received[: self._longest])

    def feed(self, chunk: bytes) -> None:
        """Take the next raw chunk."""
        if self._inflate is None:
            self._received += chunk
        else:
            self._feed_coded(self._inflate, chunk)
        if len(self._received) > self._longest and not self._is_error:
            self.defect = f"it is larger than {self._longest // 1024 // 1024} MiB"

    def finish(self) -> None:
        """Say that the last chunk has come."""
        if self._inflate is not None and not self._inflate.eof and self.defect is None:
            self.defect = "its compressed data ends too early"

    def _feed_coded(self, inflate: Inflate, chunk: bytes) -> None:
        room = self._longest + 1 - len(self._received)
        try:
            self._received += inflate.decompress(chunk, room)
        except zlib.error:
            self.defect = "its compressed data is damaged"
