"""Detects tools that have patched httpx: mocks, recorders of responses, monitors.

Such tools replace methods of the classes through which httpx sends. Our connections use none of
these classes, so the tool would miss our calls: a test that mocks the service would reach the real
one. So each member of the classes is examined before a request, and if one of them is not the
library's own, the request goes through httpx (`through_httpx.py`). Which methods a tool replaces
changes with its versions and those of httpx, so none is named here.
"""

import sys
from collections.abc import Mapping
from operator import attrgetter, is_
from types import FunctionType, GetSetDescriptorType

from adclient._http.httpcore_alias import httpcore_of_httpx

# `httpx2.alias_httpx()` puts the latter two in the places of the former.
_LIBRARIES = ("httpx", "httpcore", "httpx2", "httpcore2")

_Snapshot = tuple[Mapping[str, object], list[object]]  # the live members of a class, and a copy


class _Watch:
    """Watches the classes through which sync or async clients send."""

    def __init__(self, pool: type, *names: str) -> None:
        self._pool = pool
        self._httpx_classes = attrgetter(*names)
        # The classes of httpx and all members at a time when nothing was patched. One tuple, so
        # that another thread sees either the old one or the new one.
        self._unpatched: tuple[object, list[_Snapshot]] = None, []

    def is_patched(self) -> bool:
        """Check if anything in the classes is not the library's own, at this moment."""
        library = sys.modules.get("httpx")
        try:
            classes = self._httpx_classes(library) if library else ()
        except AttributeError:  # another thread is importing it
            classes = ()
        known, snapshots = self._unpatched
        if classes != known:
            return self._examine(classes)
        for members, copy in snapshots:
            # By identity: the wrappers that wrapt makes are equal to what they wrap.
            if len(members) != len(copy) or not all(map(is_, members.values(), copy)):
                return self._examine(classes)
        return False

    def _examine(self, classes: tuple[type, ...]) -> bool:
        """Judge each member by where it was defined, and remember them all if none is foreign.

        A comparison alone would not do: a tool may have patched them before we first look.
        """
        watched = (self._pool, *classes)
        # A tool may have replaced a class by a subclass, a mock or a function.
        if not all(type(cls) is type and cls.__module__ in _LIBRARIES for cls in watched):
            return True
        snapshots: list[_Snapshot] = [(vars(cls), [*vars(cls).values()]) for cls in watched]
        if not all(_is_own(member) for _, copy in snapshots for member in copy):
            return True
        self._unpatched = classes, snapshots
        return False


def _is_own(member: object) -> bool:
    """Check if a member is a function that the library's source defines, or data.

    A function's globals are those of the module that defines it. All else can be forged:
    `functools.wraps` copies names, and wrappers of wrapt pass for functions with `isinstance`.
    """
    if type(member) is property:
        member = member.fget
    if type(member) is FunctionType:
        module = str(member.__globals__.get("__name__"))
        if module == "contextlib":  # made by @contextmanager, such as `stream`
            return member.__code__.co_name == "helper"
        return module.partition(".")[0] in _LIBRARIES
    is_data = not callable(member) and not hasattr(type(member), "__get__")
    # The latter are the `__dict__` and `__weakref__` of a class that inherits neither.
    return is_data or type(member) is GetSetDescriptorType


is_patched = _Watch(httpcore_of_httpx.ConnectionPool, "Client", "HTTPTransport").is_patched
is_async_patched = _Watch(
    httpcore_of_httpx.AsyncConnectionPool, "AsyncClient", "AsyncHTTPTransport"
).is_patched
