"""Values as text: one short printable line, or in full. Invisible characters are escaped."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from adclient._values.json_values import JSON, is_array, is_object
from adclient._values.redact import one_line, without_secrets

SHORT = 60
NOTE = 400  # a whole error message
WHOLE = 10**9
_LONGEST, _AROUND = 2500, 120  # of a value in full, and of the part of a longer one
# Patterns are texts, which `re` compiles at the first use: most programs never show a value.
_WORDS = r'"(?!(?i:true|false|null|nan|inf|infinity)")[^\W\d_][\w.-]*(?: [\w.-]+)*"'
_ID = r'(?a)"[\w.:/-]+"'
# Python calls these printable, but they are invisible, so text can be hidden in them.
_INVISIBLE = (
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164"
    "\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def short(value: object, limit: int = SHORT) -> str:
    """A value as one printable line of at most 60 characters, or as many as given."""
    line = ""
    for piece in _pieces(value):
        line += _escaped(piece[: limit + 1])
        if len(line) > limit:
            return line[: limit - 1] + "…"
    return line


def cursor_shown(cursor: JSON) -> str:
    """A `next` for a message: the query of a URL may contain credentials of the service."""
    if isinstance(cursor, str) and "?" in cursor:
        cursor = cursor.partition("?")[0] + "?…"
    shown = without_secrets(cursor)
    return one_line(repr(shown), 80) if isinstance(shown, str) else short(shown, 80)


def short_end(text: str, limit: int = SHORT) -> str:
    """The end of a text, such as a path, as one printable line of at most 60 characters."""
    line = _escaped(text[-limit - 1 :])
    return line if len(line) <= limit else "…" + line[1 - limit :]


def name_of(part: object) -> str:
    """A part of a client, for display: only what is our own has a safe `repr`."""
    cls = type(part)
    return repr(part) if cls.__module__.startswith("adclient.") else cls.__name__


def in_full(value: object) -> str:
    """A value as JSON on one printable line; two different values never look the same.

    A text alone that consists of words, such as ENABLED, is not quoted.
    """
    from unicodedata import is_normalized  # deferred: slow to import

    text = "".join(map(_escaped, _pieces(value, quoted=True)))
    text = text[1:-1] if re.fullmatch(_WORDS, text) else text
    # A letter with an accent may be one character or two, which look the same.
    is_unique = is_normalized("NFC", text)
    return text if is_unique else text.encode("ascii", "backslashreplace").decode("ascii")


def ids_in_full(*ids: object) -> str:
    """Some ids in full, as one text; None is left out."""
    texts = [in_full(each) for each in ids if each is not None]
    # Ids are texts, so those of digits need no quotes.
    plain = (text[1:-1] if re.fullmatch(_ID, text) else text for text in texts)
    return ", ".join(part_of(text, 0) for text in plain)


def pair_in_full(before: object, after: object) -> tuple[str, str]:
    """Two values in full; of very long ones, the part that differs, with a digest of the whole."""
    old, new = in_full(before), in_full(after)
    pairs = enumerate(zip(old, new, strict=False))
    alike = next((place for place, (a, b) in pairs if a != b), min(len(old), len(new)))
    return part_of(old, alike), part_of(new, alike)


def part_of(text: str, place: int, longest: int = _LONGEST) -> str:
    """A text as it is; of a very long one, the part around a place, with a digest of the whole."""
    if len(text) <= longest:
        return text
    start = max(0, place - _AROUND // 4)
    part = f"{'…' * (start > 0)}{text[start : start + _AROUND]}…"
    return f"{part} ({len(text)} characters, {digest(text)})"


def digest(text: str) -> str:
    """What tells a text that is not shown from every other one."""
    from hashlib import sha256  # deferred: slow to import

    return f"SHA-256 {sha256(text.encode()).hexdigest()[:32]}"


def _escaped(text: str) -> str:
    """A text with escapes for characters that are invisible or change the order of others."""
    if text.isprintable() and (text.isascii() or not re.search(_INVISIBLE, text)):
        return text
    return "".join(
        char.encode("unicode_escape").decode("ascii")
        if not char.isprintable() or re.match(_INVISIBLE, char)
        else char
        for char in text
    )


def pieces_of(query: str) -> list[str]:
    """The pieces of a query, for services that split it at `&` only and for others."""
    return [*query.split("&"), *re.split("[&;]", query)]


def decoded(piece: str) -> tuple[str, str]:
    """The name and the value of a piece of a query."""
    name, _, value = piece.replace("+", " ").partition("=")
    return unquote(name), unquote(value)


def _pieces(value: object, *, quoted: bool = False) -> Iterator[str]:
    """The text of a value in pieces, so that no more of it is built than is shown."""
    if is_object(value):
        for index, (name, inner) in enumerate(value.items()):
            yield ", " if index else "{"
            yield from _pieces(name, quoted=quoted)
            yield ": "
            yield from _pieces(inner, quoted=quoted)
        yield "}" if value else "{}"
    elif is_array(value):
        for index, inner in enumerate(value):
            yield ", " if index else "["
            yield from _pieces(inner, quoted=quoted)
        yield "]" if value else "[]"
    elif value is None or isinstance(value, bool):
        yield {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, int) and value.bit_length() > 2000:
        yield hex(value)  # Python refuses to write thousands of digits
    elif quoted and isinstance(value, str):
        from json.encoder import encode_basestring  # deferred: slow to import

        yield encode_basestring(value)
    else:
        yield str(value)
