"""Text for errors and logs: short, printable and without credentials."""

import json
from collections.abc import Iterable
from urllib.parse import quote

LINE = 200
EXCERPT = 2048

_HIDDEN = "***"
# Shorter ones occur in ordinary text and are no real secrets.
_SHORTEST_SECRET = 4


class Redactor:
    """Replaces secrets in text, also where a response repeats them in JSON or in a URL.

    A text must be redacted before it is shortened: a part of a secret is not recognized.
    """

    __slots__ = ("_forms",)

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms: set[str] = set()
        for secret in secrets:
            if len(secret) >= _SHORTEST_SECRET:
                in_json = json.dumps(secret)[1:-1]
                # Python's errors quote what is not HTTP by `repr`.
                forms |= {secret, repr(secret)[1:-1], in_json, in_json.replace("/", "\\/")}
                forms |= {quote(secret), quote(secret, safe="")}
        # The longest first: one form may contain another.
        self._forms = sorted(forms, key=len, reverse=True)

    def may_find(self, text: str) -> bool:
        """Check if a text contains a secret."""
        return any(form in text for form in self._forms)

    def redact(self, text: str) -> str:
        """The text with `***` for each secret."""
        for form in self._forms:
            text = text.replace(form, _HIDDEN)
        return text

    def redact_bytes(self, data: bytes) -> bytes:
        """The bytes with `***` for each secret."""
        for form in self._forms:
            data = data.replace(form.encode(), _HIDDEN.encode())
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
