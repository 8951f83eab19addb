"""What a fake takes from a service file: accounts with its rows, and a secret."""

from adclient._service.model import AuthShape, Listing, Service
from adclient.testing._fake.account import FakeAccount
from adclient.testing._like.items import replayed

_ENTITIES = ("beta.list_campaigns", "gamma.list_ads")  # which drafts can change


def accounts_like(service: Service) -> list[FakeAccount]:
    """The accounts of a service, with as many items as it had, or more if not all were seen."""
    accounts: list[FakeAccount] = []
    for account_id in account_ids(service):
        items = {
            read: replayed(listing.rows, _count(listing), is_unique=read in _ENTITIES)
            for read, listing in service.listings.items()
            if listing.account_id == account_id
        }
        campaigns, ads = (items.pop(read, []) for read in _ENTITIES)
        accounts.append(FakeAccount(account_id, campaigns=campaigns, ads=ads, reads=items))
    return accounts


def account_ids(service: Service) -> list[str]:
    """The accounts that a service file names, by themselves or in a listing."""
    listed = (listing.account_id for listing in service.listings.values())
    return list(dict.fromkeys([*service.accounts, *listed]))


def _count(listing: Listing) -> int:
    """How many items the listing has: another page if it was not read to its end."""
    more = 0 if listing.is_complete or listing.next is None else listing.page_size or listing.count
    return listing.count + more


def secret_of(auth: AuthShape | None) -> str | None:
    """An invented secret to send as a service expects; None if it expects none."""
    if auth is None or (auth.env is None and auth.file is None):
        return None
    return "fake:token" if auth.scheme.lower() == "basic" else "fake-token"
