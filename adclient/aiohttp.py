"""Connections of aiohttp for the async client; they need `pip install 'adclient[aiohttp]'`."""

from adclient._http.aiohttp_transport import AiohttpTransport

__all__ = ["AiohttpTransport"]
