# Generated from ../_async by tools/make_twin.py: change it there.
"""The base of the four namespaces of a client."""

from types import FunctionType
from typing import TYPE_CHECKING

from adclient._display.notebook import PublicDir
from adclient._display.signatures import with_advice

if TYPE_CHECKING:
    from adclient._sync.engine import Engine


class Namespace(PublicDir):
    """The operations of one platform."""

    __slots__ = ("_engine",)

    def __init_subclass__(cls) -> None:
        for name, method in list(vars(cls).items()):
            if isinstance(method, FunctionType):
                setattr(cls, name, with_advice(method))

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine

    def __repr__(self) -> str:
        return f"<{type(self).__name__} operations at {self._engine.options.base_url}>"
