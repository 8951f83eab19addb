"""Signatures as people read them, in `?`, `help` and while they type: true types without quotes."""

import inspect
import sys
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import cast, get_type_hints

if sys.version_info >= (3, 12):  # pragma: no cover (of two ways, each Python goes one)
    from typing import TypeAliasType as TypeAliasType
else:  # pragma: no cover
    from typing_extensions import TypeAliasType as TypeAliasType


def deferred(full_name: str) -> SimpleNamespace:
    """Stands for a module in annotations, with one type of it that shows itself by its name.

    So the module need not be loaded for a signature that hardly anybody reads.
    """
    _, _, name = full_name.rpartition(".")
    # Type checkers take literals alone, and never see these: for them, the module is imported.
    named = cast("Callable[[str, str], object]", TypeAliasType)
    return SimpleNamespace(**{name: named(full_name, full_name)})


def hide(cls: type, *names: str) -> None:
    """Leave arguments that are none of a user's out of what a class shows of its constructor."""
    signature = inspect.signature(cls)
    shown = [each for each in signature.parameters.values() if each.name not in names]
    type.__setattr__(cls, "__signature__", signature.replace(parameters=shown))


def unquote(cls: type) -> None:
    """Put types in the place of their names in quotes, in the annotations of a class's methods.

    Methods can name their own class, and those that come after it, in no other way.
    """
    for method in vars(cls).values():
        # The constructor that attrs makes has a namespace of its own.
        if isinstance(method, FunctionType) and method.__name__ != "__init__":
            written = method.__annotations__
            quoted = [name for name, annotation in written.items() if isinstance(annotation, str)]
            types = get_type_hints(method) if quoted else {}
            written.update({name: types[name] for name in quoted})
