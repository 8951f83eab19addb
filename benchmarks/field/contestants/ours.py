"""adclient."""

from functools import cache

import adclient
from field.shapes import ACCOUNTS


def ids(page):
    return [campaign.id for campaign in page.data]


def canned(response):
    import httpx

    return httpx.MockTransport(
        lambda _: httpx.Response(response.status, headers=response.headers, content=response.body)
    )


def items(page):
    return [campaign.to_dict() for campaign in page.data]


@cache
def decoder():
    """What a call does between the bytes and its page; no public name stops there."""
    # Here, as the row of the first response does not need them, and once, as a call does it.
    from adclient import Page, ResponseInfo
    from adclient._core.call import Call
    from adclient._core.decode import result_of
    from adclient._core.operations import BY_NAME
    from adclient._core.response import RawResponse

    call, info = (
        Call(BY_NAME["beta.list_campaigns"], "account_b204", None, {}, {}),
        ResponseInfo(status=200),
    )
    return lambda body: result_of(call, RawResponse(status=200, body=body), info, Page)


@cache
def campaign_class():
    """The class of a table; the rows of starts do not need it."""
    import attrs

    @attrs.frozen(kw_only=True)
    class Campaign:
        id: str
        name: str
        status: str
        objective: str | None
        currency: str
        daily_budget: float
        spend: float | None = None
        impressions: int
        clicks: int
        end_date: str | None
        labels: list[str]

    return Campaign


def configured(settings, response=None, token=None):
    if response is not None:
        settings["transport"] = canned(response)
    if token is not None:
        settings["token"] = lambda: adclient.Token(token())
    return settings


class Client:
    ids = staticmethod(ids)

    def __init__(self, url, response=None, token=None, **settings):
        self._client = adclient.AdClient(url, **configured(settings, response, token))

    def page(self):
        return self._client.beta.list_campaigns(
            account_id="account_b204", date_range="LAST_30_DAYS"
        )

    def post(self):
        return self._client.alpha.update_campaign_budget(
            account_id="account_a91f", campaign_id="campaign_57a7", daily_budget=120
        ).draft_id

    def error(self):
        try:
            self.page()
        except adclient.NotFound as error:
            return error.status, error.message

    def listing(self):
        return (campaign.id for campaign in self.page())

    def prefetched(self):
        return (campaign.id for campaign in self.page().items(prefetch=True))

    def pages(self, *, prefetch):
        return self.page().pages(prefetch=prefetch)

    def decode(self, body):
        return decoder()(body)

    def accounts(self, account_ids=ACCOUNTS, at_once=10):
        read = self._client.beta.list_campaigns
        for _, campaigns in self._client.over_accounts(read, account_ids, at_once=at_once):
            yield [campaign.id for campaign in campaigns]

    def nightly(self, account_ids, folder):
        from field import parts

        for account_id, campaigns in self._client.over_accounts(self._typed, account_ids):
            parts.write(campaigns.to_arrow(), folder, account_id)
            yield account_id

    def table(self):
        return self._typed().to_arrow()

    def _typed(self, account_id="account_b204"):
        return self._client.beta.list_campaigns(account_id=account_id).typed(campaign_class())

    def close(self):
        self._client.close()


class AsyncClient:
    ids = staticmethod(ids)

    def __init__(self, url, response=None, token=None, **settings):
        self._client = adclient.AsyncAdClient(url, **configured(settings, response, token))

    async def open(self):
        pass

    async def page(self):
        return await self._client.beta.list_campaigns(
            account_id="account_b204", date_range="LAST_30_DAYS"
        )

    def pages(self, *, prefetch):
        listing = self._client.beta.list_campaigns(account_id="account_b204")
        return listing.pages(prefetch=prefetch)

    async def accounts(self, account_ids, at_once):
        read = self._client.beta.list_campaigns
        async for _, campaigns in self._client.over_accounts(read, account_ids, at_once=at_once):
            yield [campaign.id for campaign in campaigns]

    async def nightly(self, account_ids, folder):
        from field import parts

        async for account_id, campaigns in self._client.over_accounts(self._typed, account_ids):
            parts.write(campaigns.to_arrow(), folder, account_id)
            yield account_id

    def _typed(self, account_id):
        return self._client.beta.list_campaigns(account_id=account_id).typed(campaign_class())

    async def close(self):
        await self._client.aclose()
