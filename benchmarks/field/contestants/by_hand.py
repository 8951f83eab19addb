"""httpx or its successor, and json, as a user would write it; the pages are dicts."""

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from field.shapes import ACCOUNTS

LIST = "/v1/beta-ads/list-beta-campaigns"
UPDATE = "/v1/alpha-ads/update-alpha-campaign-budget"


def ids(page):
    return [item["id"] for item in page["data"]]


def items(page):
    return page["data"]


def canned(library, response):
    return library.MockTransport(
        lambda _: library.Response(response.status, headers=response.headers, content=response.body)
    )


def write_part(folder, account_id, items):
    import pyarrow

    from field import parts

    for item in items:
        item["account_id"] = account_id
    found = pyarrow.Table.from_pylist(items, schema=parts.OF_ACCOUNT)
    parts.write(found, folder, account_id)
    return account_id


class Client:
    library = None  # httpx or httpx2
    ids = staticmethod(ids)

    def __init__(self, url, response=None, token=None, **settings):
        if response is not None:
            settings["transport"] = canned(self.library, response)
        if token is not None:
            self._new_token, self._token, self._renewing = token, token(), threading.Lock()
        self._client = self.library.Client(base_url=url, **settings)

    def page(self, **parameters):
        response = self._client.get(
            LIST,
            params={"account_id": "account_b204", "date_range": "LAST_30_DAYS", **parameters},
        )
        response.raise_for_status()
        return response.json()

    def post(self):
        response = self._client.post(
            UPDATE,
            json={
                "account_id": "account_a91f",
                "campaign_id": "campaign_57a7",
                "daily_budget": 120,
            },
        )
        response.raise_for_status()
        return response.json()["draft_id"]

    def error(self):
        try:
            self.page()
        except self.library.HTTPStatusError as error:
            return error.response.status_code, error.response.json()["error"]["message"]

    def listing(self):
        page = self.page()
        while True:
            yield from self.ids(page)
            if page["page"]["next"] is None:
                return
            page = self.page(cursor=page["page"]["next"])

    prefetched = listing  # without a library there is no prefetching to compare with

    def decode(self, body):
        return json.loads(body)

    def accounts(self, account_ids=ACCOUNTS, at_once=10):
        def read(account_id):
            return [item["id"] for item in self._items(self._page_again, account_id)]

        with ThreadPoolExecutor(at_once) as pool:
            yield from pool.map(read, account_ids)

    def nightly(self, account_ids, folder):
        def write(account_id):
            return write_part(folder, account_id, self._items(self._patient_page, account_id))

        with ThreadPoolExecutor(10) as pool:
            yield from pool.map(write, account_ids)

    def table(self):
        import pyarrow

        from field import parts

        items = self._items(self.page, "account_b204")
        return pyarrow.Table.from_pylist(items, schema=parts.SCHEMA)

    def _items(self, read, account_id):
        page = read(account_id=account_id)
        items = page["data"]
        while page["page"]["next"] is not None:
            page = read(account_id=account_id, cursor=page["page"]["next"])
            items += page["data"]
        return items

    def _page_again(self, **parameters):
        try:
            return self.page(**parameters)
        except self.library.TransportError:  # its pool may close a connection that is in use
            return self._page_again(**parameters)

    def _patient_page(self, **parameters):
        """A page, with a new token when the old one has ended, and after a wait if asked to."""
        while True:
            token = self._token
            headers = {"authorization": f"Bearer {token}"}
            response = self._client.get(LIST, params=parameters, headers=headers)
            if response.status_code == 401:
                with self._renewing:
                    if self._token == token:  # no other thread has renewed it
                        self._token = self._new_token()
            elif response.status_code == 429:
                time.sleep(float(response.headers["retry-after"]))
            else:
                response.raise_for_status()
                return response.json()

    def close(self):
        self._client.close()


class AsyncClient:
    library = None  # httpx or httpx2
    ids = staticmethod(ids)

    def __init__(self, url, response=None, token=None, **settings):
        if response is not None:
            settings["transport"] = canned(self.library, response)
        if token is not None:
            self._new_token, self._token = token, token()
        self._client = self.library.AsyncClient(base_url=url, **settings)

    async def open(self):
        pass

    async def page(self, **parameters):
        response = await self._client.get(
            LIST,
            params={"account_id": "account_b204", "date_range": "LAST_30_DAYS", **parameters},
        )
        response.raise_for_status()
        return response.json()

    async def accounts(self, account_ids, at_once):
        slots = asyncio.Semaphore(at_once)

        async def read(account_id):
            async with slots:
                return [item["id"] for item in await self._items(self.page, account_id)]

        for found in asyncio.as_completed(map(read, account_ids)):
            yield await found

    async def nightly(self, account_ids, folder):
        slots = asyncio.Semaphore(10)

        async def write(account_id):
            async with slots:
                items = await self._items(self._patient_page, account_id)
                return write_part(folder, account_id, items)

        for found in asyncio.as_completed(map(write, account_ids)):
            yield await found

    async def _items(self, read, account_id):
        page = await read(account_id=account_id)
        items = page["data"]
        while page["page"]["next"] is not None:
            page = await read(account_id=account_id, cursor=page["page"]["next"])
            items += page["data"]
        return items

    async def _patient_page(self, **parameters):
        """A page, with a new token when the old one has ended, and after a wait if asked to."""
        while True:
            token = self._token
            headers = {"authorization": f"Bearer {token}"}
            response = await self._client.get(LIST, params=parameters, headers=headers)
            if response.status_code == 401:
                if self._token == token:  # no other task has renewed it
                    self._token = self._new_token()
            elif response.status_code == 429:
                await asyncio.sleep(float(response.headers["retry-after"]))
            else:
                response.raise_for_status()
                return response.json()

    async def close(self):
        await self._client.aclose()
