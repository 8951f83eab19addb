"""Text for errors and logs: short, printable and without credentials."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

LINE = 200
EXCERPT = 2048

_HIDDEN = b"***"
# Shorter ones occur in ordinary text and are no real secrets.
_SHORTEST_SECRET = 4
# Bytes in which escapes are looked at, which is slow; nobody is shown more.
_EXAMINED = 64 * 1024


# A character as a URL, JSON or a `repr`, and HTML escape it; letters perhaps several times.
_ESCAPED = re.compile(
    rb"%(?:25){0,3}([0-9a-f]{2})|\\{1,4}(?:u([0-9a-f]{4})|x([0-9a-f]{2}))|\\([\"'/\\])"
    rb"|&(?:amp;){0,3}(?:#x0{0,5}([0-9a-f]{1,5})|#0{0,5}([0-9]{1,6})|([a-z][a-z0-9]{0,30}));",
    re.IGNORECASE,
)


class Redactor:
    """Replaces secrets in text, also where the beginning of it escapes them for JSON, HTML or a URL.

    A text must be redacted before it is shortened: a part of a secret is not recognized.
    """

    __slots__ = ("_secrets",)

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        plain = {secret.encode() for secret in secrets if len(secret) >= _SHORTEST_SECRET}
        forms = plain | {_ESCAPED.sub(_unescaped, secret) for secret in plain}
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
        """The bytes with `***` for each secret."""
        head, rest = data[:_EXAMINED], data[_EXAMINED:]
        if b"%" in head or b"\\" in head or b"&" in head:
            head = _HIDDEN.join(self._around_escaped(head))
        return self._secrets.sub(_HIDDEN, head + rest)

    def _around_escaped(self, data: bytes) -> Iterator[bytes]:
        """What is before, between and behind the secrets that become visible without escapes."""
        end = 0
        if self._secrets.search(_ESCAPED.sub(_unescaped, data)) is not None:  # which is rare
            # Where the bytes without escapes and those with them begin to correspond again.
            plain, places = bytearray(), [(0, 0)]
            for escape in _ESCAPED.finditer(data):
                plain += data[places[-1][1] : escape.start()]
                places.append((len(plain), escape.start()))
                plain += _unescaped(escape)
                places.append((len(plain), escape.end()))
            plain += data[places[-1][1] :]
            for secret in self._secrets.finditer(plain):
                near = (places[bisect_right(places, (i, len(data))) - 1] for i in secret.span())
                (start, at), (stop, behind) = near
                yield data[end : at + secret.start() - start]
                end = behind + secret.end() - stop
        yield data[end:]


def _unescaped(escape: re.Match[bytes]) -> bytes:
    in_url, in_json, in_repr, symbol, hexadecimal, decimal, name = escape.groups()
    if in_url is not None:
        return bytes.fromhex(in_url.decode())
    if symbol is not None:
        return symbol
    if name is not None:
        from html.entities import html5  # deferred: only web pages have names

        return html5.get(f"{name.decode()};", escape[0].decode()).encode()
    code = int(decimal) if decimal else int(in_json or in_repr or hexadecimal, 16)
    return chr(code).encode("utf-8", "surrogatepass")


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
