"""Readable signatures in `?`, `help` and completion: real types, unquoted."""

import inspect
import sys
from collections.abc import Callable
from functools import wraps
from types import FunctionType, SimpleNamespace
from typing import Any, TypeVar, cast

if sys.version_info >= (3, 12):  # pragma: no cover (each Python runs one of two branches)
    from typing import TypeAliasType as TypeAliasType
else:  # pragma: no cover
    from typing_extensions import TypeAliasType as TypeAliasType

Class = TypeVar("Class", bound=type)
Method = TypeVar("Method", bound=Callable[..., Any])


def deferred(*full_names: str) -> SimpleNamespace:
    """A stand-in for a module in annotations, with some of its types, shown by their full names.

    It saves the import of the module for a signature that is rarely read.
    """
    # Type checkers accept only literals here; they import the module instead.
    alias = cast("Callable[[str, str], object]", TypeAliasType)
    return SimpleNamespace(**{name.rpartition(".")[2]: alias(name, name) for name in full_names})


def public_in(module: str) -> Callable[[Class], Class]:
    """Give a class its public name, which pickles, tracebacks and signatures show."""

    def renamed(cls: Class) -> Class:
        cls.__module__ = module
        # So `??` does not look for the class in the file of that name.
        type.__setattr__(cls, "__firstlineno__", None)
        return cls

    return renamed


def hide(cls: type, name: str) -> None:
    """Remove a private argument from the signature of a constructor."""
    signature = inspect.signature(cls)
    public = [each for each in signature.parameters.values() if each.name != name]
    type.__setattr__(cls, "__signature__", signature.replace(parameters=public))


def unquote(cls: type) -> None:
    """Replace quoted annotations of a class's methods by their types.

    Methods can name their own class only in quotes.
    """
    for method in vars(cls).values():
        # The constructor that attrs generates has its own namespace.
        if isinstance(method, FunctionType) and method.__name__ != "__init__":
            method.__annotations__ = inspect.get_annotations(method, eval_str=True)


def with_advice(method: Method) -> Method:
    """A method whose `TypeError` for a wrong call shows the right one.

    Python raises that error before the method begins, so only a caller of the method can see it. In
    this way, the signature stays as it is written.
    """

    @wraps(method)
    def call(*arguments: object, **named: object) -> object:
        try:
            return method(*arguments, **named)
        except BaseException as error:
            # Without the frame of this function, whose arguments may be secret.
            here = error.__traceback__
            error.__traceback__ = None if here is None else here.tb_next
            if error.__traceback__ is None and isinstance(error, TypeError):
                from adclient._advice import explain

                # The first argument is `self`.
                explain(error, cast(FunctionType, method), len(arguments) - 1, named)
            raise

    if inspect.iscoroutinefunction(method):  # mocks and frameworks ask for that
        if sys.version_info >= (3, 12):  # pragma: no cover (each Python runs one of two branches)
            inspect.markcoroutinefunction(call)
        else:  # pragma: no cover
            # `inspect` asks the code of a function; the flag has no other effect.
            function = cast(FunctionType, call)
            code = function.__code__
            function.__code__ = code.replace(co_flags=code.co_flags | inspect.CO_COROUTINE)
    return cast(Method, call)
