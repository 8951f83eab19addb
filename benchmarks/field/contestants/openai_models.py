"""openai: models are listed, and a chat completion is created. Listings page with files, because
models have no further pages."""

import json

import openai
from openai.pagination import SyncPage
from openai.types import Model

KEY = "sk-nothing"


def ids(page):
    return [model.id for model in page.data]


class Client:
    ids = staticmethod(ids)

    def __init__(self, url, response=None, **settings):
        if response is not None:
            import httpx2

            settings["http_client"] = httpx2.Client(
                transport=httpx2.MockTransport(
                    lambda _: httpx2.Response(
                        response.status, headers=response.headers, content=response.body
                    )
                )
            )
        self._client = openai.OpenAI(api_key=KEY, base_url=url, **settings)

    def page(self):
        return self._client.models.list(extra_query={"date_range": "LAST_30_DAYS"})

    def post(self):
        return self._client.chat.completions.create(
            model="gpt-4o", messages=[{"role": "user", "content": "daily_budget: 120"}]
        ).id

    def error(self):
        try:
            self.page()
        except openai.NotFoundError as error:
            return error.status_code, error.body["message"]

    def listing(self):
        return (file.id for file in self._client.files.list(limit=500))

    def decode(self, body):
        return SyncPage[Model].construct(**json.loads(body))

    def close(self):
        self._client.close()


class AsyncClient:
    ids = staticmethod(ids)

    def __init__(self, url, **settings):
        self._client = openai.AsyncOpenAI(api_key=KEY, base_url=url, **settings)

    async def open(self):
        pass

    async def page(self):
        return await self._client.models.list(extra_query={"date_range": "LAST_30_DAYS"})

    async def close(self):
        await self._client.close()
