"""The body of a reply: decoded and bounded while it is read."""

import zlib
from typing import Protocol

LONGEST_BODY = 64 * 1024 * 1024
LONGEST_ERROR_BODY = 64 * 1024

_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
_RAW_DEFLATE = -zlib.MAX_WBITS
_GZIP = b"\x1f\x8b"


class Inflate(Protocol):
    """What zlib gives for decompressing; it has no public name there."""

    @property
    def eof(self) -> bool:
        """Whether the end of the data was met."""
        ...

    @property
    def unused_data(self) -> bytes:
        """What came after the end."""
        ...

    def decompress(self, data: bytes, max_length: int = 0, /) -> bytes:
        """Undo the compression of a piece."""
        ...


class Body:
    """Collects the raw chunks of a body and undoes its one content coding.

    `defect` says why the body cannot be used, once that is known; reading on is pointless then.
    """

    def __init__(self, status: int, coding: str) -> None:
        self._is_error = status >= 400
        self._longest = LONGEST_ERROR_BODY if self._is_error else LONGEST_BODY
        self._received = bytearray()
        self._coded_start = b""
        self._inflate: Inflate | None = None
        self.defect: str | None = None
        coding = coding.strip().lower()
        self._is_coded = coding not in ("", "identity")
        if self._is_coded and coding not in ("gzip", "x-gzip", "deflate"):
            self.defect = f"its content coding {coding[:40]!r} was not asked for"

    @property
    def is_enough(self) -> bool:
        """Whether more of the body would not help."""
        return self.defect is not None or len(self._received) > self._longest

    @property
    def content(self) -> bytes:
        """What was received, decoded."""
        return bytes(memoryview(self._received)[: self._longest])

    def feed(self, chunk: bytes) -> None:
        """Take the next raw chunk."""
        if self.defect is not None:
            return
        if self._is_coded:
            self._feed_coded(chunk)
        else:
            self._received += chunk
        if len(self._received) > self._longest and not self._is_error:
            self.defect = f"it is larger than {self._longest // 1024 // 1024} MiB"

    def finish(self) -> None:
        """Say that the last chunk has come."""
        if self._is_coded and not self.is_enough and not (self._inflate and self._inflate.eof):
            self.defect = "its compressed data ends too early"

    def _feed_coded(self, chunk: bytes) -> None:
        if self._inflate is None:
            self._coded_start += chunk
            if len(self._coded_start) < 2:
                return
            self._inflate, chunk = _inflater(self._coded_start), self._coded_start
        try:
            self._decompress(self._inflate, chunk)
        except zlib.error:
            self.defect = "its compressed data is damaged"

    def _decompress(self, inflate: Inflate, chunk: bytes) -> None:
        """Undo the compression. gzip may come in several parts; what follows them is left out."""
        while not self.is_enough and not _is_followed_by_other(inflate):
            room = self._longest + 1 - len(self._received)
            self._received += inflate.decompress(chunk, room)
            chunk = inflate.unused_data
            if not chunk.startswith(_GZIP):
                return
            self._inflate = inflate = zlib.decompressobj(_GZIP_OR_ZLIB)


def _is_followed_by_other(inflate: Inflate) -> bool:
    """Whether something has come after the end that is no further part."""
    return len(inflate.unused_data) >= len(_GZIP)


def _inflater(start: bytes) -> Inflate:
    """A decompressor by the first two bytes: some services send `deflate` without its header."""
    is_gzip = start.startswith(_GZIP)
    is_zlib = start[0] & 0x0F == zlib.DEFLATED and (start[0] * 256 + start[1]) % 31 == 0
    return zlib.decompressobj(_GZIP_OR_ZLIB if is_gzip or is_zlib else _RAW_DEFLATE)
