"""The limit: a socket, a request written by hand, and msgspec, which loses unknown fields."""

import socket
from urllib.parse import urlsplit

import msgspec

AT_ONCE = 100
LIST = "/v1/beta-ads/list-beta-campaigns?account_id=account_b204&date_range=LAST_30_DAYS"
UPDATE = "/v1/alpha-ads/update-alpha-campaign-budget"


class Campaign(msgspec.Struct):
    id: str
    name: str
    status: str


class PageInfo(msgspec.Struct):
    next: str | None


class Page(msgspec.Struct):
    data: list[Campaign]
    page: PageInfo


class Diff(msgspec.Struct):
    field: str
    before: object
    after: object


class Draft(msgspec.Struct):
    draft_id: str
    status: str
    diff: Diff
    requires: str


class Error(msgspec.Struct):
    code: str
    message: str


class ErrorBody(msgspec.Struct):
    error: Error


decode_page = msgspec.json.Decoder(Page).decode
decode_draft = msgspec.json.Decoder(Draft).decode
decode_error = msgspec.json.Decoder(ErrorBody).decode
encode = msgspec.json.encode


def ids(page):
    return [campaign.id for campaign in page.data]


def length_of(head):
    _, _, rest = head.partition(b"content-length: ")
    return int(rest.partition(b"\r\n")[0])


class Client:
    ids = staticmethod(ids)

    def __init__(self, url, response=None):
        parts = urlsplit(url)
        self._prefix, self._host, self._address = parts.path, parts.netloc, parts
        self._socket = None
        if response is not None:
            self._exchange = lambda *_: (response.status, response.body)

    def page(self, query=""):
        _, body = self._exchange("GET", LIST + query)
        return decode_page(body)

    def post(self):
        stage = {"account_id": "account_a91f", "campaign_id": "campaign_57a7", "daily_budget": 120}
        _, body = self._exchange("POST", UPDATE, encode(stage))
        return decode_draft(body).draft_id

    def error(self):
        status, body = self._exchange("GET", LIST)
        return status, decode_error(body).error.message

    def listing(self):
        page = self.page()
        while True:
            yield from self.ids(page)
            if page.page.next is None:
                return
            page = self.page(f"&cursor={page.page.next}")

    def decode(self, body):
        return decode_page(body)

    def close(self):
        if self._socket is not None:
            self._socket.close()

    def _exchange(self, method, target, body=b""):
        if self._socket is None:
            address = self._address.hostname, self._address.port
            self._socket = socket.create_connection(address)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(request(method, self._prefix + target, self._host, body))
        received = self._socket.recv(65536)
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += self._socket.recv(65536)
        head, pieces = received[:end], [received[end + 4 :]]
        missing = length_of(head + b"\r\n") - len(pieces[0])
        while missing > 0:
            pieces.append(self._socket.recv(min(missing, 1 << 20)))
            missing -= len(pieces[-1])
        return int(head[9:12]), b"".join(pieces)


def request(method, target, host, body=b""):
    head = f"{method} {target} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


class AsyncClient:
    ids = staticmethod(ids)

    def __init__(self, url, timeout=None):  # noqa: ARG002 (the worker passes it)
        self._url = urlsplit(url)
        self._request = request("GET", self._url.path + LIST, self._url.netloc)

    async def open(self):
        import asyncio

        self._connect = asyncio.open_connection
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._idle = []

    async def page(self):
        async with self._slots:
            if self._idle:
                reader, writer = self._idle.pop()
            else:
                reader, writer = await self._connect(self._url.hostname, self._url.port)
            writer.write(self._request)
            head = await reader.readuntil(b"\r\n\r\n")
            body = await reader.readexactly(length_of(head))
            self._idle.append((reader, writer))
        return decode_page(body)

    async def close(self):
        for _, writer in self._idle:
            writer.close()
