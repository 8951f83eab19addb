"""The settings with which the service is reached: its address, TLS and proxies, or in process."""

import os
import ssl
import sys
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address
from os import PathLike, fspath
from random import random
from typing import cast
from urllib.parse import urlsplit

import attrs
from anyio.lowlevel import checkpoint

from adclient._core.auth import Credentials, SecretHeader
from adclient._core.request import LONGEST_URL, Request
from adclient._core.response import Failure, Outcome, RawResponse
from adclient._http.attempt import Attempt, causes_of
from adclient._tasks.clock import SYSTEM_CLOCK, Clock
from adclient._values.redact import one_line
from adclient.errors import ConfigurationError
from adclient.options import warn_caller
from adclient.transports import transport_at

_PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")


@attrs.frozen(eq=False, repr=False)
class Network:
    """How the service is reached: by connections of ours, or by what the caller passed."""

    base_url: str
    proxy: str | None
    verify: bool | str | ssl.SSLContext
    transport: object
    http_client: object
    clock: Clock
    random: Callable[[], float]


def build_network(
    base_url: str,
    *,
    proxy: str | None = None,
    verify: bool | str | PathLike[str] | ssl.SSLContext = True,
    transport: object = None,
    http_client: object = None,
) -> Network:
    """Check how the service is reached; a service in this process has its own clock."""
    host = urlsplit(base_url).hostname or ""
    # Browsers and resolvers treat any host that ends in a number as an IP address.
    is_ip = ":" in host or host.rstrip(".").rpartition(".")[2].isdecimal()
    if len(base_url) > LONGEST_URL or (is_ip and _ip_address(host) is None):
        raise ConfigurationError("base_url is not a valid URL", argument="base_url")
    verify = checked_verify(verify)
    if transport is None and http_client is None:
        transport = transport_at(base_url)
        own = None if proxy is None else checked_proxy("proxy", proxy)
        proxy = own or _environment_proxy(base_url)
    elif proxy is not None or verify is not True:
        raise ConfigurationError(
            "proxy and verify are settings of connections that adclient makes itself; "
            "set them on your transport or http_client",
            argument="verify" if proxy is None else "proxy",
        )
    elif transport is not None and http_client is not None:
        raise ConfigurationError("pass transport or http_client, not both", argument="http_client")
    clock, chance = SYSTEM_CLOCK, random
    if isinstance(transport, InProcess):
        clock, chance = transport.clock, transport.random
    return Network(base_url, proxy, verify, transport, http_client, clock, chance)


