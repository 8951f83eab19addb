"""What a fake takes from a service file: accounts with its rows, its pages, and a secret."""

import re
from collections.abc import Sequence
from itertools import cycle, islice
from math import ceil

from adclient._service.model import AuthShape, Row, Service
from adclient._values.json_values import JSON
from adclient.testing._fake.accounts import FakeAccount

_MAX_ITEMS = 10_000  # of one listing
_DIGITS = "0123456789"
_HUMP = re.compile("(?<=[a-z])[A-Z]")
_OF_PAGES = {"has", "is", "next", "last", "page"}


def replayed(rows: Sequence[Row], count: int, *, is_unique: bool) -> list[Row]:
    """As many items as a listing had, but no more than 10,000; repeated ones have other ids.

    With `is_unique`, so have those that have the id of another one, or none that is a text.
    """
    taken = {"", *(str(row["id"]) for row in rows if "id" in row)}
    numbers: dict[str, int] = {}

    def another(text: str) -> str:
        """The next id that is free, with as many digits."""
        digits = text[len(text.rstrip(_DIGITS)) :][-15:]
        prefix = text.removesuffix(digits)
        numbers.setdefault(prefix, int(digits or 0))
        while text in taken:
            numbers[prefix] += 1
            text = f"{prefix}{numbers[prefix]:0{len(digits)}}"
        taken.add(text)
        return text

    items: list[Row] = []
    seen: set[JSON] = {""}
    for number, row in enumerate(islice(cycle(rows), min(count, _MAX_ITEMS))):
        item_id = row.get("id")
        is_own = isinstance(item_id, str) and item_id not in seen
        if number >= len(rows) or (is_unique and not is_own):
            row = {**row, "id": another(str(row.get("id", "")))}
        seen.add(item_id if is_own else "")
        items.append(row)
    return items


def beside_items(pages: Sequence[Row], total: int, size: int, *, is_last: bool) -> Row:
    """What is beside the items of a page; totals, and whether there is more, are true."""

    def true(name: str, value: JSON) -> JSON:
        words = set(re.findall("[a-z]+", _HUMP.sub(r"_\g<0>", name).lower()))
        if isinstance(value, dict):
            return {key: true(key, inner) for key, inner in value.items()}
        if isinstance(value, bool) and ("more" in words or words <= _OF_PAGES):
            return is_last if "last" in words else not is_last
        is_number = re.fullmatch("[0-9]+", str(value)) and isinstance(value, int | str)
        if is_number and words & {"total", "count"}:
            known = ceil(total / size) if words & {"page", "pages"} else total
            return str(known) if isinstance(value, str) else known
        return value

    like = pages[-1 if is_last else 0] if pages else {}
    return {name: true(name, value) for name, value in like.items()}


_ENTITIES = ("beta.list_campaigns", "gamma.list_ads")  # which drafts can change


def accounts_like(service: Service) -> list[FakeAccount]:
    """The accounts of a service, with as many items as it had, or more if not all were seen."""
    accounts: list[FakeAccount] = []
    for account_id in account_ids(service):
        items: dict[str, list[Row]] = {}
        for read, listing in service.listings.items():
            if listing.account_id == account_id:
                is_cut = not listing.is_complete and listing.next is not None
                count = listing.count + (listing.page_size or listing.count) * is_cut
                items[read] = replayed(listing.rows, count, is_unique=read in _ENTITIES)
        campaigns, ads = (items.pop(read, []) for read in _ENTITIES)
        accounts.append(FakeAccount(account_id, campaigns=campaigns, ads=ads, reads=items))
    return accounts


def account_ids(service: Service) -> list[str]:
    """The accounts that a service file names, by themselves or in a listing."""
    listed = (listing.account_id for listing in service.listings.values())
    return list(dict.fromkeys([*service.accounts, *listed]))


def secret_of(auth: AuthShape | None) -> str | None:
    """An invented secret to send as a service expects; None if it expects none."""
    if auth is None or (auth.env is None and auth.file is None):
        return None
    return "fake:token" if auth.scheme.lower() == "basic" else "fake-token"
