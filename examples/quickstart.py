"""Stage drafts on four platforms and read a listing of several pages, on the fake service.

This needs no network and no account: the fake service runs in this process.
With a real service, create the client with `AdClient("https://…", token="…")` instead.
"""

import asyncio
from textwrap import indent

from adclient import AdClient, AsyncAdClient, Draft
from adclient.testing import FakeAdService


def show(title: str, draft: Draft) -> None:
    """Print a draft in a readable form."""
    percent = "" if draft.diff.percent is None else f"  ({draft.diff.percent:+.1f} %)"
    print(title)
    print(f"  {draft.draft_id}: {draft.status}, requires {draft.requires}")
    print(indent(f"{draft.diff}{percent}\n", "    "))


def stage_drafts(client: AdClient) -> None:
    """Stage one change on each platform. None of them takes effect."""
    show(
        "alpha: a higher daily budget",
        client.alpha.update_campaign_budget(
            account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=120
        ),
    )
    show(
        "beta: a campaign to pause",
        client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7"),
    )
    show(
        "gamma: a new image campaign",
        client.gamma.create_image_campaign(
            account_id="account_c3d8",
            fields={"name": "Autumn · Tents", "objective": "TRAFFIC", "daily_budget": 80},
        ),
    )
    show(
        "delta: a keyword to pause",
        client.delta.update_keyword(
            account_id="account_d118", keywords=["outdoor jacket"], fields={"action": "PAUSE"}
        ),
    )


def walk_listing(client: AdClient) -> None:
    """Iterate over every ad of an account, page by page."""
    page = client.gamma.list_ads(account_id="account_c3d8")
    print(f"gamma: {len(page.data)} ads on the first page, and more follow")
    number = 0
    for number, ad in enumerate(page, start=1):
        if number <= 3:
            print(f"  {ad.id}  {ad.status:<8} {ad.name}")
    print(f"  … {number} ads on all pages\n")


async def the_same_async(client: AsyncAdClient) -> None:
    """Stage two drafts at once, and iterate over a listing without awaiting its first page."""
    async with client:
        drafts = await asyncio.gather(
            client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7"),
            client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_cb1a"),
        )
        print(
            f"async: {len(drafts)} drafts staged at once: {', '.join(d.draft_id for d in drafts)}"
        )
        campaigns = client.beta.list_campaigns(account_id="account_b204", date_range="LAST_30_DAYS")
        enabled = [campaign.name async for campaign in campaigns if campaign.status == "ENABLED"]
        print(f"async: {len(enabled)} enabled campaigns, such as {enabled[0]!r}")


def main() -> None:
    """Run the sync and the async examples."""
    service = FakeAdService()
    with service.client() as client:
        stage_drafts(client)
        walk_listing(client)
    asyncio.run(the_same_async(service.async_client()))


if __name__ == "__main__":
    main()
