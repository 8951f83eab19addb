"""The name under which a request has reached the server."""

import re

from starlette.datastructures import Headers
from starlette.types import Scope

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?", re.ASCII | re.IGNORECASE)


def host_of(scope: Scope) -> str:
    """The host, and a port if one is named; empty if the request names none that could be one."""
    host = Headers(scope=scope).get("host", "")
    return host if _HOST.fullmatch(host) else ""
