# Generated from ../_async by tools/make_twin.py: change it there.
"""The base of the four namespaces of a client."""

from typing import TYPE_CHECKING

from adclient._notebook import PublicDir

if TYPE_CHECKING:
    from adclient._sync.engine import Engine


class Namespace(PublicDir):
    """The operations of one platform."""

    __slots__ = ("_engine",)

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine

    def __repr__(self) -> str:
        return f"<{type(self).__name__} operations at {self._engine.options.base_url}>"
