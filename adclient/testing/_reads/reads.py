"""The reads of any account: its items, or rows that were given."""

from collections.abc import Sequence
from datetime import date
from functools import partial

from adclient.testing._accounts.state import Account, Entity, Kind, Read
from adclient.testing._http.requests import ParsedRequest
from adclient.testing._reads.pages import Row, Rows


def read_entities(kind: Kind) -> Read:
    """A read of the entities of a kind, with all their fields."""

    def read(account: Account, request: ParsedRequest, _: date) -> Rows:
        return [partial(dict, each.values) for each in select_entities(account, request, kind)]

    return read


def read_rows(given: Sequence[Row]) -> Read:
    """A read of rows that no draft changes; they may be about creatives."""

    def read(account: Account, request: ParsedRequest, _: date) -> Rows:
        creative_id = request.text("creative_id")
        found = [
            row for row in given if creative_id in (None, row.get("creative_id", row.get("id")))
        ]
        if creative_id is not None and not found:
            account.get("creative", creative_id)
        return [partial(dict, row) for row in found]

    return read


def select_entities(account: Account, request: ParsedRequest, kind: Kind) -> list[Entity]:
    """The entity that a request names, or all of a kind."""
    entity_id = request.text(f"{kind}_id")
    return account.all(kind) if entity_id is None else [account.get(kind, entity_id)]
