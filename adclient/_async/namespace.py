"""The base of the four namespaces of a client."""

from typing import TYPE_CHECKING

from adclient._notebook import PublicDir

if TYPE_CHECKING:
    from adclient._async.engine import AsyncEngine


class AsyncNamespace(PublicDir):
    """The operations of one platform."""

    __slots__ = ("_engine",)

    def __init__(self, engine: "AsyncEngine") -> None:
        self._engine = engine

    def __repr__(self) -> str:
        return f"<{type(self).__name__} operations at {self._engine.options.base_url}>"
