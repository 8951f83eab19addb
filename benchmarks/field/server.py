"""The service over HTTP/1.1, as fast as plain asyncio allows: it parses next to nothing.

The target of a request is `/SHAPE/HOLDING/…`. The process prints its port and ends with its stdin.
"""

import asyncio
import re
import sys
from collections import Counter

from field.cores import SERVER_CORE, allow_sockets, pin
from field.shapes import DELAYS, LIVES, WAITS, reply_to, single

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_TOKEN = re.compile(rb"\r\nauthorization: Bearer (\w+)", re.IGNORECASE)
_ACCOUNT = re.compile(r"account_id=account_(\d+)")
_END = b"\r\n\r\n"


class Connection(asyncio.Protocol):
    """One connection: each whole request is answered at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(_END)) >= 0:
            length = _LENGTH.search(self._received, 0, end)
            whole = end + len(_END) + (int(length[1]) if length else 0)
            if len(self._received) < whole:
                return
            delay, response = _response(self._received[:end])
            if delay:
                asyncio.get_running_loop().call_later(delay, self._transport.write, response)
            else:
                self._transport.write(response)
            self._received = self._received[whole:]


class Gate:
    """Refuses requests whose token has ended, and asks some accounts to wait before each page."""

    def __init__(self) -> None:
        self._uses: Counter[bytes] = Counter()
        self._waiting: set[str] = set()

    def status(self, request: bytes, target: str, life: int) -> int:
        token = _TOKEN.search(request)
        if token is None or self._uses[token[1]] >= life:
            return 401
        self._uses[token[1]] += 1
        account = _ACCOUNT.search(target)
        if account is None or int(account[1]) % WAITS:
            return 200
        self._waiting ^= {target}
        return 429 if target in self._waiting else 200


_gate = Gate()


def _response(request: bytes) -> tuple[float, bytes]:
    """How long the service takes for a response, and its bytes."""
    method, target, _ = request.partition(b"\r\n")[0].decode("ascii").split(" ")
    _, shape, holding, rest = target.split("/", 3)
    status = _gate.status(request, target, LIVES[holding]) if holding in LIVES else 200
    if status == 200:
        status, headers, body = reply_to(method, shape, holding, rest)
    else:
        status, headers, body = single(shape, status)
    headers = {**headers, "content-length": str(len(body))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {status} Canned\r\n{lines}\r\n".encode()
    return DELAYS.get(holding, 0), head + body


async def serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    pin(SERVER_CORE)
    allow_sockets()
    asyncio.run(serve())
