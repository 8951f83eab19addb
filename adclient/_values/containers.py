"""Headers that are found in any case, and items that are kept by field."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar, cast

import attrs

T = TypeVar("T")

Columns = Mapping[str, Sequence[Any]]


class Headers(dict[str, str]):
    """Headers whose names are in lower case, and found in any case."""

    def __getitem__(self, name: str, /) -> str:
        return super().__getitem__(str(name).lower())

    def __contains__(self, name: object, /) -> bool:
        return super().__contains__(str(name).lower())

    def get(self, name: object, default: Any = None, /) -> Any:
        """The value of a header, or the default."""
        return super().get(str(name).lower(), default)


class ByField(Sequence[T]):
    """Items of one class, as a list for each of its fields.

    A table takes the lists. To look at an item makes all of them, once; from then on a table is of
    the items, which may change.
    """

    __slots__ = ("cls", "columns", "made")

    def __init__(self, cls: type[T], columns: Columns) -> None:
        self.cls, self.columns = cls, columns
        self.made: list[tuple[T, ...]] = []

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __iter__(self) -> Iterator[T]:
        return iter(self.items())

    def __getitem__(self, index: Any, /) -> Any:
        return cast(Any, self.items())[index]

    def __reduce__(self) -> tuple[type, tuple[object]]:
        return tuple, (self.items(),)  # a pickle must not depend on how items are kept

    def items(self) -> tuple[T, ...]:
        """All of them, the same ones each time."""
        if not self.made:
            fields = attrs.fields_dict(cast(Any, self.cls))
            names: list[Any] = [fields[name].alias for name in self.columns]
            rows = zip(*self.columns.values(), strict=True)
            made = tuple(self.cls(**dict(zip(names, row, strict=True))) for row in rows)
            # If another thread does the same, both get the items that were appended first.
            self.made.append(made)
        return self.made[0]


def joined(parts: Sequence[Sequence[T]]) -> Sequence[T]:
    """The items of all parts, by field if all of them are."""
    if len(parts) == 1:
        return parts[0]
    ours = [part for part in parts if isinstance(part, ByField) and not part.made]
    if len(ours) < len(parts) or len({part.cls for part in ours}) != 1:
        return tuple(chain.from_iterable(parts))
    names = ours[0].columns
    columns = {name: [*chain.from_iterable(part.columns[name] for part in ours)] for name in names}
    return ByField(ours[0].cls, columns)
