"""Advice for calls that Python refuses: with positional, misspelt or missing arguments."""

from collections.abc import Callable, Collection
from functools import wraps
from types import FunctionType
from typing import Any, cast


def with_advice(
    method: FunctionType, convert: Callable[[Any], object] | None = None
) -> FunctionType:
    """A method whose `TypeError` for a wrong call shows the right one.

    Python raises that error before the method begins, so only a caller of the method can see it. In
    this way, the signature stays as it is written. `convert` is applied to what is returned.
    """

    @wraps(method)
    def call(*arguments: object, **named: object) -> object:
        try:
            returned = method(*arguments, **named)
        except BaseException as error:
            _explain(error, method, len(arguments) - 1, named)  # the first one is `self`
            raise
        return returned if convert is None else convert(returned)

    return cast(FunctionType, call)


def _explain(
    error: BaseException, method: FunctionType, count: int, named: Collection[str]
) -> None:
    """Add advice to the error of a wrong call, and remove the frame of `call` from any error."""
    here = error.__traceback__
    error.__traceback__ = None if here is None else here.tb_next
    if error.__traceback__ is None and isinstance(error, TypeError):
        right = _right_call(method, count, named)
        error.args = (f"{error}; arguments are keyword-only: {right}",)


def _right_call(method: FunctionType, count: int, named: Collection[str]) -> str:
    """The call that was meant, without values, which may be private."""
    from difflib import get_close_matches  # deferred: only mistakes need them
    from inspect import signature

    _, *parameters = signature(method).parameters.values()
    names = [parameter.name for parameter in parameters]
    meant = {near for name in named for near in get_close_matches(name, names, 1)}
    meant.update([name for name in names if name not in meant][:count])
    shown = [each.name for each in parameters if each.default is each.empty or each.name in meant]
    return f"{method.__name__}({', '.join(f'{name}=…' for name in shown)})"
