"""A raw socket server on 127.0.0.1, for failures that an HTTP server cannot produce."""

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path

import httpx
from clients import DRAFT

# Seconds until a server closes a connection on which nothing happens, so that a hang of the client
# ends as a failed test.
PATIENCE = 20
CERTIFICATE = Path(__file__).with_name("localhost.pem")  # with its key; it vouches for itself
LISTING = {"data": [{"id": "x", "name": "X", "status": "ENABLED"}], "page": {"next": None}}


class Connection:
    """One accepted connection."""

    def __init__(self, server: "RawServer", sock: socket.socket) -> None:
        self._server = server
        self._sock = sock
        self._pending = bytearray()
        self.is_over = False

    def read(self) -> bytes | None:
        """Read and record one whole request; return None if the client has closed."""
        while (length := _length(self._pending)) is None:
            if not (received := self.receive()):
                return None
            self._pending += received
        request = bytes(self._pending[:length])
        del self._pending[:length]
        with self._server.lock:
            self._server.requests.append(request)
        return request

    def start_tls(self, context: ssl.SSLContext | None = None) -> None:
        """Add a layer of TLS, also over another one; the connection is over if that fails."""
        try:
            self._sock = _TLSSocket(self._sock, context or _context())
        except OSError:
            self.is_over = True

    def send(self, data: bytes) -> None:
        try:
            self._sock.sendall(data)
        except OSError:
            self.is_over = True

    def send_together(self, *parts: bytes) -> None:
        """Send parts in one segment, and each in a TLS record of its own if there is TLS."""
        if isinstance(self._sock, _TLSSocket):
            self._sock.sendall(*parts)
        else:
            self.send(b"".join(parts))

    def pause(self, seconds: float) -> None:
        """Wait, but not after the server stops."""
        self._server.stopping.wait(seconds)

    def stay_silent(self) -> None:
        self._server.stopping.wait(PATIENCE)

    def wait_for_the_end(self) -> None:
        """Wait until the client closes."""
        while self.receive():
            pass

    def reset(self) -> None:
        """Reset the connection."""
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self) -> None:
        self._sock.close()

    def receive(self, size: int = 65536) -> bytes:
        """What comes next; nothing is the end."""
        try:
            return self._sock.recv(size)
        except OSError:
            return b""


class _TLSSocket:
    """The server's side of TLS, over anything that has `recv` and `sendall`."""

    def __init__(self, below, context: ssl.SSLContext) -> None:
        self._below = below
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._perform(self._object.do_handshake)

    def recv(self, size: int) -> bytes:
        return self._perform(self._object.read, size)

    def sendall(self, *records: bytes) -> None:
        for data in records:
            self._object.write(data)
        self._flush()

    def _perform(self, operation, *arguments):
        while True:
            try:
                return operation(*arguments)
            except ssl.SSLWantReadError:
                self._flush()
                if received := self._below.recv(65536):
                    self._incoming.write(received)
                else:
                    self._incoming.write_eof()
            finally:
                self._flush()

    def _flush(self) -> None:
        self._below.sendall(self._outgoing.read())


@cache
def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


class RawServer:
    """Runs `serve` for each connection in a separate thread, and then closes the connection."""

    def __init__(self, serve: Callable[[Connection], None], port: int = 0) -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self._serve = serve
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", port), backlog=512)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._start(self._accept)

    def __enter__(self) -> "RawServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        with self.lock:
            for sock in self._open:
                with suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self.stopping.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # each send is a segment
            sock.settimeout(PATIENCE)
            with self.lock:
                self.connections += 1
                self._open.append(sock)
            self._start(self._run, sock)

    def _run(self, sock: socket.socket) -> None:
        with sock:
            self._serve(Connection(self, sock))
            with self.lock:
                self._open.remove(sock)


def _length(data: bytearray) -> int | None:
    """The length of the first request in the data; None if it is incomplete."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return None
    length = end + 4
    for line in data[:end].lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length += int(line.partition(b":")[2])
    return length if len(data) >= length else None


def refusing_url() -> str:
    """Return a URL at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return f"http://127.0.0.1:{sock.getsockname()[1]}"


def head(status: int, length: int, *lines: str) -> bytes:
    first = f"HTTP/1.1 {status} Any"
    return "\r\n".join([first, f"Content-Length: {length}", *lines, "", ""]).encode()


def reply(status: int, body: bytes, *lines: str) -> bytes:
    return head(status, len(body), *lines) + body


def answer_to(request: bytes, *lines: str) -> bytes:
    """Respond with a draft to a write, and with a listing to a read."""
    if request.startswith(b"GET"):
        return reply(200, json.dumps(LISTING).encode(), *lines)
    return reply(201, json.dumps(DRAFT).encode(), *lines)


def serve_well(connection: Connection) -> None:
    while request := connection.read():
        connection.send(answer_to(request))


def responding(data: bytes):
    """Respond to each request with the same bytes."""

    def serve(connection: Connection) -> None:
        while connection.read():
            connection.send(data)

    return serve


def handling(handle: Callable[[httpx.Request], httpx.Response], url: str = "http://127.0.0.1"):
    """Respond to each request, as one for a URL, with what a function makes of it."""

    def serve(connection: Connection) -> None:
        while request := connection.read():
            head, _, body = request.partition(b"\r\n\r\n")
            first, *lines = head.decode().split("\r\n")
            method, target, _ = first.split()
            headers = httpx.Headers([line.split(": ", 1) for line in lines])
            response = handle(httpx.Request(method, url + target, headers=headers, content=body))
            response.headers.pop("content-length", None)
            lines = [f"{name}: {value}" for name, value in response.headers.items()]
            connection.send(reply(response.status_code, response.read(), *lines))

    return serve


@asynccontextmanager
async def serving(client_kind, serve: Callable[[Connection], object], **options):
    """A server, and an open client of it."""
    with RawServer(serve) as server:
        async with client_kind.open(server.url, **options) as client:
            yield server, client
