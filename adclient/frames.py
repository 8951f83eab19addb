"""Items as tables: records, Arrow, pandas and polars.

The type of a column follows from all of its values, never from the first rows. Items are converted
a few thousand at a time, so that there is never a second copy of all of them as Python values.
"""

import itertools
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, Protocol, SupportsIndex, TypeVar, cast, overload

import attrs

from adclient import models, notebook
from adclient._core import wire
from adclient._extras import needs
from adclient.models import Item

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

T = TypeVar("T")

Row = Mapping[str, object]

# These hold JSON alone.
_OURS = {cls for cls in vars(models).values() if isinstance(cls, type) and issubclass(cls, Item)}
_PROMISED = ("id", "name", "status")
_ROWS_AT_ONCE = 8192
_MOST_DIGITS = 38  # of a decimal that every table library takes
_MOST_FIELDS = 64  # of an object that has columns of its own; a larger one is more of a map
_MOST_LEVELS = 8
_EXACT_IN_A_FLOAT = 2**53


class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class Tabular(notebook.Shown, Generic[T]):
    """What a page and a list of items have in common: they are tables.

    Any library that reads Arrow streams takes them as they are, such as `pyarrow.table(page)`.
    """

    __slots__ = ()

    @abstractmethod
    def _rows(self) -> Sequence[T]: ...

    def to_records(self) -> list[dict[str, object]]:
        """The items as dictionaries of plain Python values, each with the fields that it has.

        An item of a class of yours, read by `typed()`, gives the fields of that class.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.delta.infer_business_profile(account_id="account_d118")
            >>> page.to_records()[0]["confidence"]
            0.96
        """
        return [record(item) for item in self._rows()]

    def to_pandas(self) -> "pandas.DataFrame":
        """The items as a pandas data frame.

        Its columns are of Arrow types, so that numbers keep their digits, a missing value is
        `<NA>`, and lists and objects open with `.list` and `.struct`.

        Raises:
            ModuleNotFoundError: pandas or pyarrow is missing; `pip install 'adclient[pandas]'`.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> waste = client.delta.analyze_wasted_spend(account_id="account_d118")
            >>> table = waste.collect().to_pandas()
            >>> str(table["wasted_spend"].dtype)
            'double[pyarrow]'
        """
        with needs("pandas"):
            import pandas
        table = _table(self._rows(), "pandas")
        # One of its other parameters is a list of no known type in pyarrow-stubs.
        return table.to_pandas(types_mapper=pandas.ArrowDtype)  # pyright: ignore[reportUnknownMemberType]

    def to_polars(self) -> "polars.DataFrame":
        """The items as a polars data frame.

        Raises:
            ModuleNotFoundError: polars or pyarrow is missing; `pip install 'adclient[polars]'`.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> waste = client.delta.analyze_wasted_spend(account_id="account_d118")
            >>> waste.to_polars().get_column("wasted_spend").dtype
            Float64
        """
        with needs("polars"):
            import polars
        return polars.DataFrame(_table(self._rows(), "polars"))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The items as an Arrow stream."""
        stream = cast(_ArrowStream, _table(self._rows(), "arrow"))
        return stream.__arrow_c_stream__(requested_schema)


class Items(list[T], Tabular[T]):
    """A list of items that is a table, too; `collect()` gives one.

    Example:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> ads = client.gamma.list_ads(account_id="account_c3d8").collect()
        >>> ads
        <Items of 126 × Ad>
        >>> ads[:10].to_pandas().shape
        (10, 13)
    """

    __module__ = "adclient"  # its public name, which pickles and tracebacks show
    __slots__ = ()

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> T: ...
    @overload
    def __getitem__(self, index: slice, /) -> "Items[T]": ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> "T | Items[T]":
        found = super().__getitem__(index)
        return Items(cast("list[T]", found)) if isinstance(index, slice) else cast(T, found)

    def _rows(self) -> Sequence[T]:
        return tuple(self)  # which stays, whatever becomes of the list

    def __repr__(self) -> str:
        return f"<Items of {counted(self)}>"

    def _repr_html_(self) -> str:
        return html_table(f"Items of {counted(self)}", self)


def counted(items: Sequence[object]) -> str:
    """How many items there are, and of which kind."""
    return f"{len(items)} × {type(items[0]).__name__ if items else 'item'}"


def html_table(
    title: str, items: Sequence[object], *, about: Sequence[str] = (), notes: Sequence[str] = ()
) -> str:
    """The first items as a table for a notebook."""
    rows = [record(item) for item in items[: notebook.ROWS]]
    return notebook.table(title, rows, total=len(items), about=about, notes=notes)


def record(item: object) -> dict[str, object]:
    """The fields of an item that are there, as values of its own."""
    if isinstance(item, Item) and type(item) in _OURS:
        return {**item.to_dict()}
    return fields_of(item)


def fields_of(item: object) -> dict[str, object]:
    """All fields of an item, as values that it may share."""
    if isinstance(item, Item) and type(item) in _OURS:
        return {"id": item.id, "name": item.name, "status": item.status, **item.extra}
    fields = dict(wire.as_mapping(item))
    if isinstance(item, Item):
        del fields["extra"]
        fields |= {name: value for name, value in item.extra.items() if name not in fields}
    return {name: _plain(value) for name, value in fields.items()}


def _plain(value: object) -> object:
    if attrs.has(type(value)):
        return _plain(wire.as_mapping(value))
    if isinstance(value, Enum):
        return value.value
    if wire.is_object(value):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if wire.is_array(value):
        return [_plain(inner) for inner in value]
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, cast("Collection[object]", value)), key=repr)
    return value


# The types of columns: what is seen in all rows decides.


class _Kind(Enum):
    BOOL = "true or false"
    WHOLE = "whole number"
    FLOAT = "float"
    DECIMAL = "decimal"
    TEXT = "text"
    MOMENT = "time"
    DAY = "day"
    ARRAY = "array"
    OBJECT = "object"
    OTHER = "something else"


_NUMBERS = {_Kind.WHOLE, _Kind.FLOAT, _Kind.DECIMAL}
_KINDS: dict[type, _Kind] = {  # a class before its base
    bool: _Kind.BOOL,
    int: _Kind.WHOLE,
    float: _Kind.FLOAT,
    Decimal: _Kind.DECIMAL,
    str: _Kind.TEXT,
    datetime: _Kind.MOMENT,
    date: _Kind.DAY,
    list: _Kind.ARRAY,
    dict: _Kind.OBJECT,
}


def _kind_of(cls: type) -> _Kind:
    return next((kind for base, kind in _KINDS.items() if issubclass(cls, base)), _Kind.OTHER)


@attrs.define
class _Seen:
    """What the values of a column are, as far as they were looked at.

    The digits of floats are counted only `exactly`, for it takes longer and is seldom needed.
    """

    exactly: bool
    level: int = 0
    kinds: set[_Kind] = attrs.field(factory=set[_Kind])
    lowest: int = 0
    highest: int = 0
    digits: int = 0  # the most before the point
    places: int = 0  # and after it
    element: "_Seen | None" = None
    fields: "dict[str, _Seen]" = attrs.field(factory=dict[str, "_Seen"])

    def look(self, values: Sequence[object]) -> None:
        """Take in more values."""
        classes = set(map(type, values))
        for cls in classes - {type(None)}:
            kind = _kind_of(cls)
            self.kinds.add(kind)
            if kind in _LOOKED_INTO or (kind is _Kind.FLOAT and self.exactly):
                is_mixed = len(classes) > 1
                self._look_into(kind, [v for v in values if type(v) is cls] if is_mixed else values)

    def look_at_fields(self, columns: "Mapping[str, Sequence[object]]") -> None:
        """Take in the fields of more objects, by name."""
        for name, values in columns.items():
            if name not in self.fields:
                self.fields[name] = _Seen(self.exactly, self.level + 1)
            self.fields[name].look(values)

    def _look_into(self, kind: _Kind, values: Sequence[Any]) -> None:
        match kind:
            case _Kind.WHOLE:
                self.lowest = min(self.lowest, *values)
                self.highest = max(self.highest, *values)
            case _Kind.FLOAT:
                self._look_at_digits([_exact(value) for value in values])
            case _Kind.DECIMAL:
                self._look_at_digits(values)
            case _Kind.MOMENT if any(value.tzinfo is None for value in values):
                self.kinds.add(_Kind.OTHER)
            case _Kind.ARRAY | _Kind.OBJECT if self.level >= _MOST_LEVELS:
                self.kinds.add(_Kind.OTHER)
            case _Kind.ARRAY:
                self.element = self.element or _Seen(self.exactly, self.level + 1)
                self.element.look(list(itertools.chain.from_iterable(values)))
            case _Kind.OBJECT:
                self._look_at_objects(values)
            case _:
                pass

    def _look_at_digits(self, values: Sequence[Decimal]) -> None:
        for value in values:
            exponent = value.as_tuple().exponent
            if isinstance(exponent, int):
                self.digits = max(self.digits, value.adjusted() + 1)
                self.places = max(self.places, -exponent)
            else:  # infinite, or no number
                self.kinds.add(_Kind.OTHER)

    def _look_at_objects(self, values: Sequence[Row]) -> None:
        names = {*self.fields, *itertools.chain.from_iterable(values)}
        if len(names) > _MOST_FIELDS or any(_encodable_text(name) != name for name in names):
            self.kinds.add(_Kind.OTHER)
        else:
            self.look_at_fields(_by_name(values))

    @property
    def needs_decimals(self) -> bool:
        """Whether these are numbers that neither whole numbers of 64 bits nor floats can hold."""
        if self.kinds == {_Kind.WHOLE}:
            return not -(2**63) <= self.lowest <= self.highest < 2**63
        is_large = max(-self.lowest, self.highest) > _EXACT_IN_A_FLOAT
        return self.kinds <= _NUMBERS and (_Kind.DECIMAL in self.kinds or is_large)

    @property
    def has_floats_to_count(self) -> bool:
        """Whether digits of floats matter here or inside, so that one has to look `exactly`."""
        inside = [*self.fields.values(), *([self.element] if self.element else [])]
        return (self.needs_decimals and _Kind.FLOAT in self.kinds) or any(
            seen.has_floats_to_count for seen in inside
        )


_LOOKED_INTO = {_Kind.WHOLE, _Kind.DECIMAL, _Kind.MOMENT, _Kind.ARRAY, _Kind.OBJECT}


def _exact(value: float) -> Decimal:
    """A float as a decimal of the digits that it prints."""
    return Decimal(repr(value))


# The columns: an Arrow type for each, and what its values need to become of that type.

Fit = Callable[[Any], object]


@attrs.frozen
class _Column:
    type: "pyarrow.DataType"
    fit: Fit | None = None


_Types = Mapping[str, _Column]


def _column_of(seen: _Seen) -> _Column:
    import pyarrow

    if not seen.kinds:
        return _Column(pyarrow.null())
    if seen.kinds <= _NUMBERS:
        return _numbers(seen)
    if len(seen.kinds) > 1:
        return _Column(pyarrow.string(), _json_text)
    (kind,) = seen.kinds
    if kind is _Kind.ARRAY and seen.element is not None:
        return _arrays(_column_of(seen.element))
    if kind is _Kind.OBJECT and seen.fields:
        return _objects({name: _column_of(inner) for name, inner in seen.fields.items()})
    simple: dict[_Kind, pyarrow.DataType] = {
        _Kind.BOOL: pyarrow.bool_(),
        _Kind.TEXT: pyarrow.string(),
        _Kind.MOMENT: pyarrow.timestamp("us", "UTC"),
        _Kind.DAY: pyarrow.date32(),
    }
    return _Column(simple[kind]) if kind in simple else _Column(pyarrow.string(), _json_text)


def _numbers(seen: _Seen) -> _Column:
    import pyarrow

    if not seen.needs_decimals:
        is_whole = seen.kinds == {_Kind.WHOLE}
        return _Column(pyarrow.int64() if is_whole else pyarrow.float64())
    whole = Decimal(max(-seen.lowest, seen.highest)).adjusted() + 1
    digits = max(seen.digits, whole, 1) + seen.places
    if digits > _MOST_DIGITS:
        return _Column(pyarrow.string(), _json_text)
    return _Column(pyarrow.decimal128(digits, seen.places), _exact_number)


def _arrays(inner: _Column) -> _Column:
    import pyarrow

    return _Column(pyarrow.list_(inner.type), inner.fit and _FitElements(inner.fit))


def _objects(columns: Mapping[str, _Column]) -> _Column:
    import pyarrow

    fits = {name: column.fit for name, column in columns.items() if column.fit is not None}
    made = pyarrow.struct([(name, column.type) for name, column in columns.items()])
    return _Column(made, _FitFields(fits) if fits else None)


# These two compare, so that columns do.


@attrs.frozen
class _FitElements:
    fit: Fit

    def __call__(self, value: Sequence[object]) -> list[object]:
        return [_fitted(element, self.fit) for element in value]


@attrs.frozen
class _FitFields:
    fits: Mapping[str, Fit]

    def __call__(self, value: Row) -> Row:
        return {**value, **{name: _fitted(value.get(name), f) for name, f in self.fits.items()}}


def _fitted(value: object, fit: Fit) -> object:
    return None if value is None else fit(value)


def _exact_number(value: object) -> object:
    return _exact(value) if isinstance(value, float) else value


def _json_text(value: object) -> str:
    try:
        return wire.dumps(value, "value")
    except wire.WireError:  # of a class of the caller's, or nested too deeply
        return notebook.short(value)


# The table, chunk by chunk. Types only widen, and the first chunk mostly shows them all; so each
# chunk is converted when it was looked at, and again in the end if its types have widened since.


def _table(items: Sequence[object], extra: str, *, exactly: bool = False) -> "pyarrow.Table":
    with needs(extra):
        import pyarrow
    seen, batches, made_as = _Seen(exactly), list[pyarrow.RecordBatch](), list[_Types]()
    if not items:
        seen.look_at_fields(dict.fromkeys(_PROMISED, ()))
    for start in range(0, len(items), _ROWS_AT_ONCE):
        columns = _chunk(items, start)
        seen.look_at_fields(columns)
        if seen.has_floats_to_count and not exactly:
            return _table(items, extra, exactly=True)
        made_as.append(_types(seen))
        batches.append(_batch(columns, made_as[-1]))
    types = _types(seen)
    for number, as_it_was in enumerate(made_as):
        if as_it_was != types:
            batches[number] = _batch(_chunk(items, number * _ROWS_AT_ONCE), types)
    return pyarrow.Table.from_batches(batches, _schema(types))


def _chunk(items: Sequence[object], start: int) -> dict[str, list[object]]:
    chunk = items[start : start + _ROWS_AT_ONCE]
    if not set(map(type, chunk)) <= _OURS:
        return _by_name([fields_of(item) for item in chunk])
    # The same without a dictionary for each item, which is twice as fast.
    ours = cast("Sequence[Item]", chunk)
    named: dict[str, list[object]] = {
        "id": [item.id for item in ours],
        "name": [item.name for item in ours],
        "status": [item.status for item in ours],
    }
    return {**named, **_by_name([item.extra for item in ours]), **named}


def _by_name(rows: Sequence[Row]) -> dict[str, list[object]]:
    names = dict.fromkeys(itertools.chain.from_iterable(rows))
    return {name: [row.get(name) for row in rows] for name in names}


def _types(seen: _Seen) -> _Types:
    for name in _PROMISED:  # they are texts, even where none came
        if name in seen.fields and not seen.fields[name].kinds:
            seen.fields[name].kinds.add(_Kind.TEXT)
    return {name: _column_of(field) for name, field in seen.fields.items()}


def _batch(columns: Mapping[str, list[object]], types: _Types) -> "pyarrow.RecordBatch":
    import pyarrow

    missing: list[object] = [None] * len(next(iter(columns.values()), ()))
    arrays = [_array(columns.get(name, missing), column) for name, column in types.items()]
    return pyarrow.record_batch(arrays, schema=_schema(types))


def _schema(types: _Types) -> "pyarrow.Schema":
    import pyarrow

    return pyarrow.schema([(_encodable_text(name), types[name].type) for name in types])


def _array(values: list[object], column: _Column) -> "pyarrow.Array[Any]":
    import pyarrow

    fit = column.fit
    if fit is not None:
        values = [_fitted(value, fit) for value in values]
    try:
        return pyarrow.array(values, column.type)
    except UnicodeEncodeError:
        return pyarrow.array([_encodable(value) for value in values], column.type)


def _encodable(value: object) -> object:
    """A value whose texts are free of lone surrogates, which no table can hold."""
    if isinstance(value, str):
        return _encodable_text(value)
    if wire.is_object(value):
        return {name: _encodable(inner) for name, inner in value.items()}
    return [_encodable(inner) for inner in value] if wire.is_array(value) else value


def _encodable_text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
