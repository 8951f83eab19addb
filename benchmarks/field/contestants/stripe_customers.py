"""stripe: customers are listed and created."""

import json

import stripe

KEY = "sk_test_nothing"


def ids(page):
    return [customer.id for customer in page.data]


def customers(url, **settings):
    client = stripe.StripeClient(KEY, base_addresses={"api": url}, **settings)
    return client.v1.customers


class Canned(stripe.HTTPClient):
    """stripe's own seam: it is given and gives back plain values."""

    name = "canned"

    def __init__(self, response):
        super().__init__()
        self._response = response.body, response.status, response.headers

    def request(self, method, url, headers, post_data=None):  # noqa: ARG002 (as stripe calls it)
        return self._response

    def close(self):
        pass


class Client:
    ids = staticmethod(ids)

    def __init__(self, url, response=None, **settings):
        if response is not None:
            settings["http_client"] = Canned(response)
        self._customers = customers(url, **settings)

    def page(self, limit=10):
        return self._customers.list({"limit": limit, "email": "ines@example.com"})

    def post(self):
        return self._customers.create({"name": "Ines", "metadata": {"daily_budget": "120"}}).id

    def error(self):
        try:
            self.page()
        except stripe.InvalidRequestError as error:
            return error.http_status, error.user_message

    def listing(self):
        return (customer.id for customer in self.page(500).auto_paging_iter())

    def decode(self, body):
        return stripe.ListObject.construct_from(json.loads(body), KEY)

    def close(self):
        pass


class AsyncClient:
    ids = staticmethod(ids)

    def __init__(self, url, timeout=None):
        http_client = stripe.HTTPXClient(timeout=timeout) if timeout else None
        self._customers = customers(url, http_client=http_client)

    async def open(self):
        pass

    async def page(self):
        return await self._customers.list_async({"limit": 10, "email": "ines@example.com"})

    async def close(self):
        pass
