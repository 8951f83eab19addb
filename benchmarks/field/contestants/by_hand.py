"""httpx or its successor, and json, as a user would write it; the pages are dicts."""

import json

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


class Client:
    library = None  # httpx or httpx2
    ids = staticmethod(ids)

    def __init__(self, url, response=None, **settings):
        if response is not None:
            settings["transport"] = canned(self.library, response)
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

    def close(self):
        self._client.close()


class AsyncClient:
    library = None  # httpx or httpx2
    ids = staticmethod(ids)

    def __init__(self, url, response=None, **settings):
        if response is not None:
            settings["transport"] = canned(self.library, response)
        self._client = self.library.AsyncClient(base_url=url, **settings)

    async def open(self):
        pass

    async def page(self):
        response = await self._client.get(
            LIST, params={"account_id": "account_b204", "date_range": "LAST_30_DAYS"}
        )
        response.raise_for_status()
        return response.json()

    async def close(self):
        await self._client.aclose()
