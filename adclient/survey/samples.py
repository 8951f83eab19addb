"""What a service file keeps of items: the types of their fields, and rows with invented values.

Equal values are equal again, in every listing. Numbers are multiplied by one factor and dates moved
by some weeks, so that sums, order and weekdays stay.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal, localcontext
from hashlib import sha256
from itertools import count
from typing import get_args

import attrs

from adclient._service.model import JSONType, Listing, Row, Shape, Shapes
from adclient._values.json_values import JSON
from adclient._values.jsontext import dumps

_MAX_LEVELS = 6  # of objects and arrays inside each other
_MAX_FIELDS = 200  # of one object
_MAX_KEYS = 20  # that only some objects have; more are data, such as people
_MAX_ROWS = 20
_MAX_ELEMENTS = 10  # of an array
_MAX_DIGITS = 40  # 1E+1000000 would be written with all of its zeros

_CLASSES = (bool, int, float, str, list, dict, type(None))
_TYPES: dict[type, JSONType] = dict(zip(_CLASSES, get_args(JSONType), strict=True))
_TYPES[Decimal] = "number"
_FIELD_NAME = re.compile(r"[@$]?[^\W\d][\w-]*")  # such as `foo-bar` or `@type`
_ID = re.compile(r"(?:(.*)[_\W])?ids?|(.*?)I[dD]s?")
_CODE = re.compile('"(?=[A-Z0-9_]{2,30}")([A-Z]{2,}(?:_[A-Z0-9]+)*)"(?!:)')  # in JSON
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?")
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)((?:[T ][\d:.,]+(?:Z|[+-][\d:]+)?)?)", re.ASCII)
_UUID = re.compile("[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


def shapes_of(rows: Iterable[JSON], levels: int = _MAX_LEVELS) -> dict[str, Shape]:
    """The shape of each field of objects, in the order in which the fields were first seen."""
    objects = [row for row in rows if isinstance(row, dict)]
    columns: dict[str, list[JSON]] = {}
    for row in objects:
        for name, value in row.items():
            # Others are no names of fields; TOML has no lone surrogates.
            if name.isprintable() and (name in columns or len(columns) < _MAX_FIELDS):
                columns.setdefault(name, []).append(value)
    return {
        name: attrs.evolve(_shape_of(values, levels), is_optional=len(values) < len(objects))
        for name, values in columns.items()
    }


def _shape_of(values: Sequence[JSON], levels: int) -> Shape:
    """The shape of values, and of what is inside them unless there are no levels left."""
    seen = {_TYPES[type(value)] for value in values}
    if "number" in seen:
        seen -= {"integer"}  # which are numbers without decimals
    objects = [value for value in values if isinstance(value, dict)]
    elements = [each for value in values if isinstance(value, list) for each in value]
    has_fields = levels > 1 and not _has_data_as_keys(objects)
    return Shape(
        types=tuple(kind for kind in get_args(JSONType) if kind in seen),
        items=_shape_of(elements, levels - 1) if elements and levels > 1 else None,
        properties=shapes_of(objects, levels - 1) if has_fields else {},
    )


def _has_data_as_keys(objects: Sequence[Mapping[str, JSON]]) -> bool:
    """Whether the keys of objects are data, such as people, not the names of fields."""
    keys = [frozenset(each) for each in objects if each]
    every = frozenset[str]().union(*keys)
    common = every.intersection(*keys)
    is_named = all(map(_FIELD_NAME.fullmatch, every))
    return not is_named or (bool(every) and not common) or len(every - common) > _MAX_KEYS


@attrs.frozen(kw_only=True)
class Received:
    """What was received of a listing: its items, and what was beside those of each page."""

    listing: Listing
    items: Sequence[JSON]
    pages: Sequence[Row]


def described(
    received: Mapping[str, Received], accounts: Iterable[str], *, keep_texts: bool
) -> dict[str, Listing]:
    """The listings with their fields and some rows, in which only the accounts are not invented."""
    inventor = _Inventor([item for each in received.values() for item in each.items], accounts)
    kinds = {read: read.partition("_")[2].removesuffix("s") for read in received}
    for read, each in received.items():  # first: an id has the kind of its own listing
        for item in each.items:
            if isinstance(item, dict) and isinstance(item_id := item.get("id"), str):
                inventor.id(kinds[read], item_id)
    listings: dict[str, Listing] = {}
    for read, each in received.items():
        fields, beside = shapes_of(each.items), shapes_of(each.pages)
        page = shapes_of(own["page"] for own in each.pages)
        beside["page"] = Shape(properties=page)
        rows = _sampled(each.items, fields, inventor.codes)
        pages = [*each.pages[:1], *each.pages[1:][-1:]]
        if not keep_texts:
            rows = [inventor.row(kinds[read], row, fields) for row in rows]
            pages = [inventor.row("page", page, beside) for page in pages]
        del beside["page"]
        listings[read] = attrs.evolve(
            each.listing,
            rows=tuple(rows),
            pages=tuple(pages) if page or beside else (),
            item=fields,
            page=page,
            extra=beside,
        )
    return listings


def _sampled(items: Sequence[JSON], fields: Shapes, codes: frozenset[str]) -> list[Row]:
    """Some rows that have, together, what was seen in the fields."""
    rows = [row for row in items if isinstance(row, dict)]
    seen: set[str] = set()
    new: list[int] = []
    for number, row in enumerate(rows):
        traits = {*_traits(row, Shape(properties=fields), codes)}
        if traits - seen:
            new.append(number)
            seen |= traits
    chosen = list(dict.fromkeys([*new, *range(len(rows))]))[:_MAX_ROWS]
    return [rows[number] for number in sorted(chosen)]


def _traits(value: JSON, shape: Shape, codes: frozenset[str], path: str = "") -> Iterator[str]:
    """What a value shows: its type or a text that is kept, and the fields that it has or lacks."""
    yield f"{path}: {value if isinstance(value, str) and value in codes else _TYPES[type(value)]}"
    if isinstance(value, dict):
        for name, inner in shape.properties.items():
            place = f"{path}.{name}"
            yield from _traits(value[name], inner, codes, place) if name in value else [place]
    elif isinstance(value, list) and shape.items is not None:
        for each in value[:_MAX_ELEMENTS]:
            yield from _traits(each, shape.items, codes, f"{path}[]")


class _Inventor:
    """Puts others in the place of private values."""

    def __init__(self, items: Sequence[JSON], accounts: Iterable[str]) -> None:
        text = dumps(items, "items", errors="backslashreplace")
        times = Counter(_CODE.findall(text))
        self.codes = frozenset(code for code in times if times[code] > 1)
        # The same items give the same file, which does not tell what they were.
        chance = int(sha256(text.encode()).hexdigest(), 16)
        self._factor = Decimal(500 + chance % 400) / 1000  # below 1, so that percentages stay so
        self._moved = timedelta(weeks=4 + chance % 49)
        self._real = set(_TEXT.findall(text))
        self._texts = {known: known for known in ("", *accounts)}
        self._series: dict[str, Iterator[int]] = {}

    def row(self, kind: str, row: Row, fields: Shapes) -> Row:
        """A row with invented values in its fields; it is one of a kind, such as `campaign`."""
        return {k: self._value(kind, k, v, fields[k]) for k, v in row.items() if k in fields}

    def id(self, kind: str, text: str) -> str:
        """An id for another one: of digits, a UUID, or the kind and a number."""
        if re.fullmatch("[0-9]{1,40}", text):
            return self._invented(text, "digits", lambda n: f"{10 ** (len(text) - 1) + n}")
        if _UUID.fullmatch(text):
            return self._invented(text, "UUID", lambda n: f"00000000-0000-4000-8000-{n:012}")
        return self._invented(text, kind, lambda n: f"{kind}_{n}")

    def _invented(self, text: str, series: str, made: Callable[[int], str]) -> str:
        """The next text of a series that is none of the service's own, from now on for this one."""
        if text not in self._texts:
            numbers = self._series.setdefault(series, count(1))
            self._texts[text] = next(new for n in numbers if (new := made(n)) not in self._real)
        return self._texts[text]

    def _value(self, kind: str, name: str, value: JSON, shape: Shape) -> JSON:
        match value:
            case dict():
                return self.row(name, value, shape.properties)
            case list():
                inner, some = shape.items, value[:_MAX_ELEMENTS]
                return [] if inner is None else [self._value(kind, name, v, inner) for v in some]
            case str():
                return self._text(kind, name, value)
            case bool() | None:
                return value
            case _:
                return self._number(kind, name, value)

    def _number(self, kind: str, name: str, value: int | float | Decimal) -> JSON:
        exact = Decimal(str(value))
        if max(abs(exact.adjusted()), len(exact.as_tuple().digits)) > _MAX_DIGITS:
            return 0 if isinstance(value, int) else 0.5
        if isinstance(value, int) and _ID.fullmatch(name):
            return int(self.id(kind, str(abs(value))))
        return type(value)(self._scaled(exact))

    def _text(self, kind: str, name: str, text: str) -> str:
        if text in self._texts:
            return self._texts[text]
        if (match := _ID.fullmatch(name)) or _UUID.fullmatch(text):
            return self.id((match and (match[1] or match[2])) or kind, text)
        if text in self.codes:
            return text
        if _NUMBER.fullmatch(text):
            return f"{self._scaled(Decimal(text)):f}".zfill(len(text))
        if match := _DATE.fullmatch(text):
            try:
                return f"{date.fromisoformat(match[1]) - self._moved}{match[2]}"
            except (ValueError, OverflowError):
                pass  # it is no date
        words = re.sub(r"[\W_]+", " ", kind if name == "name" else name).strip() or "text"
        form = f"{words.capitalize()} "
        if "://" in text:
            form = f"https://{words.replace(' ', '-').lower()}.example/"
        elif text.isupper():
            form = f"{words.replace(' ', '_').upper()}_"
        return self._invented(text, form, lambda n: f"{form}{n}")

    def _scaled(self, number: Decimal) -> Decimal:
        """A number by the factor, with as many decimals; only 0 becomes 0."""
        unit = Decimal(1).scaleb(min(0, int(number.as_tuple().exponent)))
        with localcontext(prec=4 * _MAX_DIGITS):
            scaled = (number * self._factor).quantize(unit)
        return scaled if scaled or not number else unit.copy_sign(number)
