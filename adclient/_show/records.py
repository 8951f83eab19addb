"""The base of what is shown: each record describes that once, as a card or as a table.

Nothing here sends a request, and nothing of it is loaded before a value is shown.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from adclient._values.text import SHORT

if TYPE_CHECKING:
    from adclient.models import Diff


class Card(NamedTuple):
    """One record: its names and values, the changes of its diff, and notes."""

    title: str
    rows: Sequence[tuple[str, object]] = ()
    diff: "Diff | None" = None
    state: str = ""
    notes: Sequence[str] = ()


class Table(NamedTuple):
    """Several records: the first rows of `total`, whose cells are cut at a limit, or wrapped.

    Reports have texts in all cells. Their first columns (`lead`) are words of ours, and aligned in
    text, which leaves out those that are `wide`. `details` are lists of Markdown, for which nothing
    else has room.
    """

    title: str
    rows: Sequence[Mapping[str, object]]
    total: int
    about: Sequence[str] = ()
    notes: Sequence[str] = ()
    limit: int = SHORT
    lead: int = 0
    wide: Sequence[str] = ()
    code: str = ""
    details: Mapping[str, Sequence[str]] = MappingProxyType({})


class PublicDir:
    """A value whose `dir`, and so its completion, lists only public names."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        # Dunder names stay: tools such as `unittest.mock` look for them here.
        names = object.__dir__(self)
        return [name for name in names if name.startswith("__") or not name.startswith("_")]

    if not TYPE_CHECKING:  # pragma: no branch  (type checkers find the mistakes themselves)

        def __getattr__(self, name: str) -> object:
            # Tools look for private names. A public one may be a property that raised the error.
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)
            from adclient._advice import no_attribute

            raise no_attribute(self, name)


class Shown(PublicDir):
    """A value shown as HTML in a notebook, and by its `repr` everywhere else."""

    __slots__ = ()

    @abstractmethod
    def _show(self) -> Card | Table:
        """What the record shows."""

    def _repr_html_(self) -> str:
        from adclient._show.html import html_of  # deferred: most programs show nothing

        return html_of(self._show())

    if not TYPE_CHECKING:  # pragma: no branch  (as above)
        __iter__ = None  # or `__getitem__` would make it iterable

        def __getitem__(self, key: object) -> NoReturn:
            such = f", such as .{key} or .extra" if isinstance(key, str) else ""
            raise TypeError(f"{type(self).__name__} has no index: use attributes{such}")


def refuse_with(*_: object) -> NoReturn:
    """Refuse `with` for an async client, and `async with` for a sync one."""
    raise TypeError("use `with AdClient(…)`, or `async with AsyncAdClient(…)`")
