"""Continuation values: where a listing goes on, in one of four shapes."""

import hashlib
from typing import Literal, get_args
from urllib.parse import parse_qsl, quote, urlsplit

from adclient._core import wire
from adclient.models import JSON
from adclient.testing.protocol import Asked, Refusal

Continuation = Literal["text", "number", "url", "object"]
CONTINUATIONS: tuple[str, ...] = get_args(Continuation)

_INVALID = "this continuation does not belong to this listing"


class Cursors:
    """Makes the continuations of listings, and reads them when they come back."""

    def __init__(self, seed: str, shape: Continuation, parameter: str) -> None:
        self._seed = seed
        self._shape = shape
        self._parameter = parameter

    def made(self, asked: Asked, offset: int) -> JSON:
        """The continuation of a listing at an item."""
        number = self._number(asked, offset)
        text = f"{number:012x}"
        if self._shape == "number":
            return number
        if self._shape == "object":
            return {"cursor": text}
        if self._shape == "url":
            return f"{asked.operation.path}?{quote(self._parameter)}={text}"
        return text

    def offset(self, asked: Asked) -> int:
        """The item that a continuation stands for; the first if none came."""
        if asked.cursor is None:
            return 0
        number = self._read(asked.cursor)
        if number is None or number <= 0 or number != self._number(asked, number >> 32):
            raise Refusal(400, "invalid_page", _INVALID)
        return number >> 32

    def _number(self, asked: Asked, offset: int) -> int:
        """The offset, signed so that it fits only this listing with these arguments."""
        name = f"{self._seed}:{asked.operation.full_name}:{offset}"
        arguments = sorted(asked.arguments.items())
        content = name + wire.dumps(dict(arguments), "arguments")
        signature = hashlib.sha256(content.encode()).hexdigest()[:8]
        return offset << 32 | int(signature, 16)

    def _read(self, cursor: JSON) -> int | None:
        if self._shape == "number":
            text, base = str(cursor), 10
        else:
            text, base = self._text(cursor), 16
        try:
            return int(text, base)
        except ValueError:
            return None

    def _text(self, cursor: JSON) -> str:
        if isinstance(cursor, dict):
            cursor = cursor.get("cursor") if self._shape == "object" else None
        if self._shape == "url" and isinstance(cursor, str) and "?" in cursor:
            cursor = dict(parse_qsl(urlsplit(cursor).query)).get(self._parameter)
        return cursor if isinstance(cursor, str) else ""