def _ip_address(host: str) -> IPv4Address | IPv6Address | None:
    """The IP address that a host is; None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def checked_verify(verify: object) -> bool | str | ssl.SSLContext:
    """Check the setting of TLS verification; the certificates of a path are read now."""
    if isinstance(verify, PathLike):
        verify = fspath(cast("PathLike[str]", verify))
    if not isinstance(verify, bool | str | ssl.SSLContext):
        raise ConfigurationError(
            "verify must be a bool, a path or an ssl.SSLContext", argument="verify"
        )
    if isinstance(verify, str):
        tls_context(verify)
    return verify


def is_loopback(url: str) -> bool:
    """Check if the host of a URL is this machine itself."""
    host = urlsplit(url).hostname or ""
    address = _ip_address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _environment_proxy(base_url: str) -> str | None:
    """The proxy that the environment names for a service; loopback needs none."""
    if is_loopback(base_url):
        return None
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    # macOS and Windows also have proxies in their system settings.
    if sys.platform not in ("darwin", "win32") and not any(
        name.lower().endswith("_proxy") for name in os.environ
    ):
        return None
    from urllib.request import getproxies, proxy_bypass  # deferred: slow to import

    # `no_proxy` may name a host with its port or without.
    port = parts.port or (443 if parts.scheme == "https" else 80)
    in_url = f"[{host}]" if ":" in host else host
    if proxy_bypass(host) or proxy_bypass(f"{in_url}:{port}"):
        return None
    proxies = getproxies()
    name = next((name for name in (parts.scheme, "all") if proxies.get(name)), None)
    if name is None:
        return None
    proxy = proxies[name] if "://" in proxies[name] else f"http://{proxies[name]}"
    return checked_proxy(f"the environment variable {name}_proxy", proxy)


def checked_proxy(what: str, proxy: str) -> str:
    """A proxy URL with its scheme in lower case.

    The error does not show an invalid one: it may contain a password.
    """
    try:
        parts = urlsplit(proxy)
        is_url = parts.scheme in _PROXY_SCHEMES and bool(parts.hostname) and parts.port != 0
    except (ValueError, TypeError, AttributeError):  # the caller may pass any object
        is_url = False
    if not is_url:
        raise ConfigurationError(
            f"{what} must be a URL like 'http://proxy.example.com:3128'", argument="proxy"
        )
    url = urlsplit(proxy).geturl()
    if url.startswith("socks"):
        from importlib.util import find_spec  # deferred: slow to import

        if find_spec("socksio") is None:
            problem = f"{what} is a SOCKS proxy, which needs: pip install 'httpx[socks]'"
            raise ConfigurationError(problem, argument="proxy")
    return url


# Loading certificates takes 20 ms, so all clients share the contexts: by path, with the version of
# its file.
_MOST_CONTEXTS = 16  # of 2 MB each
_contexts: dict[object, tuple[tuple[int, ...], ssl.SSLContext]] = {}


def tls_context(verify: bool | str | ssl.SSLContext) -> ssl.SSLContext:
    """The TLS context for a setting; made when first needed, and anew when its file changes."""
    if isinstance(verify, ssl.SSLContext):
        return verify
    names = ("SSL_CERT_FILE", "SSL_CERT_DIR") if verify is True else ()
    name = next((name for name in names if os.environ.get(name)), "")
    path = os.environ[name] if name else verify
    if path is True:
        import certifi  # deferred: a plain http URL does without it

        path = certifi.where()
    known, version = _contexts.get(path), tuple[int, ...]()
    try:
        # In a folder, OpenSSL looks up each certificate when it needs it.
        if path is not False and name != "SSL_CERT_DIR" and not os.path.isdir(path):
            found = os.stat(path)
            version = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
        if known is None or known[0] != version:
            if path is False:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname = False  # first: with it, ssl refuses CERT_NONE
                context.verify_mode = ssl.CERT_NONE
            else:
                cafile, capath = (path, None) if version else (None, path)
                context = ssl.create_default_context(cafile=cafile, capath=capath)
            known = _contexts[path] = version, context
            for oldest in [*_contexts][:-_MOST_CONTEXTS]:
                _contexts.pop(oldest, None)
    except OSError as error:
        if known is None:  # else it may be in the middle of being replaced
            what = f"the environment variable {name}" if name else "verify"
            reason = error.strerror or type(error).__name__
            shown = one_line(str(path), 1000) or "an empty path"
            problem = f"{what}: no certificates could be read from {shown}: {reason}"
            raise ConfigurationError(problem, argument="verify") from None
    return known[1]


_CERTIFICATES = "Check verify= and the certificates of both ends"
# The flag is a default of Python 3.13, and many companies made their root before it.
_STRICT = (
    "It breaks a rule for certificates that Python checks since 3.13; to trust it, pass as verify= "
    "an ssl.create_default_context(cafile=…) with verify_flags &= ~ssl.VERIFY_X509_STRICT"
)


def _advice_on_tls(error: BaseException, url: str, *, sent: bool) -> str | None:
    """What to change if TLS would fail again, such as for a refused certificate, ours or theirs.

    It does not mean that nothing was sent: with TLS 1.3, the client has sent the request by the
    time it is told, and the chain of causes may hold an error that the caller was handling.
    """
    for cause in causes_of(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            # These codes of OpenSSL are for rules that only this flag checks.
            return _STRICT if 80 <= getattr(cause, "verify_code", 0) <= 93 else _CERTIFICATES
        reason = isinstance(cause, ssl.SSLError) and getattr(cause, "reason", None)
        if reason == "WRONG_VERSION_NUMBER" and not sent:
            return f"There is no TLS at this port: begin {url} with http://, or name another port"
        if reason and "_ALERT_" in reason:
            is_refusal = "CERTIFICATE" in reason or "UNKNOWN_CA" in reason
            return _CERTIFICATES if is_refusal else None
    return None


def marked_if_permanent(outcome: Outcome, error: BaseException, url: str = "base_url") -> Outcome:
    """The outcome of an error; permanent if TLS fails until the caller changes a setting."""
    if isinstance(outcome, Failure) and (advice := _advice_on_tls(error, url, sent=outcome.sent)):
        return attrs.evolve(outcome, is_permanent=True, advice=advice)
    return outcome


Service = Callable[[Request, float | None], Outcome]


class InProcess:
    """A service in this process, and the clock and random source of the clients that call it.

    It is a function of a request and the seconds that its client waits for a response, called
    without HTTP: records go in and come out.
    """

    def __init__(self, service: Service, clock: Clock, random: Callable[[], float]) -> None:
        self.service = service
        self.clock = clock
        self.random = random

    def call_service(self, request: Request, deadline: float) -> Outcome:
        """Call it, and bound its outcome like one that came over a network."""
        attempt = Attempt(request, deadline)
        outcome = self.service(request, deadline - self.clock.now())
        if isinstance(outcome, RawResponse):
            headers = {name.lower(): value for name, value in outcome.headers.items()}
            attempt.begin(outcome.status, headers)
            attempt.feed(outcome.body)
            if outcome.broken is None:
                attempt.finish()
                return attempt.response()
            outcome = outcome.broken
        reason = "no response in time" if outcome.timed_out else outcome.reason
        return attempt.ended_by(reason, sent=outcome.sent, timed_out=outcome.timed_out)


@attrs.define(eq=False, repr=False)
class InProcessSender:
    """Sends the requests of a sync client to a service in this process."""

    called: InProcess
    is_closed: bool = False

    def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        return self.called.call_service(request, deadline)

    def close(self) -> None:
        """There is nothing to close."""
        self.is_closed = True


@attrs.define(eq=False, repr=False)
class AsyncInProcessSender:
    """Sends the requests of an async client to a service in this process."""

    called: InProcess
    is_closed: bool = False

    async def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        await checkpoint()  # as over a network: other tasks run, and this one can be cancelled
        return self.called.call_service(request, deadline)

    async def aclose(self) -> None:
        """There is nothing to close."""
        self.is_closed = True


def warn_if_exposed(credentials: Credentials, network: Network) -> None:
    """Warn if the token leaves this machine without TLS."""
    url = network.base_url
    has_token = credentials.kind == "token" or isinstance(credentials.auth, SecretHeader)
    is_sent_in_clear = url.startswith("http:") and not is_loopback(url)
    if has_token and is_sent_in_clear and not isinstance(network.transport, InProcess):
        warn_caller(f"{url}: over plain http, others can read the token; use https")
