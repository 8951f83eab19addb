"""Items that have given shapes: values within the ranges that were seen, and invented texts."""

import itertools
import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import cycle, islice
from typing import TypeVar
from uuid import NAMESPACE_URL, uuid5

import attrs

from adclient._service.model import JSONType, Shape, Shapes
from adclient._values.json_values import JSON

T = TypeVar("T")
Row = dict[str, JSON]
Ids = Mapping[str, Sequence[str]]

_NO_IDS: Ids = {}
_FIRST_TIME = datetime(2026, 1, 1, 9, 30)
# What may follow the seconds of a time, by its length.
_ZONES = {len(zone): zone for zone in ("", "Z", ".000Z", "+00:00", ".000000Z", ".000+00:00")}
_PROSE = " of the early spring, and more"
_NAME_OF_ID = re.compile("(.*?)_?(?:id|Id|ID)")
_HUMP = re.compile("(?<=[a-z])[A-Z]")
_OF_PAGES = {"has", "is", "next", "last", "page"}
_CODE = "_ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def ids_of(shape: Shape, kind: str, count: int) -> list[str]:
    """The ids of items, all different, such as `campaign_9e37`."""
    known = shape.values[:count]
    made = (_id(kind, shape, number) for number in itertools.count(1))
    return [*known, *islice((text for text in made if text not in known), count - len(known))]


def rows_of(
    shapes: Shapes, count: int, seed: str, kind: str = "item", ids: Ids = _NO_IDS
) -> list[Row]:
    """Objects with the shapes of a listing's items; the same arguments give the same objects.

    Args:
        shapes: The shape of each field.
        count: How many objects to make.
        seed: Determines what is left to chance.
        kind: What the objects are, for their names.
        ids: The ids of the items of each read, for references.

    Returns:
        The objects. As far as `count` allows, each field has all its types, is null and missing
        where it may be, and reaches the ends of its range.
    """
    chance = random.Random(f"{seed}:{kind}:{count}")  # noqa: S311 (no secret)
    return _Generator(kind, chance, ids).objects(shapes, count)


def invented(shapes: Shapes, seed: str, total: int, size: int, *, is_last: bool) -> Row:
    """What is beside the items of a page; totals, and whether there is more, are true.

    A field that may be null or missing is so on the last page.
    """
    kept = {name: shape for name, shape in shapes.items() if not (is_last and shape.is_optional)}
    (row,) = rows_of(kept, 1, seed)

    def true(name: str, value: JSON) -> JSON:
        words = set(re.findall("[a-z]+", _HUMP.sub(r"_\g<0>", name).lower()))
        if isinstance(value, dict):
            return {key: true(key, inner) for key, inner in value.items()}
        if isinstance(value, bool) and ("more" in words or words <= _OF_PAGES):
            return is_last if "last" in words else not is_last
        if isinstance(value, int) and not isinstance(value, bool) and words & {"total", "count"}:
            return math.ceil(total / size) if words & {"page", "pages"} else total
        return None if is_last and "null" in shapes.get(name, Shape()).types else value

    return {name: true(name, value) for name, value in row.items()}


