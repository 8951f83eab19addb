"""Text for errors and logs: short, printable and without credentials."""

import re
from collections.abc import Iterable
from urllib.parse import unquote

LINE = 200
EXCERPT = 2048

_HIDDEN = b"***"
# Shorter ones occur in ordinary text and are no real secrets.
_SHORTEST_SECRET = 4
# Bytes in which escapes are looked at, which is slow; nobody is shown more.
_EXAMINED = 64 * 1024


# A character as JSON or a `repr` escapes it.
_ESCAPED = re.compile(r"""\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(["'/\\]))""")


class Redactor:
    """Replaces secrets in text, also where they are escaped for JSON, HTML or a URL.

    A text must be redacted before it is shortened: a part of a secret is not recognized.
    """

    __slots__ = ("_secrets",)

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        plain = {secret.encode() for secret in secrets if len(secret) >= _SHORTEST_SECRET}
        forms = plain | set(map(_unescaped, plain))
        # The longest first: one secret may contain another.
        pattern = b"|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
        self._secrets = re.compile(pattern or b"(?!)")

    def may_find(self, text: str) -> bool:
        """Check if a text contains a secret."""
        return self.redact(text) is not text

    def redact(self, text: str) -> str:
        """The text with `***` for each secret."""
        data = text.encode("utf-8", "surrogatepass")
        redacted = self.redact_bytes(data)
        return text if redacted == data else redacted.decode("utf-8", "surrogatepass")

    def redact_bytes(self, data: bytes) -> bytes:
        """The bytes with `***` for each secret; also without escapes, if they hide one."""
        data = self._secrets.sub(_HIDDEN, data)
        plain = head = data[:_EXAMINED]
        for _ in range(2):  # such as JSON within JSON
            plain, count = self._secrets.subn(_HIDDEN, _unescaped(plain))
            head = plain if count else head
        return head + data[_EXAMINED:]


def _unescaped(data: bytes) -> bytes:
    """A text without the escapes of JSON, HTML and URLs."""
    if not (b"\\" in data or b"%" in data or b"&" in data):
        return data
    from html import unescape  # deferred: slow to import

    text = data.decode("utf-8", "surrogateescape")
    text = _ESCAPED.sub(lambda escape: escape[3] or chr(int(escape[1] or escape[2], 16)), text)
    return unescape(unquote(text)).encode("utf-8", "surrogatepass")


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
