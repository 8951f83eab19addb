"""Let ads.example.com be a port of this machine; Python imports this module when it starts."""

import os
import socket

_getaddrinfo = socket.getaddrinfo


def _resolved(host, port, *arguments, **options):
    if host in ("ads.example.com", b"ads.example.com"):
        host, port = "127.0.0.1", os.environ["ADS_EXAMPLE_COM_PORT"]
    return _getaddrinfo(host, port, *arguments, **options)


socket.getaddrinfo = _resolved
