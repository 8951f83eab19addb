"""The table of an account, as all contestants write it."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from field.shapes import HOLDINGS, reply_to

_text, _number = pyarrow.string(), pyarrow.float64()
SCHEMA = pyarrow.schema(
    [
        pyarrow.field("id", _text, nullable=False),
        pyarrow.field("name", _text, nullable=False),
        pyarrow.field("status", _text, nullable=False),
        pyarrow.field("objective", _text),
        pyarrow.field("currency", _text, nullable=False),
        pyarrow.field("daily_budget", _number, nullable=False),
        pyarrow.field("spend", _number),
        pyarrow.field("impressions", pyarrow.int64(), nullable=False),
        pyarrow.field("clicks", pyarrow.int64(), nullable=False),
        pyarrow.field("end_date", _text),
        pyarrow.field("labels", pyarrow.list_(_text), nullable=False),
    ]
)
OF_ACCOUNT = SCHEMA.insert(0, pyarrow.field("account_id", _text, nullable=False))


def table(holding: str, account_id: str | None = None) -> Any:
    """The table of all pages of a holding, of an account if there is one."""
    rows = [{"account_id": account_id, **item} for item in _items(holding)]
    return pyarrow.Table.from_pylist(rows, schema=OF_ACCOUNT if account_id else SCHEMA)


def write(found: Any, folder: str, account_id: str) -> None:
    parquet.write_table(found, f"{folder}/{account_id}.parquet")


def read(path: Path) -> Any:
    return parquet.read_table(path)


@cache
def _items(holding: str) -> list[Any]:
    _, pages = HOLDINGS[holding]
    targets = ["", *(f"?cursor=page_{100_000 + page}" for page in range(2, pages + 1))]
    bodies = [reply_to("GET", "ads", holding, target).body for target in targets]
    return [item for body in bodies for item in json.loads(body)["data"]]
