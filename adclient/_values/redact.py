"""Text for errors and logs: short, printable and without credentials."""

import re
from collections.abc import Iterable
from urllib.parse import unquote

from adclient._values.json_values import JSON

LINE = 200
EXCERPT = 2048

_HIDDEN = b"***"
# Shorter ones occur in ordinary text and are no real secrets.
_SHORTEST_SECRET = 4
# Bytes in which escapes are looked at, which is slow; nobody is shown more.
_EXAMINED = 64 * 1024
# A byte of JSON, a `repr` or a URL, a character of JSON or of HTML, or one behind a backslash, each
# perhaps escaped several times. The numbers are bounded, so that none is too large for Python.
_ESCAPE = (
    rb"(?is)[\\%&](?:(?:(?<=%)(?:25)*|(?<=\\)\\*x)([0-9a-f]{2})|(?<=\\)\\*u([0-9a-f]{4})|"
    rb"(?<=&)(?:amp;)*(#0{0,9}[0-9]{1,6};?|#x0{0,9}[0-9a-f]{1,5};?|[a-z][a-z0-9]{1,31};)|"
    rb"(?<=\\)\\*(.?))"
)
_PADDING = b"\xff"  # which UTF-8 never has
# What a header holds by its name, or by its value: a scheme, a JWT, or the user of a URL. Of
# others, only short ones, URLs, and those of words and numbers, such as a version, are no secrets.
_CREDENTIAL_NAME = (
    r"(?i)(.*[-_])?(access|api|auth)?"
    r"(auth|authorization|cookie2?|credentials?|jwt|key|pass|passw(or)?d|pin|secret|session|sid"
    r"|signature|token)"
    r"([-_].*)?"
)
_CREDENTIAL_VALUE = r"(?i)(basic|bearer|token) .+|eyJ[\w-]+\..+|\w+://[^/]+@.*"
_LONGEST_PLAIN = 16
_URL = r"https?://[^?@]*"
# In any of the usual cases, and perhaps numbered; or a number or a time.
_WORD = r"(?!.{31})(([A-Z]*|[A-Z]?[a-z]+([A-Z][a-z]+){0,2})[0-9]{0,2}|[0-9]+([TZ][0-9]*)?)"
# Not `token` or `key` alone, which may be the continuation.
_CREDENTIAL_PARAMETER = (
    r"(?i)((access|auth|bearer|id|oauth|refresh|security|session)[-_.]?token|api[-_.]?key"
    r"|.*(passw(or)?d|secret|signature)|auth(orization)?|credentials?|jwt|session([-_.]?id)?|sig)"
)


class Redactor:
    """Replaces secrets in text, also where they are escaped for JSON, HTML or a URL.

    A text must be redacted before it is shortened: a part of a secret is not recognized.
    """

    __slots__ = ("_secrets",)

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {secret.encode() for secret in secrets}
        forms |= {re.sub(_ESCAPE, _padded, secret).replace(_PADDING, b"") for secret in forms}
        # The longest first: one secret may contain another.
        known = sorted((-len(form), form) for form in forms if len(form) >= _SHORTEST_SECRET)
        self._secrets = re.compile(b"|".join(re.escape(form) for _, form in known) or b"(?!)")

    def redact(self, text: str) -> str:
        """The text with `***` for each secret; itself if it has none."""
        data = text.encode("utf-8", "surrogatepass")
        redacted = self.redact_bytes(data)
        return text if redacted == data else redacted.decode("utf-8", "surrogatepass")

    def redact_bytes(self, data: bytes) -> bytes:
        """The bytes with `***` for each secret, and otherwise as they are."""
        head = data[:_EXAMINED]
        # Those that are escaped most, as in JSON within JSON, come first, and plain ones last:
        # what escapes the first character of a secret belongs to it.
        while spans := self._escaped_in(head, 2):
            shorter = bytearray(head)
            for start, end in reversed(spans):
                shorter[start:end] = _HIDDEN
            head = bytes(shorter)
        return self._secrets.sub(_HIDDEN, head + data[_EXAMINED:])

    def _escaped_in(self, data: bytes, rounds: int) -> list[tuple[int, int]]:
        """Where secrets are that are escaped at most so many times."""
        # Numbers, which are found much faster than bytes of length one.
        if not (rounds and (b"\\"[0] in data or b"%"[0] in data or b"&"[0] in data)):
            return []
        padded = re.sub(_ESCAPE, _padded, data)
        plain = padded.replace(_PADDING, b"")
        found = self._escaped_in(plain, rounds - 1)
        if not (found := found or [match.span() for match in self._secrets.finditer(plain)]):
            return []
        # Where each byte of `plain` begins in `padded`, and so in `data`.
        starts = [*(at for at, byte in enumerate(padded) if byte != _PADDING[0]), len(data)]
        return [(starts[start], starts[end]) for start, end in found]


def looks_secret(name: str, value: str) -> bool:
    """Check if a header may be a credential."""
    if re.fullmatch(_CREDENTIAL_NAME, name) or re.fullmatch(_CREDENTIAL_VALUE, value):
        return True
    if len(value) <= _LONGEST_PLAIN or re.fullmatch(_URL, value):
        return False
    return not all(re.fullmatch(_WORD, piece) for piece in re.split(r"[\W_]+", value))


def without_secrets(cursor: JSON) -> JSON:
    """A continuation without the credentials that services put into it; a client sends its own."""
    if isinstance(cursor, dict):
        kept = {name: each for name, each in cursor.items() if not _is_secret_parameter(name)}
        return {name: without_secrets(each) for name, each in kept.items()}
    if isinstance(cursor, list):
        return [*map(without_secrets, cursor)]
    if not isinstance(cursor, str) or "?" not in cursor:
        return cursor
    place, _, query = cursor.partition("?")
    pieces = query.split("&")
    left = [piece for piece in pieces if not _is_secret_parameter(piece.partition("=")[0])]
    return cursor if len(left) == len(pieces) else f"{place}?{'&'.join(left)}"


def _is_secret_parameter(name: str) -> bool:
    return re.fullmatch(_CREDENTIAL_PARAMETER, unquote(name)) is not None


def _padded(escape: re.Match[bytes]) -> bytes:
    """The character that an escape stands for, as long as the escape."""
    byte, code, entity, char = escape.groups()
    if byte is not None:
        char = bytes((int(byte, 16),))
    elif char is None:
        from html import unescape  # deferred: slow to import

        char = unescape(f"&{(entity or b'#x' + code).decode()}").encode()
    return char[: len(escape[0])].ljust(len(escape[0]), _PADDING)


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
