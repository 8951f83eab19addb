"""What a service file keeps of items: the types of their fields, and rows with invented values.

Equal values are equal again, in every listing. Numbers are multiplied by one factor and dates moved
by some weeks, so that sums, order and weekdays stay.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, timedelta
from decimal import Decimal, localcontext
from hashlib import sha256
from itertools import count
from typing import get_args

import attrs

from adclient._service.model import JSONType, Listing, Row, Shape, Shapes
from adclient._values.json_values import JSON
from adclient._values.jsontext import dumps
from adclient.survey.reading import Reading

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
ID_NAME = re.compile(r"(?:(.*)[_\W])?ids?|(.*?)I[dD]s?")
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
    keys = [frozenset(each) for each in objects if each]
    every = frozenset[str]().union(*keys)
    common = every.intersection(*keys)
    # Otherwise the keys are data, such as people, not the names of fields.
    is_named = all(map(_FIELD_NAME.fullmatch, every)) and len(every - common) <= _MAX_KEYS
    has_fields = levels > 1 and is_named and bool(common or not every)
    return Shape(
        types=tuple(kind for kind in get_args(JSONType) if kind in seen),
        items=_shape_of(elements, levels - 1) if elements and levels > 1 else None,
        properties=shapes_of(objects, levels - 1) if has_fields else {},
    )


def described(readings: Iterable[Reading], accounts: Iterable[str]) -> dict[str, Listing]:
    """The listings with their fields and some rows, in which only the accounts are not invented."""
    items = {each.name: [item for page in each.views for item in page.items] for each in readings}
    inventor = _Inventor([item for own in items.values() for item in own], accounts)
    listings: dict[str, Listing] = {}
    for each in readings:
        own, views = items[each.name], each.views
        kind = each.name.partition("_")[2].removesuffix("s")  # such as `campaign`
        fields = shapes_of(own)
        sample = _sampled(own, fields, inventor.codes)
        # What is beside the items of the first page, and of the last.
        pages = [view.extra for view in (*views[:1], *views[1:][-1:]) if view.extra != {"page": {}}]
        beside = shapes_of(view.extra for view in views)
        sizes = [len(page.items) for page in views if page.end is None]
        listings[each.name] = Listing(
            account_id=each.first.probe.account_id,
            count=len(own),
            is_complete=views[-1].end is not None,
            page_size=max(sizes, default=0) or None,
            next=each.form,
            rows=tuple(inventor.row(kind, row, fields) for row in sample),
            pages=tuple(inventor.row("page", page, beside) for page in pages),
            item=fields,
        )
    return listings


def _sampled(items: Sequence[JSON], fields: Shapes, codes: frozenset[str]) -> list[Row]:
    """Some rows that have, together, the codes and the types that were seen in the fields."""
    rows = [row for row in items if isinstance(row, dict)]
    seen: set[str] = set()
    new: list[int] = []
    for number, row in enumerate(rows):
        found = _CODE.findall(dumps(row, "row", errors="backslashreplace"))
        traits = {*codes.intersection(found), *_traits(row, Shape(properties=fields))}
        if not traits <= seen:
            new.append(number)
            seen |= traits
    chosen = list(dict.fromkeys([*new, *range(len(rows))]))[:_MAX_ROWS]
    return [rows[number] for number in sorted(chosen)]


def _traits(value: JSON, shape: Shape, path: str = "") -> Iterator[str]:
    """The type of a value and of what is in it, and the fields that it lacks."""
    yield f"{path}: {_TYPES[type(value)]}"
    if isinstance(value, dict):
        for name, inner in shape.properties.items():
            place = f"{path}.{name}"
            yield from _traits(value[name], inner, place) if name in value else [place]
    elif isinstance(value, list) and shape.items is not None:
        for each in value[:_MAX_ELEMENTS]:
            yield from _traits(each, shape.items, f"{path}[]")


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

    def _value(self, kind: str, name: str, value: JSON, shape: Shape) -> JSON:
        match value:
            case dict():
                return self.row(name, value, shape.properties)
            case list():
                inner, some = shape.items, value[:_MAX_ELEMENTS]
                return [] if inner is None else [self._value(kind, name, v, inner) for v in some]
            case str():
                return self.text(kind, name, value)
            case bool() | None:
                return value
            case _:
                exact = Decimal(str(value))
                if max(abs(exact.adjusted()), len(exact.as_tuple().digits)) > _MAX_DIGITS:
                    return 0 if isinstance(value, int) else 0.5
                if isinstance(value, int) and ID_NAME.fullmatch(name):
                    return int(self.text(kind, name, str(abs(value))))
                return type(value)(self._scaled(exact))

    def text(self, kind: str, name: str, text: str) -> str:
        """A text for another one, always the same: an id, a number, a date, or some words."""
        if text in self._texts:
            return self._texts[text]
        match, is_uuid = ID_NAME.fullmatch(name), _UUID.fullmatch(text)
        if match and re.fullmatch("[0-9]{1,40}", text):
            return self._next(text, "1", len(text) - 1)
        if is_uuid:
            return self._next(text, "00000000-0000-4000-8000-", 12)
        if match:
            return self._next(text, f"{match[1] or match[2] or kind}_")
        if text in self.codes:
            return text
        if _NUMBER.fullmatch(text):
            return f"{self._scaled(Decimal(text)):f}".zfill(len(text))
        if day := _DATE.fullmatch(text):
            with suppress(ValueError, OverflowError):  # it is no date
                return f"{date.fromisoformat(day[1]) - self._moved}{day[2]}"
        words = re.sub(r"[\W_]+", " ", kind if name == "name" else name).strip() or "text"
        if "://" in text:
            return self._next(text, f"https://{words.replace(' ', '-').lower()}.example/")
        if text.isupper():
            return self._next(text, f"{words.replace(' ', '_').upper()}_")
        return self._next(text, f"{words.capitalize()} ")

    def _next(self, text: str, prefix: str, digits: int = 0) -> str:
        """The next text of a series that is none of the service's own, from now on for this one."""
        numbers = self._series.setdefault(f"{prefix}{digits}", count(1))
        made = (f"{prefix}{number:0{digits}}" for number in numbers)
        return self._texts.setdefault(text, next(new for new in made if new not in self._real))

    def _scaled(self, number: Decimal) -> Decimal:
        """A number by the factor, with as many decimals; only 0 becomes 0."""
        unit = Decimal(1).scaleb(min(0, int(number.as_tuple().exponent)))
        with localcontext(prec=4 * _MAX_DIGITS):
            scaled = (number * self._factor).quantize(unit)
        return scaled if scaled or not number else unit.copy_sign(number)
