"""The ASGI application: the service, its OpenAPI document and the approval page."""

from collections.abc import Generator
from contextlib import contextmanager
from threading import Thread

import attrs
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from adclient._command.connection import address_of, listen
from adclient._http.network import is_loopback
from adclient._tasks.clock import monotonic
from adclient.testing._fake.clock import FakeClock
from adclient.testing._fake.service import FakeAdService
from adclient.testing.server.approval import ApprovalPage
from adclient.testing.server.service import Bridge, document, host_of


@attrs.frozen
class SameOrigin:
    """Refuses foreign hosts, and forms of other sites."""

    app: ASGIApp
    any_host: bool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        app, host = self.app, host_of(scope)
        origin = Headers(scope=scope).get("origin", "")
        # DNS rebinding: a foreign name that resolves to this machine would share our origin.
        if not self.any_host and not is_loopback(f"//{host}"):
            reason = "this page is only served under the names of this machine"
            app = PlainTextResponse(reason, status_code=403)
        elif scope["method"] == "POST" and origin.partition("://")[2] != host:
            reason = "only the approval page itself can make a step"
            app = PlainTextResponse(reason, status_code=403)
        await app(scope, receive, send)


@attrs.define
class RunningClock:
    """Advances the clock of a fake, before each request, by the real time that has passed."""

    app: ASGIApp
    clock: FakeClock
    _last: float = attrs.field(init=False, factory=monotonic)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Advance the clock, and pass the request on."""
        now = monotonic()
        self.clock.advance(now - self._last)
        self._last = now
        await self.app(scope, receive, send)


def create_app(
    fake: FakeAdService, *, run_clock: bool = False, any_host: bool = False
) -> Starlette:
    """An ASGI application that serves a fake over HTTP, for any ASGI server.

    It serves the sixteen operations at their paths, the approval page at `/approval`, and the
    OpenAPI document at `/openapi.json`.

    Args:
        fake: The service, which your code can still use in process.
        run_clock: Whether the clock of the fake advances as real time passes.
        any_host: Whether the approval page may be opened under other names than those of this
            machine. Anyone who reaches it can then approve drafts.

    Returns:
        The application.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> from adclient.testing.server import create_app
        >>> app = create_app(FakeAdService())
    """
    page, checks = ApprovalPage(fake), [Middleware(SameOrigin, any_host=any_host)]
    static = StaticFiles(packages=[("adclient.testing.server", "static")])
    return Starlette(
        routes=[
            Route("/", RedirectResponse("approval"), methods=["GET"]),
            Route("/openapi.json", JSONResponse(document()), methods=["GET"]),
            Route("/approval", page.show, middleware=checks),
            Route("/approval", page.step, methods=["POST"], middleware=checks),
            Route("/approval/drafts/{draft_id}", page.show, middleware=checks),
            Route("/approval/drafts/{draft_id}", page.step, methods=["POST"], middleware=checks),
            Mount("/approval/static", static, middleware=checks),
            Mount("/", Bridge(fake)),
        ],
        middleware=[Middleware(RunningClock, clock=fake.clock)] if run_clock else [],
    )


@contextmanager
def serving(fake: FakeAdService, *, host: str = "127.0.0.1", port: int = 0) -> Generator[str]:
    """Serve a fake over HTTP, in a thread of its own, inside a `with` block.

    Args:
        fake: The service.
        host: The address to listen on.
        port: The port; 0 is any free one.

    Yields:
        The URL of the service, for `AdClient` or any other tool.

    Raises:
        OSError: The server cannot listen on the address.

    Examples:
        >>> from adclient import AdClient
        >>> from adclient.testing import FakeAdService
        >>> from adclient.testing.server import serving
        >>> with serving(FakeAdService()) as url, AdClient(url) as client:
        ...     client.beta.list_campaigns(account_id="account_b204").data[0].id
        'campaign_57a7'
    """
    from adclient.testing.server.uvicorn_server import server_of  # other servers need no uvicorn

    with listen(host, port) as listening:
        server = server_of(create_app(fake))
        thread = Thread(target=server.run, args=([listening],), name="adclient-fake", daemon=True)
        thread.start()
        try:
            yield address_of(listening)
        finally:
            server.should_exit = True
            thread.join()
