"""Inference of shapes: what the values of a field have in common."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set as AbstractSet
from datetime import date, datetime
from decimal import Decimal
from typing import get_args
from urllib.parse import urlsplit

import attrs

from adclient._service.model import JSONType, Shape, TextFormat
from adclient._values.json_values import JSON

_MAX_LEVELS = 6  # of objects and arrays inside each other
_MAX_FIELDS = 200  # of one object
_FEW = 20
_MAX_DIGITS = 40  # of a bound; 1E+1000000 would be written with all of its zeros

_TYPES: dict[type, JSONType] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    Decimal: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}
_FIELD_NAME = re.compile(r"[@$]?[^\W\d][\w-]*")  # such as `foo-bar` or `@type`
_UUID = re.compile("[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


def shapes_of(
    rows: Iterable[JSON], *, keep_texts: bool, ids: Mapping[str, Collection[str]]
) -> dict[str, Shape]:
    """The shape of each field of objects, in the order in which the fields were first seen.

    Args:
        rows: The objects, such as the items of a listing; anything else is skipped.
        keep_texts: Whether shapes have the texts themselves, where these are few.
        ids: The ids of the items of each read, by its name, to recognise references.

    Returns:
        The shapes, by the name of the field; at most 200, and six levels deep.
    """
    inference = _Inference(keep_texts, {read: frozenset(known) for read, known in ids.items()})
    return inference.of_fields(rows, _MAX_LEVELS, own_id="id")


@attrs.frozen
class _Inference:
    keep_texts: bool
    ids: Mapping[str, frozenset[str]]

    def of_fields(
        self, rows: Iterable[JSON], levels: int, own_id: str | None = None
    ) -> dict[str, Shape]:
        """The shapes of the fields of objects; `own_id` is no reference to another item."""
        objects = [row for row in rows if isinstance(row, dict)]
        if own_id is None and _has_data_as_keys(objects):
            return {}
        columns: dict[str, list[JSON]] = {}
        for row in objects:
            for name, value in row.items():
                if not name.isprintable():  # no name of a field; TOML has no lone surrogates
                    continue
                if name in columns or len(columns) < _MAX_FIELDS:
                    columns.setdefault(name, []).append(value)
        shapes: dict[str, Shape] = {}
        for name, values in columns.items():
            shape = self.of_values(values, levels, has_references=name != own_id)
            shapes[name] = attrs.evolve(shape, is_optional=len(values) < len(objects))
        return shapes

    def of_values(self, values: Sequence[JSON], levels: int, has_references: bool = True) -> Shape:
        """The shape of values; that of what is inside them unless there are no levels left."""
        seen = {_TYPES[type(value)] for value in values}
        if "number" in seen:
            seen -= {"integer"}  # which are numbers without decimals
        numbers = [
            Decimal(repr(value)) if isinstance(value, float) else value
            for value in values
            if isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        ]
        texts = [value for value in values if isinstance(value, str)]
        arrays = [value for value in values if isinstance(value, list)]
        elements = [element for array in arrays for element in array]
        lengths = [*map(len, texts), *map(len, arrays)]
        different = dict.fromkeys(texts)  # in the order of the texts, unlike a set
        is_few = len(different) <= _FEW
        reference = self._reference(different.keys()) if has_references else None
        is_kept = self.keep_texts and is_few and reference is None
        return Shape(
            types=tuple(kind for kind in get_args(JSONType) if kind in seen),
            minimum=_bound(min(numbers, default=None)),
            maximum=_bound(max(numbers, default=None)),
            decimals=_most_decimals(numbers) if "number" in seen else None,
            min_length=min(lengths, default=None),
            max_length=max(lengths, default=None),
            format=_format(different.keys()),
            distinct=len(different) if is_few and len(different) < len(texts) else None,
            values=tuple(different) if is_kept else (),
            reference=reference,
            items=self.of_values(elements, levels - 1) if elements and levels > 1 else None,
            properties=self.of_fields(values, levels - 1) if levels > 1 else {},
        )

    def _reference(self, texts: AbstractSet[str]) -> str | None:
        """The first read whose items have all these ids."""
        return next((read for read, ids in self.ids.items() if texts and texts <= ids), None)


def _has_data_as_keys(objects: Sequence[Mapping[str, JSON]]) -> bool:
    """Whether the keys of objects are data, such as people, not the names of fields."""
    keys = [frozenset(each) for each in objects if each]
    if not keys:
        return False
    every, common = frozenset[str]().union(*keys), keys[0].intersection(*keys)
    is_named = all(map(_FIELD_NAME.fullmatch, every))
    return not is_named or not common or len(every - common) > _FEW


def _bound(number: int | Decimal | None) -> int | Decimal | None:
    """A bound, unless it is too long for a file."""
    is_short = number is not None and abs(Decimal(number).adjusted()) < _MAX_DIGITS
    return number if is_short else None


def _most_decimals(numbers: Iterable[int | Decimal]) -> int:
    return min(_MAX_DIGITS, max(map(_decimals, numbers)))


def _decimals(number: int | Decimal) -> int:
    """How many digits a number has after the decimal point; 5.0 has none."""
    if isinstance(number, int) or number == number.to_integral_value():
        return 0
    exponent = number.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def _format(texts: AbstractSet[str]) -> TextFormat | None:
    """The first format that all texts have."""
    return next((name for name, has in _FORMATS.items() if texts and all(map(has, texts))), None)


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_date_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return text[10:11] == "T"


def _is_uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc) and " " not in text


_FORMATS: dict[TextFormat, Callable[[str], bool]] = {
    "date": _is_date,
    "date-time": _is_date_time,
    "uri": _is_uri,
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
    "digits": lambda text: text.isascii() and text.isdecimal(),
}
