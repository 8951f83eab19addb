"""The body of a response, decoded and bounded while it is read."""

import zlib
from typing import Protocol

LONGEST_BODY = 64 * 1024 * 1024
LONGEST_ERROR_BODY = 64 * 1024
_PIECE = 64 * 1024
_KEPT = 1024 * 1024  # of a body that is too large; a draft's id is near the beginning

_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
_RAW_DEFLATE = -zlib.MAX_WBITS
_GZIP = b"\x1f\x8b"


class Inflate(Protocol):
    """A decompressor of zlib, whose class has no public name."""

    @property
    def eof(self) -> bool:
        """True once the end of the compressed data was reached."""
        ...

    @property
    def unused_data(self) -> bytes:
        """The bytes after that end."""
        ...

    @property
    def unconsumed_tail(self) -> bytes:
        """The bytes for which the last chunk had no room."""
        ...

    def decompress(self, data: bytes, max_length: int = 0, /) -> bytes:
        """Decompress a chunk."""
        ...


class Body:
    """Collects the raw chunks of a body, and decompresses them.

    `defect` is the reason why the body cannot be used; the rest need not be read then.
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
            self.defect = f"its content coding {coding[:40]!r} was not requested"

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
            self._take(chunk[start : start + _PIECE])

    def _take(self, chunk: bytes) -> None:
        if self._is_coded:
            try:
                self._decompress(chunk)
            except zlib.error:
                self.defect = "its compressed data is damaged"
        else:
            self._received += chunk
        if len(self._received) > self._longest and not self._is_error:
            self.defect = f"it is larger than {self._longest // 1024 // 1024} MiB"
            del self._received[_KEPT:]

    def finish(self) -> None:
        """Note that the last chunk was fed."""
        if self._is_coded and not self.is_enough and not (self._inflate and self._inflate.eof):
            self.defect = "its compressed data is truncated"

    def _decompress(self, chunk: bytes) -> None:
        if self._inflate is None:
            self._coded_start += chunk
            if len(self._coded_start) < 2:
                return
            chunk = self._coded_start
            # The first two bytes decide: some services send `deflate` without its zlib header.
            is_zlib = chunk[0] & 0x0F == zlib.DEFLATED and (chunk[0] * 256 + chunk[1]) % 31 == 0
            is_raw = not (is_zlib or chunk.startswith(_GZIP))
            self._inflate = zlib.decompressobj(_RAW_DEFLATE if is_raw else _GZIP_OR_ZLIB)
        # gzip may have several members; other bytes after the end are dropped.
        while not self.is_enough and len(self._inflate.unused_data) < len(_GZIP):
            # In pieces: a few kilobytes may decompress to more than a body may have.
            most = min(_PIECE, self._longest + 1 - len(self._received))
            piece = self._inflate.decompress(chunk, most)
            self._received += piece
            if not self._inflate.eof:
                chunk = self._inflate.unconsumed_tail
                if not chunk and len(piece) < most:
                    return
                continue
            chunk = self._inflate.unused_data
            if not chunk.startswith(_GZIP):
                return
            self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB)
