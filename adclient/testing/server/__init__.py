"""The fake service over real HTTP, with a page to approve its drafts; needs `adclient[server]`."""

from adclient.testing.server.app import create_app, serving

__all__ = ["create_app", "serving"]
