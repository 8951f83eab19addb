"""What a fake takes from a service file: accounts, with items of the same shapes, and a secret."""

import re

from adclient._core.operations import READS
from adclient._service.model import AuthShape, Listing, Service, Shape
from adclient.testing._fake.account import FakeAccount
from adclient.testing._like.items import Row, ids_of, rows_of


def accounts_like(service: Service, seed: str) -> list[FakeAccount]:
    """The accounts of a service, with as many items as it had, or more if not all were seen."""
    ids = {
        read: ids_of(listing.item.get("id", Shape()), _kind(read), _count(listing))
        for read, listing in service.listings.items()
    }
    accounts: list[FakeAccount] = []
    for account_id in account_ids(service):
        items: dict[str, list[Row]] = {}
        for read, listing in service.listings.items():
            if listing.account_id == account_id:
                rows = rows_of(listing.item, len(ids[read]), seed, _kind(read), ids)
                own = zip(rows, ids[read], strict=True)
                items[read] = [{**row, "id": item_id} for row, item_id in own]
        campaigns, ads = items.pop("beta.list_campaigns", ()), items.pop("gamma.list_ads", ())
        accounts.append(FakeAccount(account_id, campaigns=campaigns, ads=ads, reads=items))
    return accounts


def account_ids(service: Service) -> list[str]:
    """The accounts that a service file names, by themselves or in a listing."""
    listed = (listing.account_id for listing in service.listings.values())
    return list(dict.fromkeys([*service.accounts, *listed]))


def _kind(read: str) -> str:
    """What the items of a read are, such as `targeting_option`."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", READS[read].result.__name__).lower()


def _count(listing: Listing) -> int:
    """How many items the listing has: another page if it was not read to its end."""
    more = 0 if listing.is_complete or listing.next is None else listing.page_size or listing.count
    return listing.count + more


def secret_of(auth: AuthShape | None) -> str | None:
    """An invented secret to send as a service expects; None if it expects none."""
    if auth is None:
        return None
    return "fake:token" if auth.scheme.lower() == "basic" else "fake-token"
