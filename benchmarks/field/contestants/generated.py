"""A client that openapi-python-client made of the fake's OpenAPI document."""

import json

import generated_client
import httpx
from generated_client.api.alpha import alpha_update_campaign_budget as update_budget
from generated_client.api.beta import beta_list_campaigns as list_campaigns
from generated_client.models import AlphaUpdateCampaignBudgetBody, BetaListCampaignsResponse200
from generated_client.types import UNSET


def ids(page):
    return [campaign.id for campaign in page.data]


class Client:
    ids = staticmethod(ids)

    def __init__(self, url, response=None, **settings):
        if response is not None:
            settings["httpx_args"] = {
                "transport": httpx.MockTransport(
                    lambda _: httpx.Response(
                        response.status, headers=response.headers, content=response.body
                    )
                )
            }
        self._client = generated_client.Client(base_url=url, **settings)

    def page(self, cursor=UNSET):
        return list_campaigns.sync(
            client=self._client,
            account_id="account_b204",
            date_range="LAST_30_DAYS",
            cursor=cursor,
        )

    def post(self):
        body = AlphaUpdateCampaignBudgetBody(
            account_id="account_a91f", campaign_id="campaign_57a7", daily_budget=120
        )
        return update_budget.sync(client=self._client, body=body).draft_id

    def error(self):
        """Statuses that the document names are no exceptions in such a client."""
        response = list_campaigns.sync_detailed(client=self._client, account_id="account_b204")
        return response.status_code.value, response.parsed.error.message

    def listing(self):
        page = self.page()
        while True:
            yield from self.ids(page)
            if page.page.next_ is None:
                return
            page = self.page(page.page.next_)

    def decode(self, body):
        return BetaListCampaignsResponse200.from_dict(json.loads(body))

    def close(self):
        self._client.get_httpx_client().close()


class AsyncClient:
    ids = staticmethod(ids)

    def __init__(self, url, **settings):
        self._client = generated_client.Client(base_url=url, **settings)

    async def open(self):
        pass

    async def page(self):
        return await list_campaigns.asyncio(
            client=self._client, account_id="account_b204", date_range="LAST_30_DAYS"
        )

    async def close(self):
        await self._client.get_async_httpx_client().aclose()
