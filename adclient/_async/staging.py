"""The return value of an async write: its coroutine, with advice for a missing `await`."""

import inspect
import sys
from collections.abc import Coroutine, Generator
from types import CoroutineType, FunctionType
from typing import Any

from adclient._display.notebook import PublicDir
from adclient._display.signatures import with_advice
from adclient.models import Draft


class AsyncStaging(PublicDir, Coroutine[Any, Any, Draft]):
    """The coroutine of a write; awaiting it stages the draft, and nothing is sent before.

    An attribute of `Draft` raises an error that names the missing `await`. Everything else is that
    of the coroutine, such as Python's warning that it was never awaited.
    """

    __slots__ = ("__weakref__", "_coroutine")

    def __init__(self, coroutine: "CoroutineType[Any, Any, Draft]") -> None:
        self._coroutine = coroutine

    def __getattr__(self, name: str) -> Any:
        if hasattr(Draft, name) and not name.startswith("_"):
            is_unused = inspect.getcoroutinestate(self._coroutine) == inspect.CORO_CREATED
            problem = (
                f"nothing is staged yet, so there is no {name!r}: use `await`, as in "
                f"`draft = await client.{self._method}(…)`"
                if is_unused
                else f"a coroutine has no {name!r}: the draft is what `await` returned"
            )
            raise AttributeError(problem, name=name, obj=self)
        return getattr(self._coroutine, name)  # `cr_frame` and others, for event loops

    @property
    def _method(self) -> str:
        return self._coroutine.__qualname__.removeprefix("Async").lower()

    def __repr__(self) -> str:
        return f"<coroutine of {self._method}, which stages a draft when it is awaited>"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a coroutine cannot be pickled or copied; call its method again")

    def __await__(self) -> Generator[Any, Any, Draft]:
        return self._coroutine.__await__()

    def send(self, value: Any, /) -> Any:
        """Run the coroutine to its next step, as an event loop does for a task."""
        return self._coroutine.send(value)

    def throw(self, *thrown: Any) -> Any:
        """Raise an error inside the coroutine, as an event loop does to cancel a task."""
        return self._coroutine.throw(*thrown)

    def close(self) -> None:
        """End the coroutine, as an event loop does with a task that never started."""
        self._coroutine.close()


def staging(method: FunctionType) -> FunctionType:
    """The method of a write, wrapped; it still counts as a coroutine function."""
    call = with_advice(method, AsyncStaging)
    if sys.version_info >= (3, 12):  # pragma: no cover (each Python runs one of two branches)
        inspect.markcoroutinefunction(call)
    else:  # pragma: no cover
        # `inspect` asks the code of a function; the flag has no other effect.
        code = call.__code__
        call.__code__ = code.replace(co_flags=code.co_flags | inspect.CO_COROUTINE)
    return call
