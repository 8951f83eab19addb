"""Listening sockets of servers on this machine."""

import socket


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=2048)
    # Accepted connections inherit it. asyncio sets it only for sockets that name their protocol,
    # and without it, each response waits 40 ms between its head and its body.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def address_of(listening: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
