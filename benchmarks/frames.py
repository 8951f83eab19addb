"""Compare the cost of a table of a long listing with the table libraries' own constructors.

`python benchmarks/frames.py` creates a million items of fourteen fields and measures each way with
the same values in a separate process: seconds, and the memory in addition to the items.
Pass another number of items as an argument.
"""

import multiprocessing
import resource
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import attrs
import pandas
import polars
import pyarrow

from adclient import Campaign, Items, Page


@attrs.frozen
class Period:
    """The days of the figures."""

    start: str
    end: str


@attrs.frozen(kw_only=True)
class Performance:
    """A campaign with all its fields declared."""

    id: str
    name: str
    status: str
    objective: str
    daily_budget: int
    spend: float
    impressions: int
    clicks: int
    ctr: float
    cpc: float
    conversions: int
    roas: float
    period: Period
    tags: list[str]
    hook_rate: float | None = None


Way = Callable[[Items[object], list[dict[str, object]]], object]

TYPED = "adclient: the same of typed() items"
# Each way, or two, is followed by what one would write without adclient.
WAYS: dict[str, Way] = {
    "adclient: an Arrow table of items": lambda items, _: pyarrow.RecordBatchReader.from_stream(
        items
    ).read_all(),
    TYPED: lambda items, _: pyarrow.RecordBatchReader.from_stream(items).read_all(),
    "pyarrow.Table.from_pylist(dicts)": lambda _, dicts: pyarrow.Table.from_pylist(dicts),
    "adclient: items.to_pandas()": lambda items, _: items.to_pandas(),
    "pandas.DataFrame(dicts)": lambda _, dicts: pandas.DataFrame(dicts),
    "adclient: items.to_polars()": lambda items, _: items.to_polars(),
    "polars.DataFrame(dicts)": lambda _, dicts: polars.DataFrame(dicts, infer_schema_length=None),
}


def item(number: int) -> Campaign:
    """Return a campaign with the fields of the fake service, one of them nested, one optional."""
    extra = {
        "objective": ("SALES", "LEADS", "REACH")[number % 3],
        "daily_budget": 20 + number % 400,
        "spend": number * 0.37,
        "impressions": number * 31,
        "clicks": number % 977,
        "ctr": number % 977 / 10_000,
        "cpc": 0.85,
        "conversions": number % 29,
        "roas": number % 40 / 10,
        "period": {"start": "2026-01-31", "end": "2026-03-01"},
        "tags": ["spring", "video"],
    }
    if number % 10:
        extra["hook_rate"] = number % 100 / 100
    return Campaign(id=f"campaign_{number:x}", name=f"Name {number}", status="ENABLED", extra=extra)


def resident() -> int:
    """Return the resident memory of this process in megabytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() >> 20


def measure(name: str, count: int) -> tuple[float, int, int]:
    """Run one way and sample the memory meanwhile."""
    received = Items(item(number) for number in range(count))
    items = Items[object]()
    dicts = [] if name.startswith("adclient") else [each.to_dict() for each in received]
    if name == TYPED:
        items = Page(data=received).typed(Performance).data
    elif not dicts:
        items = received
    del received
    before, peak, over = resident(), [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            peak[0] = max(peak[0], resident())

    watching = threading.Thread(target=watch)
    watching.start()
    began = time.perf_counter()
    table = WAYS[name](items, dicts)
    took = time.perf_counter() - began
    after = resident()
    over.set()
    watching.join()
    assert len(table) == count  # type: ignore[arg-type]
    return took, max(peak[0], after) - before, after - before


def main() -> None:
    """Print one line for each way, and the ratio of the time of adclient to that of the others."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    context = multiprocessing.get_context("spawn")
    ours = 0.0
    for name in WAYS:
        with ProcessPoolExecutor(1, context) as fresh:
            took, peak, kept = fresh.submit(measure, name, count).result()
        is_ours = name.startswith("adclient")
        ratio = "" if is_ours else f", ratio {ours / took:.2f}"
        ours = took if is_ours else ours
        print(
            f"{name:36} {took:6.2f} s, memory +{peak:,} MB at most, +{kept:,} MB in the end{ratio}"
        )


if __name__ == "__main__":
    main()
