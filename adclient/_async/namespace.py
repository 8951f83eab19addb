"""The base of the four namespaces of a client."""

from inspect import iscoroutinefunction  # async only
from types import FunctionType
from typing import TYPE_CHECKING

from adclient._async.staging import staging  # async only
from adclient._display.notebook import PublicDir
from adclient._display.signatures import with_advice

if TYPE_CHECKING:
    from adclient._async.engine import AsyncEngine


class AsyncNamespace(PublicDir):
    """The operations of one platform."""

    __slots__ = ("_engine",)

    def __init_subclass__(cls) -> None:
        for name, method in list(vars(cls).items()):
            if isinstance(method, FunctionType):
                if iscoroutinefunction(method):  # async only
                    setattr(cls, name, staging(method))  # async only
                    continue  # async only
                setattr(cls, name, with_advice(method))

    def __init__(self, engine: "AsyncEngine") -> None:
        self._engine = engine

    def __repr__(self) -> str:
        return f"<{type(self).__name__} operations at {self._engine.options.base_url}>"
