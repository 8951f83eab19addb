"""Text for errors and logs: short, printable and without credentials."""

import re
from collections.abc import Iterable

LINE = 200
EXCERPT = 2048

_HIDDEN = "***"
# Shorter ones occur in ordinary text and are no real secrets.
_SHORTEST_SECRET = 4


class Redactor:
    """Replaces secrets in text, also where a response repeats them in JSON or in a URL.

    A text must be redacted before it is shortened: a part of a secret is not recognized.
    """

    __slots__ = ("_in_bytes", "_in_text")

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        long_enough = {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}
        # The longest first: one secret may contain another.
        patterns = ("".join(map(_forms_of, s)) for s in sorted(long_enough, key=len, reverse=True))
        pattern = "|".join(patterns) or "(?!)"
        self._in_text, self._in_bytes = re.compile(pattern), re.compile(pattern.encode())

    def may_find(self, text: str) -> bool:
        """Check if a text contains a secret."""
        return self._in_text.search(text) is not None

    def redact(self, text: str) -> str:
        """The text with `***` for each secret."""
        return self._in_text.sub(_HIDDEN, text)

    def redact_bytes(self, data: bytes) -> bytes:
        """The bytes with `***` for each secret."""
        return self._in_bytes.sub(_HIDDEN.encode(), data)


def _forms_of(char: str) -> str:
    """A pattern for a character as it is, in JSON, in a `repr` and in a URL."""
    if char.isascii() and char.isalnum():
        return char
    in_url = "".join(f"%{byte:02x}" for byte in char.encode())
    forms = f"\\{char}", f"\\u{ord(char):04x}", in_url, char
    return f"(?i:{'|'.join(map(re.escape, forms))})"


def one_line(text: str, limit: int = LINE) -> str:
    """The text as one printable line of at most `limit` characters; its blanks stay."""
    line = text[: 4 * limit].strip()
    if not line.isprintable():
        pieces = "".join(char if char.isprintable() else "\n" for char in line).split("\n")
        line = " ".join(piece for part in pieces if (piece := part.strip()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def excerpt(body: bytes) -> str:
    """The first kilobytes of a body as text."""
    return body[:EXCERPT].decode("utf-8", errors="replace")
