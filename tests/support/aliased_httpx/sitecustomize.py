"""Put httpx2 and httpcore2 in the places of httpx and httpcore, as Python starts."""

import httpx2

httpx2.alias_httpx()
