"""httpx and json, without a library on top."""

import httpx

from field.contestants import by_hand


class Client(by_hand.Client):
    library = httpx


class AsyncClient(by_hand.AsyncClient):
    library = httpx


ids = by_hand.ids
items = by_hand.items
