"""The order and the pace in which a connection tries the addresses of a host (RFC 8305)."""

import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain, zip_longest

Place = tuple[str | int | bytes, ...]
Address = tuple[int, int, int, str, Place]  # as `socket.getaddrinfo` returns it

# Seconds until the next address is tried as well, unless the one before has failed earlier. The
# RFC recommends 250 ms.
ATTEMPT_DELAY = 0.25


class LastPlace:
    """The address that accepted the last connection of a client; the next one tries it first."""

    def __init__(self) -> None:
        # Otherwise an address that does not respond would delay every new connection.
        self.place: Place | None = None

    def first_in(self, addresses: Sequence[Address]) -> list[Address]:
        """Order the addresses for the attempts; families alternate, as one may be unreachable."""
        families: dict[int, list[Address]] = {}
        for address in addresses:
            families.setdefault(address[0], []).append(address)
        alternating = filter(None, chain.from_iterable(zip_longest(*families.values())))
        # Sorting is stable, so the other addresses keep alternating.
        return sorted(alternating, key=lambda address: address[4] != self.place)


def start_connecting(address: Address) -> socket.socket:
    """A socket that becomes writable when it is connected, or when that has failed."""
    family, kind, protocol, _, place = address
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setblocking(False)
        # httpcore writes head and body separately; the body should not wait for an ACK.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(BlockingIOError):  # others come at once, such as for a broadcast address
            sock.connect(place)
    except BaseException:
        sock.close()
        raise
    return sock


def check_connected(sock: socket.socket) -> None:
    """Raise the error of a writable socket that is not connected, and close it."""
    # A socket becomes writable in both cases; only this option tells them apart.
    if code := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
        sock.close()
        raise OSError(code, os.strerror(code))
