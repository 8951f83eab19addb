"""The headers of a response, as results, errors and events have them."""

from collections.abc import Iterator, Mapping

import attrs


@attrs.frozen(eq=False)
class Headers(Mapping[str, str]):
    """Headers whose names are in lower case, and found in any case."""

    _values: Mapping[str, str] = attrs.field(factory=dict[str, str])

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
