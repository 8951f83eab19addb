"""The order and the pace in which a connection tries the addresses of a host (RFC 8305)."""

import socket
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import suppress
from itertools import chain, zip_longest

from adclient._http.send import strerror

Place = tuple[str | int | bytes, ...]
Address = tuple[int, int, int, str, Place]  # as `socket.getaddrinfo` returns it
# Yields sockets and how many seconds to wait for one of them, and receives those that are writable.
Connecting = Generator[tuple[Collection[socket.socket], float], list[socket.socket], socket.socket]

# Seconds until the next address is tried as well, unless the one before has failed earlier. The
# RFC recommends 250 ms.
ATTEMPT_DELAY = 0.25


class Connector:
    """Connects a client to its host, first to the address that accepted the last connection."""

    def __init__(self) -> None:
        # Otherwise an address that does not respond would delay every new connection.
        self.last_place: Place | None = None

    def in_order(self, addresses: Sequence[Address]) -> list[Address]:
        """Order the addresses for the attempts; families alternate, as one may be unreachable."""
        families: dict[int, list[Address]] = {}
        for address in addresses:
            families.setdefault(address[0], []).append(address)
        alternating = filter(None, chain.from_iterable(zip_longest(*families.values())))
        # Sorting is stable, so the other addresses keep alternating.
        return sorted(alternating, key=lambda address: address[4] != self.last_place)

    def connect(self, addresses: Sequence[Address], time_left: Callable[[], float]) -> Connecting:
        """Connect to several addresses, and return the socket of the first that accepts."""
        untried, errors = self.in_order(addresses), list[OSError]()
        delay = min(ATTEMPT_DELAY, time_left() / len(untried))  # all are tried before the deadline
        pending: dict[socket.socket, Place] = {}
        try:
            while untried or pending:
                left = time_left()
                try:
                    if untried:
                        address = untried.pop(0)
                        pending[_start_connecting(address)] = address[4]
                    for sock in (yield pending, min(delay, left) if untried else left):
                        place = pending.pop(sock)
                        # It is writable in both cases; only this option tells them apart.
                        if code := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                            sock.close()
                            raise OSError(code, strerror(code))
                        self.last_place = place
                        return sock
                except OSError as error:
                    errors.append(error.with_traceback(None))  # avoids a cycle with this frame
            raise errors.pop()
        finally:
            for sock in pending:  # slower addresses; all of them after an interrupt
                sock.close()


def _start_connecting(address: Address) -> socket.socket:
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
