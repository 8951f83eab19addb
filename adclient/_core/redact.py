"""Text for errors and logs: short, printable and without credentials."""

import re
from collections.abc import Iterable
from functools import lru_cache

LINE = 200
EXCERPT = 2048

_HIDDEN = b"***"
# Shorter ones occur in ordinary text and are no real secrets.
_SHORTEST_SECRET = 4
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


class Redactor:
    """Replaces secrets in text, also where a response repeats them in an escaped form."""

    __slots__ = ("_secrets",)

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # Every escaped form contains the longest word; searching for it is cheaper than a pattern.
        self._secrets: list[tuple[str, str]] = [
            (secret, max(re.findall(r"[A-Za-z0-9]+", secret), key=len, default=""))
            for secret in secrets
            if len(secret) >= _SHORTEST_SECRET
        ]

    def may_find(self, text: str) -> bool:
        """Check quickly if a text may contain a secret."""
        for secret, word in self._secrets:
            if word in text or secret[:_SHORTEST_SECRET] in text:
                return True
        return False

    def redact(self, text: str) -> str:
        """The text with `***` for each secret."""
        if not self.may_find(text):
            return text
        whole = text.removesuffix("…")  # a truncated line may end in a part of a secret
        redacted = self.redact_bytes(whole.encode(errors="surrogatepass"))
        return redacted.decode(errors="surrogatepass") + text[len(whole) :]

    def redact_bytes(self, data: bytes) -> bytes:
        """The bytes with `***` for each secret, also for one that is cut off at the end."""
        for secret, word in self._secrets:
            if word.encode() in data:
                data = _pattern(secret).sub(_HIDDEN, data)
            data = _without_truncated(secret.encode(), data)
        return data


@lru_cache(maxsize=16)
def _pattern(secret: str) -> re.Pattern[bytes]:
    """A pattern for a secret, plain or escaped as in JSON, HTML or a URL."""

    def coded(char: str) -> str:
        # The backslashes are bounded because a long run of them would take quadratic time.
        code = ord(char)
        return rf"(?i:\\{{1,8}}u{code:04x}|%{code:02x}|&#x0*{code:x};|&#0*{code};)"

    def forms(part: re.Match[str]) -> str:
        """Match a run of backslashes, or a character after one, in exactly one way.

        An ambiguous pattern could backtrack exponentially.
        """
        run, char = len(part[1]), part[2]
        if not run and char.isalnum():
            return char
        backslash = rf"(?:{coded(chr(92))}|\\)" if run else r"\\"
        if not char:
            return rf"{backslash}{{{run},{2 * run}}}"
        entity = f"{_ENTITIES[char]}|" if char in _ENTITIES else ""
        plain = rf"{backslash}{{{run},{2 * run + 8}}}{re.escape(char)}"
        if not run:
            return rf"(?:{coded(char)}|{entity}{plain})"
        # The longer one first: `&` and `%` also begin their own escapes.
        return rf"(?:{backslash}{{{run},{2 * run}}}(?:{entity}{coded(char)})|{plain})"

    return re.compile(re.sub(r"(\\*)([^\\]?)", forms, secret).encode())


def _without_truncated(secret: bytes, data: bytes) -> bytes:
    """Redact the beginning of a secret that is cut off at the end of the data."""
    for length in range(len(secret), _SHORTEST_SECRET - 1, -1):
        if data.endswith(secret[:length]):
            return data[:-length] + _HIDDEN
    return data


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
