"""Load many accounts into DuckDB with dlt: campaigns, and the days of their creatives.

    python dlt_duckdb.py account_b204 account_b7e0

A row replaces the one with the same key, so a night that is loaded twice is there once. An account
that could not be read, or has a value that does not fit its class, becomes a row of the table
`failures`, and does not stop the others.
"""

import sys
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

import attrs
import dlt

from adclient import AdClient, AdClientError, Campaign, CreativeFatigue, Page

CORRECTED = timedelta(days=7)  # how long the platform may correct the figures of a day


@attrs.frozen(kw_only=True)
class Spending(Campaign):
    spend: Decimal | None = attrs.field(default=None, metadata={"decimal": (12, 2)})
    roas: float | None = None


@attrs.frozen
class Day:
    date: date
    ctr: float | None = None
    frequency: float | None = None


@attrs.frozen(kw_only=True)
class Fatigue(CreativeFatigue):
    series: list[Day] = attrs.field(factory=list)


def failure(account_id: str, error: AdClientError | ValueError) -> object:
    """A row of its own table; `_dlt_load_id` tells the night."""
    code = error.code if isinstance(error, AdClientError) else "misfit"
    row = {"account_id": account_id, "code": code, "error": str(error)}
    hints = dlt.mark.make_hints(table_name="failures", write_disposition="append", primary_key=())
    return dlt.mark.with_hints(row, hints, create_table_variant=True)


@dlt.resource(primary_key=("account_id", "id"), write_disposition="merge")
def campaigns(client: AdClient, account_ids: list[str]) -> Iterator[object]:
    def read(account_id: str) -> Page[Spending]:
        return client.beta.list_campaigns(account_id=account_id).typed(Spending)

    for account_id, found in client.over_accounts(read, account_ids):
        try:
            if isinstance(found, AdClientError):
                raise found
            result: object = found.to_arrow()
        except (AdClientError, ValueError) as error:
            result = failure(account_id, error)
        yield result


@dlt.resource(primary_key=("account_id", "id", "date"), write_disposition="merge")
def creative_days(client: AdClient, account_ids: list[str]) -> Iterator[object]:
    def read(account_id: str) -> Page[Fatigue]:
        return client.beta.detect_creative_fatigue(account_id=account_id).typed(Fatigue)

    # With `dlt.sources.incremental`, all accounts have one last date, and one that was disconnected
    # for a while would never get the days before it.
    since = dlt.current.resource_state()
    for account_id, found in client.over_accounts(read, account_ids):
        if isinstance(found, AdClientError):
            yield failure(account_id, found)
            continue
        for creative in found:
            name = f"{account_id} {creative.id}"
            days = [day for day in creative.series if day.date >= since.get(name, date.min)]
            key = {"account_id": account_id, "id": creative.id}
            yield [{**key, **attrs.asdict(day)} for day in days]
            if days:
                since[name] = max(day.date for day in days) - CORRECTED


if __name__ == "__main__":
    database = dlt.destinations.duckdb("ads.duckdb")
    pipeline = dlt.pipeline("adclient", destination=database, dataset_name="nightly")
    with AdClient() as client:
        print(pipeline.run([read(client, sys.argv[1:]) for read in (campaigns, creative_days)]))
