"""Items as plain Python values, by field, with strings that a table can hold."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain
from typing import TypeAlias, cast

from adclient import models
from adclient._core import jsontext
from adclient._display import notebook
from adclient._values.json_values import as_mapping
from adclient.models import Item

Row = Mapping[str, object]

# Their fields are JSON values only.
OURS = {cls for cls in vars(models).values() if isinstance(cls, type) and issubclass(cls, Item)}


def record(item: object) -> dict[str, object]:
    """The fields that an item has, as copies."""
    if isinstance(item, Item) and type(item) in OURS:
        return {**item.to_dict()}
    return fields_of(item)


def fields_of(item: object) -> dict[str, object]:
    """All fields of an item; the values may be shared with it."""
    if isinstance(item, Item) and type(item) in OURS:
        return {"id": item.id, "name": item.name, "status": item.status, **item.extra}
    fields = dict(as_mapping(item))
    if isinstance(item, Item):
        del fields["extra"]
        fields |= {name: value for name, value in item.extra.items() if name not in fields}
    return {name: _plain(value) for name, value in fields.items()}


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if jsontext.is_object(value):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if jsontext.is_array(value):
        return [_plain(inner) for inner in value]
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, cast("Collection[object]", value)), key=repr)
    parts = jsontext.fields_of(value)
    return value if parts is None else _plain(parts)


def by_name(rows: Sequence[Row]) -> dict[str, list[object]]:
    """The values of each field; None where a row does not have it."""
    names = dict.fromkeys(chain.from_iterable(rows))
    return {name: [row.get(name) for row in rows] for name in names}


def encodable(value: object) -> object:
    """A value whose strings are free of lone surrogates, which UTF-8 cannot encode."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if jsontext.is_object(value):
        return {name: encodable(inner) for name, inner in value.items()}
    return [encodable(inner) for inner in value] if jsontext.is_array(value) else value


def encodable_name(name: str) -> str:
    """A column name without lone surrogates, and without NUL, where Arrow's C interface cuts it."""
    return str(encodable(name)).replace("\0", "\\x00")


def json_text(value: object) -> str:
    """The whole value as JSON text; a value that is not JSON as a short text."""
    text: list[str] = []
    waiting = [_pieces(value)]  # instead of recursion: a response may be nested deeply
    while waiting:
        for piece in waiting[-1]:
            if not isinstance(piece, str):
                waiting.append(piece)
                break
            text.append(piece)
        else:
            waiting.pop()
    # Lone surrogates, which a table cannot hold, are escaped as in JSON.
    return "".join(text).encode("utf-8", "backslashreplace").decode()


def _pieces(value: object, *, inside: bool = False) -> Iterator["str | Pieces"]:
    """JSON text in pieces, with the pieces of inner values in between."""
    if jsontext.is_object(value):
        yield "{"
        for index, (name, inner) in enumerate(value.items()):
            yield f"{',' * (index > 0)}{jsontext.quoted(str(name))}:"
            yield _pieces(inner, inside=True)
        yield "}"
    elif jsontext.is_array(value):
        yield "["
        for index, inner in enumerate(value):
            yield "," * (index > 0)
            yield _pieces(inner, inside=True)
        yield "]"
    elif isinstance(value, str):
        yield jsontext.quoted(str.__str__(value))
    else:
        try:
            yield jsontext.dumps(value, "value")
        except jsontext.JSONError:  # an object of the caller's
            text = notebook.short(value)
            yield jsontext.quoted(text) if inside else text


Pieces: TypeAlias = "Iterator[str | Pieces]"
