"""Connections of aiohttp for the async client; they need `pip install 'adclient[aiohttp]'`."""

from adclient._http.aiohttp import AiohttpTransport

__all__ = ["AiohttpTransport"]
