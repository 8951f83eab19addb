"""httpx2 and json, without a library on top."""

import httpx2

from field.contestants import by_hand


class Client(by_hand.Client):
    library = httpx2


class AsyncClient(by_hand.AsyncClient):
    library = httpx2


ids = by_hand.ids
items = by_hand.items
