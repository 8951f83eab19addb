"""The ASGI application: the service, its OpenAPI document and the approval page."""

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from adclient.testing._service import FakeAdService
from adclient.testing.server.approval import ApprovalPage
from adclient.testing.server.bridge import Bridge
from adclient.testing.server.middleware import Guard, RunningClock
from adclient.testing.server.openapi import document


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
    page, guard = ApprovalPage(fake), [Middleware(Guard, any_host=any_host)]
    static = StaticFiles(packages=[("adclient.testing.server", "static")])
    return Starlette(
        routes=[
            Route("/", RedirectResponse("approval"), methods=["GET"]),
            Route("/openapi.json", JSONResponse(document()), methods=["GET"]),
            Route("/approval", page.show, middleware=guard),
            Route("/approval", page.step, methods=["POST"], middleware=guard),
            Route("/approval/drafts/{draft_id}", page.show, middleware=guard),
            Route("/approval/drafts/{draft_id}", page.step, methods=["POST"], middleware=guard),
            Mount("/approval/static", static, middleware=guard),
            Mount("/", Bridge(fake)),
        ],
        middleware=[Middleware(RunningClock, clock=fake.clock)] if run_clock else [],
    )
