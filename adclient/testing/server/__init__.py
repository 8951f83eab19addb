"""The fake service over real HTTP, with a page to approve its drafts; needs `adclient[server]`."""

from typing import TYPE_CHECKING

from adclient.testing.server.app import create_app

if TYPE_CHECKING:
    from adclient.testing.server.uvicorn_server import serving

__all__ = ["create_app", "serving"]

# Hidden from type checkers, which would accept any attribute otherwise.
if not TYPE_CHECKING:  # pragma: no branch

    def __getattr__(name):
        """Import `serving` when it is used: for another server, uvicorn is not needed."""
        if name != "serving":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from adclient.testing.server.uvicorn_server import serving

        return serving
