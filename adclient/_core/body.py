"""The body of a response, decoded and bounded while it is read."""

import zlib

LONGEST_BODY = 64 * 1024 * 1024
LONGEST_ERROR_BODY = 64 * 1024
_PIECE = 64 * 1024
_KEPT = 1024 * 1024  # of a body that is too large; a draft's id is near the beginning

_GZIP = zlib.MAX_WBITS | 16


class Body:
    """Collects the raw chunks of a body, and decompresses them.

    `defect` is the reason why the body cannot be used; the rest need not be read then.
    """

    def __init__(self, status: int, coding: str) -> None:
        self._is_error = status >= 400
        self._longest = LONGEST_ERROR_BODY if self._is_error else LONGEST_BODY
        self._received = bytearray()
        self._behind = b""  # the first bytes behind a member, perhaps half of another's magic
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
            self._take(chunk[start : start + _PIECE])

    def _take(self, chunk: bytes) -> None:
        if self._inflate is None:
            self._received += chunk
        # In pieces: a few kilobytes may decompress to more than a body may have.
        while self._inflate is not None and not self.is_enough:
            if self._inflate.eof:  # what follows is another member, or padding and junk
                chunk = (self._behind + chunk).lstrip(b"\0")
                self._behind = chunk[:2]
                if self._behind != b"\x1f\x8b":
                    break
                self._behind, self._inflate = b"", zlib.decompressobj(_GZIP)
            try:
                piece = self._inflate.decompress(chunk, _PIECE)
            except zlib.error:
                self.defect = "its compressed data is damaged"
                return
            self._received += piece
            chunk = self._inflate.unconsumed_tail or self._inflate.unused_data
            if not chunk and len(piece) < _PIECE:
                break
        if len(self._received) > self._longest and not self._is_error:
            self.defect = f"it is larger than {self._longest // 1024 // 1024} MiB"
            del self._received[_KEPT:]

    def finish(self) -> None:
        """Note that the last chunk was fed."""
        if self._inflate is not None and not (self.is_enough or self._inflate.eof):
            self.defect = "its compressed data is truncated"
