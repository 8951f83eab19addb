"""What sync and async clients share of their connections, which carry one request at a time.

httpcore is the engine of httpx. `network_backend` gives its connections our sockets, which keep
the deadline of the attempt.
"""

import sys
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from operator import attrgetter, is_
from types import FunctionType, GetSetDescriptorType
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import unquote, urlsplit
from weakref import WeakKeyDictionary

import attrs
import httpcore
from anyio.lowlevel import current_token

from adclient._core.response import Outcome
from adclient._http.attempt import Attempt, reason_of
from adclient._http.backend import BaseBackend, Connector, ProxyConnectError
from adclient._http.network import Network, marked_if_permanent, tls_context
from adclient._tasks.clock import monotonic
from adclient._tasks.forks import RESETTABLE

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


is_patched = _Watch(httpcore.ConnectionPool, "Client", "HTTPTransport").is_patched
is_async_patched = _Watch(
    httpcore.AsyncConnectionPool, "AsyncClient", "AsyncHTTPTransport"
).is_patched

# How long an unused connection is kept. Many servers close theirs after 5 seconds or more.
KEEPALIVE_EXPIRY = 5.0

CORE_FAULTS = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
    httpcore.ConnectionNotAvailable,
)
# The errors of a failed attempt. A host that cannot be encoded is a UnicodeError.
FAULTS = (*CORE_FAULTS, OSError, UnicodeError)
_TIMEOUTS = (httpcore.TimeoutException, TimeoutError)
# Their texts describe only what the peer sent, so errors may show them.
_REMOTE = (httpcore.RemoteProtocolError, httpcore.ProxyError)


class _CoreConnection(Protocol):
    """A connection of httpcore, sync or async."""

    def is_idle(self) -> bool: ...


B = TypeVar("B", bound=BaseBackend)
C = TypeVar("C", bound=_CoreConnection)


@attrs.define(eq=False, repr=False)
class PooledConnection(Generic[B, C]):
    """A connection of httpcore, which is opened by its first request, and its backend."""

    backend: B
    http: C
    idle_since: float = 0.0  # set after each request


class BasePool(Generic[B, C]):
    """The base of both pools: the service's origin, and the reuse of connections.

    Connections are reused last in, first out, so those that a burst has opened expire. Taking one
    takes constant time, and one that fails is closed without affecting another.
    """

    def __init__(
        self, network: Network, backend: Callable[..., B], pools: tuple[Any, Any, Any]
    ) -> None:
        self._make_backend = backend
        self._pools = pools  # the classes of httpcore: without a proxy, with one of SOCKS or HTTP
        parts = urlsplit(network.base_url)
        self._network = network
        self._is_tls = parts.scheme == "https"
        self._scheme, self._host = parts.scheme.encode(), (parts.hostname or "").encode()
        # A proxy receives the whole URL of a plain request, which omits the default port.
        self._port = None if parts.port == 80 and not self._is_tls else parts.port
        self._prefix_length = len(f"{parts.scheme}://{parts.netloc}")
        self._origin = httpcore.URL(scheme=self._scheme, host=self._host, port=self._port).origin
        self._connector = Connector()  # to the service, or to its proxy
        self.is_closed: bool = False

    def _request(self, attempt: Attempt) -> httpcore.Request:
        """A request as httpcore sends it."""
        request = attempt.request
        path = request.url[self._prefix_length :].encode()
        url = httpcore.URL(scheme=self._scheme, host=self._host, port=self._port, target=path)
        made = httpcore.Request(request.method.encode(), url, content=attempt)
        # Set here, because the constructor would check each of them again.
        made.headers = [(name.encode(), value.encode()) for name, value in request.headers.items()]
        return made

    def _new_connection(self) -> PooledConnection[B, C]:
        """A connection that its first request opens.

        A pool of httpcore makes it, which is used for nothing else: the pools implement proxies. A
        GET over loopback takes 696,000 instructions, and 844,000 through the pool itself; async 1.2
        million instead of 3.1 million. An async pool of httpcore 1.0 also leaks a connection if a
        request is cancelled at a bad moment.
        """
        proxy, verify = self._network.proxy, self._network.verify
        backend = self._make_backend(proxy=proxy, connector=self._connector)
        direct, socks_proxy, http_proxy = self._pools
        context = tls_context(verify) if self._is_tls else None
        if proxy is None:
            pool = direct(ssl_context=context, network_backend=backend)
            return PooledConnection(backend, pool.create_connection(self._origin))
        # httpcore takes credentials separately, and would ignore those in a URL.
        parts = urlsplit(proxy)
        host = (parts.hostname or "").encode()
        url = httpcore.URL(scheme=parts.scheme.encode(), host=host, port=parts.port, target=b"/")
        auth = None
        if parts.username is not None or parts.password is not None:
            auth = unquote(parts.username or "").encode(), unquote(parts.password or "").encode()
        if proxy.startswith("socks"):
            pool = socks_proxy(url, auth, ssl_context=context, network_backend=backend)
        else:
            to_proxy = tls_context(verify) if proxy.startswith("https:") else None
            pool = http_proxy(
                url, auth, ssl_context=context, proxy_ssl_context=to_proxy, network_backend=backend
            )
        return PooledConnection(backend, pool.create_connection(self._origin))

    def _checkout(self, idle: deque[PooledConnection[B, C]]) -> PooledConnection[B, C] | None:
        """Take a usable connection, and close those that have expired."""
        expiry = monotonic() - KEEPALIVE_EXPIRY
        # Without a lock: a deque appends and pops atomically.
        try:
            # The longest idle are on the left, since each is appended when it becomes idle.
            # If another thread takes that one first, a fresher one is closed, which does no harm.
            while idle[0].idle_since < expiry:
                idle.popleft().backend.close()
            while True:
                connection = idle.pop()
                # The server may have closed it, or sent unsolicited bytes.
                if connection.backend.is_reusable:
                    return connection
                connection.backend.close()
        except IndexError:  # empty, perhaps because another thread took the last one
            return None

    def _keep(
        self, connection: PooledConnection[B, C], idle: deque[PooledConnection[B, C]]
    ) -> None:
        """Keep a connection for the next request, if it can carry one."""
        # The server closes it, the body was not read to its end, or a tool left the response open.
        if not connection.http.is_idle():
            connection.backend.close()
            return
        connection.idle_since = monotonic()
        idle.append(connection)
        if self.is_closed:  # the pool was closed before this connection was in it
            close_all(idle)


