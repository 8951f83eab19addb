"""A fake over HTTPS, by the standard library: for pages, which need not install a web server."""

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from adclient import Request
from adclient._core.response import RawResponse
from adclient.testing import FakeAdService

CERTIFICATE = Path(__file__).with_name("localhost.pem")  # names ads.example.com, too


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake: FakeAdService

    def _respond(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        if self.path == "/oauth/token":  # the service also issues its token, as OAuth servers do
            assert body == b"grant_type=client_credentials"
            token = {"access_token": "YOUR-TOKEN", "token_type": "Bearer", "expires_in": 3600}
            headers = {"content-type": "application/json"}
            response = RawResponse(status=200, headers=headers, body=json.dumps(token).encode())
        else:
            url, headers = f"https://{self.headers['host']}{self.path}", dict(self.headers)
            asked = Request(method=self.command, url=url, headers=headers, body=body or None)
            outcome, _ = self.fake.handle_untimed(asked)
            assert isinstance(outcome, RawResponse), "no page loses a response"
            response = outcome
        self.send_response(response.status)
        for name, value in {**response.headers, "content-length": len(response.body)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(response.body)

    do_GET = do_POST = do_DELETE = _respond  # noqa: N815 (http.server wants these names)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 64

    def finish_request(self, request: ssl.SSLSocket, client_address: object) -> None:
        request.do_handshake()  # in the thread of the connection
        super().finish_request(request, client_address)

    def handle_error(self, *_: object) -> None:
        """Print nothing when a client is gone."""


@contextmanager
def served(fake: FakeAdService) -> Iterator[int]:
    """Serve a fake at a port of this machine."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    with _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"fake": fake})) as server:
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        thread = Thread(target=server.serve_forever, args=[0.01], daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
