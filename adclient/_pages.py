"""What the pages of both clients have in common: one answer of a listing, as plain data."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import attrs

from adclient import _notebook
from adclient._core.jsontext import JSONError
from adclient._core.operations import Listing
from adclient._core.redact import one_line
from adclient._json import copied, copied_fields
from adclient._tables import items as tables
from adclient.errors import InvalidRequest, UnexpectedResponse
from adclient.models import JSON, Item, Result

T = TypeVar("T")
A = TypeVar("A", bound=attrs.AttrsInstance)


@attrs.frozen(kw_only=True, repr=False)
class BasePage(Result, tables.Tabular[T]):
    """One page of a listing."""

    data: tuple[T, ...]
    next: JSON = attrs.field(default=None, hash=False)
    extra: Mapping[str, JSON] = attrs.field(factory=dict[str, JSON], hash=False)
    # The items as they came, where the class of `data` may not have kept all of them.
    _raw: tuple[dict[str, JSON], ...] | None = attrs.field(default=None, eq=False, alias="raw")

    def to_dict(self) -> dict[str, JSON]:
        """The page as it came over the wire."""
        beside = copied_fields(self.extra)
        info = beside.pop("page", {})
        assert isinstance(info, dict)
        data: list[JSON] = list(self._items())
        return {"data": data, "page": {"next": copied(self.next), **info}, **beside}

    def _items(self) -> list[dict[str, JSON]]:
        if self._raw is not None:
            return [copied_fields(item) for item in self._raw]
        return [item.to_dict() for item in self.data if isinstance(item, Item)]

    def __getstate__(self) -> dict[str, object]:
        """What is pickled and copied: all but where the next page comes from."""
        return {field.name: getattr(self, field.name) for field in attrs.fields(BasePage)}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        for field in attrs.fields(type(self)):
            object.__setattr__(self, field.name, state.get(field.name))

    def _rows(self) -> Sequence[T]:
        return self.data

    def __repr__(self) -> str:
        more = "the last page" if self.next is None else f"next={_notebook.short(self.next)}"
        return f"<{type(self).__name__} of {tables.counted(self.data)}, {more}>"

    def _repr_html_(self) -> str:
        title = f"{type(self).__name__} of {tables.counted(self.data)}"
        call = [self.response.operation, self.response.account_id]
        notes = [] if self.next is None else ["more pages follow"]
        about = [text for text in call if text is not None]
        return tables.html_table(title, self.data, about=about, notes=notes)


def extra_of(listing: Listing[object]) -> dict[str, JSON]:
    """The fields of a listing's envelope that the interface does not name."""
    inner = {"page": dict(listing.page.extra)} if listing.page.extra else {}
    return {**listing.extra, **inner}


def reread(items: Iterable[dict[str, JSON]], cls: type[A], operation: str) -> tuple[A, ...]:
    """Items read into a class of the caller's; they are taken apart."""
    if not _is_attrs_class(cls):
        raise TypeError(f"typed() takes an attrs class, not {cls!r}")
    from adclient._core.converter import NoReaderError, structure  # which loads cattrs

    try:
        return tuple(structure(item, cls, f"$.data[{i}]") for i, item in enumerate(items))
    except NoReaderError as error:
        raise TypeError(f"typed() cannot read {cls.__name__}: {error}") from None
    except JSONError as error:
        raise UnexpectedResponse(
            one_line(f"{operation}: the items do not fit {cls.__name__}: {error}", 400),
            operation=operation,
        ) from None


def _is_attrs_class(cls: object) -> bool:
    return isinstance(cls, type) and attrs.has(cls)


def check_limit(limit: int | None) -> None:
    """Refuse a limit that is no count of items."""
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise InvalidRequest("limit must be a whole number, 0 or more", argument="limit")