def close_all(idle: "deque[PooledConnection[B, C]]") -> None:
    """Close idle connections."""
    with suppress(IndexError):  # another thread could take the last one after a test for it
        while True:
            idle.pop().backend.close()


def outcome_after(attempt: Attempt, error: Exception) -> Outcome:
    """The outcome of an attempt over a connection that raised an error."""
    if not isinstance(error, FAULTS):
        return attempt.stopped(error)
    if isinstance(error, _TIMEOUTS) or attempt.is_late:
        return timed_out(attempt)
    reason, url = reason_of(error, _REMOTE), "base_url"
    if isinstance(error, ProxyConnectError):
        reason, url = f"the proxy {error.proxy}: {reason}", "the URL of the proxy"
    elif isinstance(error, httpcore.ProxyError):
        reason = f"the proxy: {reason}"
    outcome = attempt.ended_by(reason, sent=attempt.body_consumed)
    return marked_if_permanent(outcome, error, url)


def timed_out(attempt: Attempt) -> Outcome:
    """The outcome of an attempt that reached its deadline."""
    sent = attempt.body_consumed
    reason = "no response in time" if sent else "no connection in time"
    return attempt.ended_by(reason, sent=sent, timed_out=True)


class Idle(Generic[B, C]):
    """The idle connections of a sync client."""

    def __init__(self) -> None:
        self._here: deque[PooledConnection[B, C]] = deque()
        RESETTABLE.add(self)

    def here(self) -> deque[PooledConnection[B, C]]:
        """Those that can be used here."""
        return self._here

    def reset_after_fork(self) -> None:
        """Start without connections; closing the sockets in a child sends the peer nothing."""
        close_all(self._here)


class AsyncIdle(Generic[B, C]):
    """The idle connections of an async client, apart for each event loop."""

    def __init__(self) -> None:
        # They do not refer to their loop, so they end with it.
        self._loops: WeakKeyDictionary[object, deque[PooledConnection[B, C]]] = WeakKeyDictionary()
        RESETTABLE.add(self)

    def here(self) -> deque[PooledConnection[B, C]]:
        """Those of the running event loop."""
        loop = current_token().native_token
        idle = self._loops.get(loop)
        if idle is None:
            idle = self._loops[loop] = deque()
        return idle

    def reset_after_fork(self) -> None:
        """Start without connections; closing the sockets in a child sends the peer nothing."""
        for idle in self._loops.values():
            close_all(idle)
