"""Items as plain Python values, by field, with strings that a table can hold."""

import json
from collections.abc import Mapping, Sequence
from itertools import chain

from adclient import models
from adclient._values import jsontext
from adclient._values.json_values import as_json, as_mapping, plain, walks
from adclient._values.text import short
from adclient.models import Item

Row = Mapping[str, object]

# Their fields are JSON values only.
OURS = {cls for cls in vars(models).values() if isinstance(cls, type) and issubclass(cls, Item)}

ACCOUNT = "account_id"  # the column of the account that items were read from

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


@walks
def record(item: object) -> dict[str, object]:
    """The fields of an item, as copies: of a class of the caller, all that it declares."""
    if isinstance(item, Item) and type(item) in OURS:
        return {**item.to_dict()}
    fields = dict(as_mapping(item))
    if isinstance(item, Item):
        del fields["extra"]
        fields |= {name: value for name, value in item.extra.items() if name not in fields}
    return {name: plain(value) for name, value in fields.items()}


def row_of(item: Item) -> dict[str, object]:
    """The fields of an item for a row, in which those of the interface are never missing."""
    return {"id": item.id, "name": item.name, "status": item.status, **item.to_dict()}


def by_name(rows: Sequence[Row]) -> dict[str, list[object]]:
    """The values of each field; None where a row does not have it."""
    names = dict.fromkeys(chain.from_iterable(rows))
    return {name: [row.get(name) for row in rows] for name in names}


def encodable(text: str) -> str:
    """A text without lone surrogates, which UTF-8 cannot encode: they become escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@walks
def json_text(value: object) -> str:
    """The whole value as JSON text; a short text if it contains what is not JSON."""
    try:
        return encodable(_encode(value))
    except (TypeError, ValueError):  # a decimal, or an object of the caller's
        pass
    try:
        return jsontext.dumps(as_json(value), "value", errors="backslashreplace")
    except jsontext.JSONError:
        return short(value)
