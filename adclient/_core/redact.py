"""What may stand in an error or a log line: short, printable, and without credentials."""

import re
from collections.abc import Iterable
from functools import lru_cache

import attrs

LINE = 200
EXCERPT = 2048

_HIDDEN = b"***"
# A shorter one would be found in any text, and keeps nobody out.
_SHORTEST_SECRET = 4
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


@attrs.frozen(repr=False)
class Redactor:
    """Texts that must not be shown, however the answer that repeats them spells them."""

    _texts: tuple[str, ...] = ()
    _searched: tuple[tuple[str, str], ...] = attrs.field(
        init=False,
        default=attrs.Factory(lambda self: _with_their_words(self._texts), takes_self=True),
    )

    def redact(self, text: str) -> str:
        """The text with `***` in their place."""
        if not self._may_be_in(text):
            return text
        whole = text.removesuffix("…")  # a line that was shortened may end in a part of one
        hidden = self.redact_bytes(whole.encode(errors="surrogatepass"))
        return hidden.decode(errors="surrogatepass") + text[len(whole) :]

    def redact_bytes(self, data: bytes) -> bytes:
        """The bytes with `***` in their place, also of one that is cut off at the end."""
        for text, word in self._searched:
            if word.encode() in data:
                data = _spelled(text).sub(_HIDDEN, data)
            data = _without_start_of(text.encode(), data)
        return data

    def _may_be_in(self, text: str) -> bool:
        for secret, word in self._searched:
            if word in text or secret[:_SHORTEST_SECRET] in text:
                return True
        return False


def _with_their_words(texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((text, _longest_word(text)) for text in texts if len(text) >= _SHORTEST_SECRET)


def _longest_word(text: str) -> str:
    """What every spelling of a text holds. To look for it costs little, and a pattern much."""
    return max(re.findall(r"[A-Za-z0-9]+", text), key=len, default="")


@lru_cache(maxsize=16)
def _spelled(text: str) -> re.Pattern[bytes]:
    """A pattern for a text, plain or escaped as in JSON, HTML or a URL."""
    return re.compile("".join(map(_spellings, text)).encode())


def _spellings(char: str) -> str:
    if char.isalnum():
        return char
    # The backslashes are bounded because a long run of them would take quadratic time.
    code = ord(char)
    coded = rf"(?i:\\{{1,8}}u{code:04x}|%{code:02x}|&#x0*{code:x};|&#0*{code};)"
    if char == "\\":
        return rf"(?:{coded}|\\{{1,2}})"
    return rf"(?:{coded}|{_ENTITIES.get(char, re.escape(char))}|\\{{0,8}}{re.escape(char)})"


def _without_start_of(secret: bytes, data: bytes) -> bytes:
    """The bytes without the beginning of a secret that is cut off at their end."""
    head = secret[:_SHORTEST_SECRET]
    start = data.find(head, max(0, len(data) - len(secret)))
    while start >= 0:
        if secret.startswith(data[start:]):
            return data[:start] + _HIDDEN
        start = data.find(head, start + 1)
    return data


def one_line(text: str, limit: int = LINE) -> str:
    """A text as one printable line of bounded length."""
    start = text[: 4 * limit]
    if not start.isprintable():
        start = "".join(char if char.isprintable() else " " for char in start)
    line = " ".join(start.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def excerpt(body: bytes) -> str:
    """The first kilobytes of a body, as text."""
    return body[:EXCERPT].decode("utf-8", errors="replace")
