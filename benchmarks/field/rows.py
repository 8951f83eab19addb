"""What is compared: each row of the table as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Goal:
    """What our column is to reach: at most, or at least, a figure."""

    sign: Literal["≤", "≥"]
    figure: float

    def __str__(self) -> str:
        return f"{self.sign} {self.figure:g}"

    def is_met(self, figure: float) -> bool:
        return figure <= self.figure if self.sign == "≤" else figure >= self.figure


@dataclass(frozen=True)
class Row:
    """One row: what is measured, with what, and how the figure is shown.

    `measure` names a class in `measures`, which works in the process of a peer, or in `processes`,
    which starts processes. Measures of the kinds `time` and `rate` give seconds, those of `bytes`
    bytes; they are shown as ratios to bare httpx, and the others as they are. The goal of a row is
    about its time, or `by_cpu` about its processor time.
    """

    key: str
    title: str
    measure: str
    kind: Literal["time", "rate", "bytes", "count", "growth", "size"] = "time"
    goal: Goal | None = None
    by_cpu: bool = False
    call: Literal[
        "page", "post", "error", "listing", "prefetched", "decode", "accounts", "nightly", "table"
    ] = "page"
    holding: str = "ten"
    in_process: bool = False
    amount: int = 1
    at_once: int = 10
    most_rounds: int = 1_000
    only: tuple[str, ...] = ()  # the peers that take part, if not all
    needs: tuple[str, ...] = ()  # what their environments have for this row, besides their own
    quick: Mapping[str, Any] = field(default_factory=dict[str, Any])  # what differs in a smoke run

    @property
    def is_ratio(self) -> bool:
        return self.kind in ("time", "rate", "bytes")


def at_most(figure: float) -> Goal:
    return Goal("≤", figure)


def at_least(figure: float) -> Goal:
    return Goal("≥", figure)


def of_accounts(key: str, title: str, measure: str, goal: float, **others: Any) -> Row:
    """A row in which one client reads many accounts of three pages."""
    quick = {"amount": 20, **others.pop("quick", {})}
    return Row(
        key,
        title,
        measure,
        goal=at_most(goal),
        by_cpu=True,
        most_rounds=3,
        only=("adclient", "httpx"),
        quick=quick,
        **{"call": "accounts", "holding": "accounts", "amount": 600, **others},
    )


PYARROW = ("pyarrow==26.0.1",)
# Some accounts are asked to wait, and a token is refused on the way.
NIGHTLY: Mapping[str, Any] = {
    "call": "nightly",
    "holding": "nightly",
    "amount": 2_000,
    "needs": PYARROW,
    "quick": {"holding": "few-nightly"},
}


ROWS = (
    Row("import", "import, net of the bare interpreter (time)", "Import", goal=at_most(0.8)),
    Row("import-client", "import of the client class, net (time)", "ImportOfTheClient"),
    Row("first", "fresh process to its first answer (time)", "FirstResponse", goal=at_most(0.95)),
    Row("client", "one more client (time)", "NewClients", goal=at_most(0.01)),
    Row("get", "GET of 10 items, loopback (time)", "Repeated", goal=at_most(0.5)),
    Row("post", "POST of a draft, loopback (time)", "Repeated", goal=at_most(0.52), call="post"),
    Row(
        "get-in-process",
        "GET, in-process transport (time)",
        "Repeated",
        goal=at_most(0.35),
        in_process=True,
    ),
    Row(
        "post-in-process",
        "POST, in-process transport (time)",
        "Repeated",
        goal=at_most(0.35),
        call="post",
        in_process=True,
    ),
    Row(
        "error",
        "error reply to exception, in process (time)",
        "Repeated",
        goal=at_most(0.35),
        call="error",
        holding="missing",
        in_process=True,
    ),
    Row(
        "error-loopback",
        "error reply to exception, loopback (time)",
        "Repeated",
        goal=at_most(0.6),
        call="error",
        holding="missing",
    ),
    Row("async-get", "async GET, loopback (time)", "AsyncRepeated", goal=at_most(0.48)),
    Row(
        "async-in-process",
        "async GET, in-process transport (time)",
        "AsyncRepeated",
        goal=at_most(0.5),
        in_process=True,
        only=("adclient", "httpx"),
    ),
    Row(
        "listing",
        "200 pages × 500 items, every item touched (items a second)",
        "Repeated",
        kind="rate",
        goal=at_least(1.6),
        call="listing",
        holding="pages",
        quick={"holding": "few-pages"},
        most_rounds=3,
    ),
    Row(
        "ten-thousand",
        "one page of 10,000 items (time)",
        "Repeated",
        goal=at_most(0.7),
        holding="ten-thousand",
        most_rounds=7,
    ),
    Row(
        "decode-ten",
        "bytes → 10 typed, checked items, unknown fields kept (time)",
        "Repeated",
        goal=at_most(0.6),
        call="decode",
        in_process=True,
        only=("adclient", "httpx"),
    ),
    Row(
        "decode",
        "bytes → 500 typed, checked items, unknown fields kept (time)",
        "Repeated",
        goal=at_most(0.5),
        call="decode",
        holding="page",
        in_process=True,
    ),
    Row(
        "tasks",
        "1,000 tasks on one client (requests a second)",
        "ManyTasks",
        kind="rate",
        goal=at_least(6),
        amount=1_000,
        quick={"amount": 20},
        most_rounds=2,
    ),
    Row(
        "at-once",
        "1,000 calls started at once on a fresh client (answered)",
        "AtOnce",
        kind="count",
        goal=at_least(1_000),
        amount=1_000,
        quick={"amount": 20, "goal": at_least(20)},
        most_rounds=1,
    ),
    Row(
        "memory",
        "peak memory while listing 100,000 items (resident bytes)",
        "Memory",
        kind="bytes",
        goal=at_most(0.7),
        call="listing",
        holding="pages",
        quick={"holding": "few-pages"},
        most_rounds=1,
    ),
    Row(
        "memory-prefetch",
        "the same with prefetch (resident bytes)",
        "Memory",
        kind="bytes",
        goal=at_most(1),
        call="prefetched",
        holding="pages",
        only=("adclient", "httpx"),
        quick={"holding": "few-pages"},
        most_rounds=1,
    ),
    Row(
        "prefetch",
        "a walk with prefetch, 20 ms a page on either side (to one without)",
        "Prefetch",
        kind="growth",
        goal=at_most(0.7),
        call="prefetched",
        holding="slow-pages",
        only=("adclient",),
        quick={"holding": "few-slow-pages"},
        most_rounds=3,
    ),
    Row(
        "async-prefetch",
        "the same walk of the async client",
        "AsyncPrefetch",
        kind="growth",
        goal=at_most(0.7),
        holding="slow-pages",
        only=("adclient",),
        quick={"holding": "few-slow-pages"},
        most_rounds=3,
    ),
    Row(
        "after-calls",
        "cost of a call after 100,000 calls (to that of the first thousand)",
        "AfterCalls",
        kind="growth",
        goal=at_most(1.1),
        in_process=True,
        amount=100_000,
        only=("adclient",),
        quick={"amount": 100},
        most_rounds=1,
    ),
    Row(
        "beside-clients",
        "cost of a call beside 1,000 other clients (to that of an only one)",
        "BesideClients",
        kind="growth",
        goal=at_most(1.1),
        in_process=True,
        amount=1_000,
        only=("adclient",),
        quick={"amount": 20},
        most_rounds=1,
    ),
    Row(
        "after-pages",
        "cost of a page after 2,000 pages (to that of the first 200)",
        "AfterPages",
        kind="growth",
        goal=at_most(1.1),
        call="listing",
        holding="many-pages",
        only=("adclient",),
        quick={"holding": "few-pages"},
        most_rounds=1,
    ),
    of_accounts(
        "nightly",
        "2,000 accounts × 150 items into typed Parquet parts, 10 at once (time)",
        "Accounts",
        0.7,
        **NIGHTLY,
    ),
    of_accounts("async-nightly", "the same, async (time)", "AsyncAccounts", 0.65, **NIGHTLY),
    of_accounts("accounts", "600 accounts × 150 items, 10 at once (time)", "Accounts", 0.7),
    of_accounts("accounts-100", "the same, 100 at once (time)", "Accounts", 0.7, at_once=100),
    of_accounts("async-accounts", "the same, async, 10 at once (time)", "AsyncAccounts", 0.7),
    of_accounts(
        "async-accounts-100",
        "the same, async, 100 at once (time)",
        "AsyncAccounts",
        0.7,
        at_once=100,
    ),
    Row(
        "memory-accounts",
        "peak memory over 2,000 accounts, 10 at once (resident bytes)",
        "Memory",
        kind="bytes",
        goal=at_most(1),
        call="accounts",
        holding="accounts",
        only=("adclient", "httpx"),
        most_rounds=1,
    ),
    Row(
        "typed-arrow",
        "3 pages × 50 items → a typed Arrow table, in process (time)",
        "Table",
        goal=at_most(0.7),
        call="table",
        holding="accounts",
        only=("adclient", "httpx"),
        needs=PYARROW,
    ),
    Row("installed", "installed size (MB), distributions", "Installed", kind="size", most_rounds=1),
)
