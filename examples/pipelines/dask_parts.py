"""Read the campaigns of many accounts with Dask, as Parquet parts in a folder.

    python dask_parts.py parts/2026-03-02 account_b204 account_b7e0

Each account is one task. It writes a part for each page, and then where the next page begins. A
task whose worker died continues there, in this run or in the next one. It may read one page again,
whose part replaces the earlier one: no row is missing, and none is there twice.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import cast
from urllib.parse import quote
from uuid import uuid4

import attrs
from dask.distributed import Client, LocalCluster, Worker, WorkerPlugin, get_worker
from pyarrow import parquet

from adclient import AdClient, Campaign, Items


@attrs.frozen(kw_only=True)
class Spending(Campaign):  # this class alone determines the columns, so all parts fit together
    spend: Decimal | None = attrs.field(default=None, metadata={"decimal": (12, 2)})
    roas: float | None = None


class Ads(WorkerPlugin):
    def setup(self, worker: Worker) -> None:  # once in each process, whose threads share the client
        self.client = AdClient(timeout=120)

    def teardown(self, worker: Worker) -> None:
        self.client.close()


@contextmanager
def complete(path: Path) -> Iterator[Path]:
    """A file that gets its name once it is written."""
    temporary = path.with_name(f".{uuid4()}")
    yield temporary
    temporary.replace(path)


def read(account_id: str, folder: Path) -> None:
    """Write the parts of an account, from where its last task has ended."""
    name = quote(account_id, safe="")
    state = folder / f"{name}.json"
    parts, cursor = json.loads(state.read_text()) if state.exists() else (0, None)
    if parts and cursor is None:
        return  # it was complete
    client = cast("Ads", get_worker().plugins["ads"]).client
    first = client.beta.list_campaigns(account_id=account_id, cursor=cursor).typed(Spending)
    for part, page in enumerate(first.pages(), start=parts + 1):
        with complete(folder / f"{name}-{part:05}.parquet") as file:
            parquet.write_table(Items(page.data, account_id=account_id).to_arrow(), file)
        with complete(state) as file:
            file.write_text(json.dumps([part, page.next]))


if __name__ == "__main__":
    folder, account_ids = Path(sys.argv[1]).resolve(), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    cluster = LocalCluster(n_workers=2, threads_per_worker=4, dashboard_address=None)
    with cluster, Client(cluster) as dask:
        dask.register_plugin(Ads(), name="ads")
        tasks = dask.map(read, account_ids, folder=folder, pure=False)
        errors = [task.exception() for task in tasks]
    for account_id, error in zip(account_ids, errors, strict=True):
        print(account_id, "read" if error is None else error)
    sys.exit(any(errors))