@attrs.frozen
class _Generator:
    """Makes values field by field, so that the values of each differ as those seen did."""

    kind: str
    chance: random.Random
    ids: Ids

    def objects(self, shapes: Shapes, count: int) -> list[Row]:
        rows: list[Row] = [{} for _ in range(count)]
        for name, shape in shapes.items():
            is_there = self._mixed([True, False] if shape.is_optional else [True], count)
            present = [row for row, chosen in zip(rows, is_there, strict=True) if chosen]
            for row, value in zip(present, self.values(name, shape, len(present)), strict=True):
                row[name] = value
        return rows

    def values(self, name: str, shape: Shape, count: int) -> list[JSON]:
        """Values of one field."""
        types: Sequence[JSONType] = shape.types or ("null",)
        chosen = self._mixed(types, count)
        made = {
            kind: iter(self._of_type(kind, name, shape, chosen.count(kind)))
            for kind in dict.fromkeys(chosen)
        }
        return [next(made[kind]) for kind in chosen]

    def _mixed(self, options: Sequence[T], count: int) -> list[T]:
        """Options in any order: each once if there is room, and the first most often."""
        rest = self.chance.choices(options, [2 * len(options), *[1] * (len(options) - 1)], k=count)
        mixed = [*options, *rest][:count]
        self.chance.shuffle(mixed)
        return mixed

    def _of_type(self, kind: JSONType, name: str, shape: Shape, count: int) -> Sequence[JSON]:
        match kind:
            case "boolean":
                return self._mixed([True, False], count)
            case "integer" | "number":
                return self._numbers(kind, shape, count)
            case "string":
                return self._texts(name, shape, count)
            case "array":
                return self._arrays(name, shape, count)
            case "object":
                return self.objects(shape.properties, count)
            case _:  # "null"
                return [None] * count

    def _between(self, low: T, high: T, count: int, draw: Callable[[], T]) -> list[T]:
        """Both ends of a range, then what is drawn from it, in any order."""
        values = [low, high][:count] + [draw() for _ in range(count - 2)]
        self.chance.shuffle(values)
        return values

    def _numbers(self, kind: JSONType, shape: Shape, count: int) -> Sequence[JSON]:
        low = shape.minimum if shape.minimum is not None else min(0, shape.maximum or 0)
        high = max(low, shape.maximum if shape.maximum is not None else low + 1000)
        if kind == "integer":
            first = math.ceil(low)
            last = max(first, math.floor(high))
            return self._between(first, last, count, lambda: self.chance.randint(first, last))
        ends = float(Decimal(low)), float(Decimal(high))
        places = 2 if shape.decimals is None else shape.decimals

        def draw() -> JSON:
            value = round(self.chance.uniform(*ends), places)
            return value if low <= value <= high else _number(low)

        return self._between(_number(low), _number(high), count, draw)

    def _arrays(self, name: str, shape: Shape, count: int) -> Sequence[JSON]:
        items = shape.items
        if items is None:
            return [[] for _ in range(count)]
        low = shape.min_length or 0
        high = max(low, 3 if shape.max_length is None else shape.max_length)
        lengths = self._between(low, high, count, lambda: self.chance.randint(low, high))
        elements = iter(self.values(name, items, sum(lengths)))
        return [list(islice(elements, length)) for length in lengths]

    def _texts(self, name: str, shape: Shape, count: int) -> Sequence[JSON]:
        """Texts of one field; where few were seen, few are made and used again."""
        different = min(count, shape.distinct or count)
        known = list(shape.values[:different])
        if shape.reference is not None and (ids := self.ids.get(shape.reference)):
            known = self._mixed(ids, different)
        made = [self._text(name, shape, number) for number in range(len(known) + 1, different + 1)]
        pool = [*known, *made]
        return [*pool, *self.chance.choices(pool, k=count - different)] if pool else []

    def _text(self, name: str, shape: Shape, number: int) -> str:
        """An invented text; the same number of the same field is always the same text."""
        text, filler = f"{name.upper()}_{number}", _CODE
        if name == "status":
            return "ENABLED" if number == 1 else text
        if match := _NAME_OF_ID.fullmatch(name):
            return _id(match[1] or self.kind, shape, number)
        if shape.format == "digits":
            text = str(number)
        elif shape.distinct is None:
            words = (self.kind if name == "name" else name).replace("_", " ").capitalize()
            text, filler = f"{words} {number}", _PROSE
        # The first two have the extreme lengths; the others are as short as is readable.
        length = {1: shape.min_length, 2: shape.max_length}.get(number)
        if length is None:
            most = len(text) if shape.max_length is None else shape.max_length
            length = max(shape.min_length or 0, min(len(text), most))
        if shape.format is not None:
            return _in_format(shape, name, number, length)
        return _fitted(text, filler, length)


def _number(value: int | Decimal) -> JSON:
    """A number as a float, or as a decimal if a float would lose digits."""
    close = float(Decimal(value))
    return close if Decimal(repr(close)) == value else Decimal(value)


def _fitted(text: str, filler: str, length: int) -> str:
    """A text that is cut, from its front, or filled up to a length."""
    if len(text) > length:
        return text[len(text) - length :].strip(" _").rjust(length, "0")
    filled = text + "".join(islice(cycle(filler), length - len(text)))
    return filled.rstrip(" _").ljust(length, "s")


def _id(kind: str, shape: Shape, number: int) -> str:
    """An id of a kind of items, with as much of the kind as there is room for."""
    least, most = shape.min_length or 0, shape.max_length or 100
    if shape.format is not None:
        return _in_format(shape, kind, number, least or 4)
    prefix = f"{kind[: most - 5]}_" if most > 5 else ""
    digits = max(min(4, most), least - len(prefix), len(f"{number:x}"))
    # An odd factor, so that different numbers stay different.
    return f"{prefix}{number * 0x9E37 % 16**digits:0{digits}x}"


def _in_format(shape: Shape, name: str, number: int, length: int) -> str:
    """A text in the format of a shape."""
    match shape.format:
        case "date":
            return (_FIRST_TIME + timedelta(days=number)).date().isoformat()
        case "date-time":
            time = (_FIRST_TIME + timedelta(hours=number)).isoformat()
            return time + _ZONES.get((shape.max_length or 0) - len(time), "Z")
        case "uuid":
            return str(uuid5(NAMESPACE_URL, f"{name}:{number}"))
        case "uri":
            host = "".join(filter(str.isalnum, name.lower())) or "a"
            return f"https://{host}.example/{number}".ljust(length, "0")
        case _:
            return str(number + 10 ** max(0, length - 1))
