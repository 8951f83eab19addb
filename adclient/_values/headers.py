"""The headers of a response, as results, errors and events have them."""

from typing import Any


class Headers(dict[str, str]):
    """Headers whose names are in lower case, and found in any case."""

    def __getitem__(self, name: str, /) -> str:
        return super().__getitem__(_lower(name))

    def __contains__(self, name: object, /) -> bool:
        return super().__contains__(_lower(name))

    def get(self, name: object, default: Any = None, /) -> Any:
        """The value of a header, or the default."""
        return super().get(_lower(name), default)


def _lower(name: Any) -> Any:
    return name.lower() if isinstance(name, str) else name
