"""The programs of examples/pipelines, run as a user runs them, against the fake over HTTP."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from socket import create_server
from urllib.request import Request, urlopen

import duckdb
import polars
import pytest

from adclient.ledger import open_ledger
from adclient.testing import FakeAccount, FakeAdService, Fault
from adclient.testing.server import serving

PIPELINES = Path(__file__).parents[2] / "examples" / "pipelines"
ACCOUNT, OTHER, DISCONNECTED = "account_b204", "account_b7e0", "account_f403"


def start(folder: Path, url: str, name: str, *arguments: str, **settings: str) -> subprocess.Popen:
    """Start a program in a folder."""
    return subprocess.Popen(
        [sys.executable, PIPELINES / name, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        encoding="utf-8",
        env=os.environ | {"ADCLIENT_BASE_URL": url} | settings,
    )


def run(*arguments, code: int = 0, **settings: str) -> str:
    """Run a program to its end, and return what it prints; if it fails, what it complains of."""
    with start(*arguments, **settings) as program:
        printed, complaint = program.communicate()
    assert program.returncode == code, complaint
    return printed or complaint


def wait_until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# Dask.


@pytest.fixture
def service() -> FakeAdService:
    fake = FakeAdService(page_size=10)
    fake.add_account(FakeAccount("nothing/here", campaigns=[]))
    return fake


@pytest.fixture
def url(service) -> Iterator[str]:
    with serving(service) as url:
        yield url


def test_dask_writes_parts_that_are_one_data_set(service, url, tmp_path) -> None:
    accounts = [ACCOUNT, OTHER, DISCONNECTED, "nothing/here"]
    printed = run(tmp_path, url, "dask_parts.py", "parts", *accounts, code=1)
    lines = printed.splitlines()
    assert lines[:2] == [f"{ACCOUNT} read", f"{OTHER} read"]
    assert lines[2].startswith(f"{DISCONNECTED} beta.list_campaigns: 403 account_disconnected")
    assert lines[3] == "nothing/here read"
    query = (
        f"SELECT account_id, count(*), sum(spend) FROM '{tmp_path}/parts/*.parquet' GROUP BY ALL"
    )
    found = {account: (rows, spend) for account, rows, spend in duckdb.sql(query).fetchall()}
    assert {account: rows for account, (rows, _) in found.items()} == {ACCOUNT: 62, OTHER: 4}
    assert len(list(tmp_path.glob("parts/*.parquet"))) == 7 + 1 + 1  # that of no rows as well
    sent = len(service.requests)
    run(tmp_path, url, "dask_parts.py", "parts", *accounts, code=1)
    assert len(service.requests) == sent + 1  # for the account that was not read


# dlt.


def campaign(name: str, spend: float) -> dict[str, object]:
    return {"id": f"campaign_{name}", "name": name, "status": "ENABLED", "spend": spend}


def creative(name: str, ctr_of_days: dict[str, float]) -> dict[str, object]:
    series = [{"date": f"2026-03-{day}", "ctr": ctr} for day, ctr in ctr_of_days.items()]
    return {"id": f"fatigue_{name}", "name": name, "status": "FATIGUED", "series": series}


def account(account_id: str, campaigns: list, creatives: list) -> FakeAccount:
    reads = {"beta.detect_creative_fatigue": creatives}
    return FakeAccount(account_id, campaigns=campaigns, reads=reads)


MISFIT = account("misfit", [campaign("a", 1.005)], [])  # its spend has two decimals


def load(folder: Path, *accounts: FakeAccount) -> Callable[[str], list[tuple[object, ...]]]:
    """Load a night in which only these accounts are connected; a way to query the result."""
    with serving(FakeAdService(accounts=accounts)) as url:
        settings = {"DLT_DATA_DIR": str(folder / "dlt"), "RUNTIME__DLTHUB_TELEMETRY": "false"}
        run(folder, url, "dlt_duckdb.py", "shop", "gone", "misfit", **settings)

    def query(text: str) -> list[tuple[object, ...]]:
        with duckdb.connect(folder / "ads.duckdb") as connection:
            return connection.sql(f"USE nightly; {text}").fetchall()

    return query


def test_dlt_merges_nights_by_key(tmp_path) -> None:
    days = {"01": 0.5, "10": 0.4, "12": 0.3}
    shop = account("shop", [campaign("a", 1), campaign("b", 2)], [creative("x", days)])
    query = load(tmp_path, shop, MISFIT)
    assert query("SELECT account_id, id, spend FROM campaigns ORDER BY ALL") == [
        ("shop", "campaign_a", 1),
        ("shop", "campaign_b", 2),
    ]
    assert query("SELECT DISTINCT account_id, code FROM failures ORDER BY ALL") == [
        ("gone", "account_not_found"),
        ("misfit", "misfit"),
    ]

    days = {"01": 0.9, "10": 0.8, "12": 0.7, "13": 0.2}
    shop = account("shop", [campaign("a", 1), campaign("b", 3)], [creative("x", days)])
    gone = account("gone", [campaign("a", 4)], [creative("x", {"01": 0.1}), creative("y", {})])
    query = load(tmp_path, shop, gone, MISFIT)
    assert query("SELECT account_id, id, spend FROM campaigns ORDER BY ALL") == [
        ("gone", "campaign_a", 4),
        ("shop", "campaign_a", 1),
        ("shop", "campaign_b", 3),
    ]
    # Of the first day, no correction is loaded; an account that is back has all of its days.
    assert query("SELECT account_id, id, day(date), ctr FROM creative_days ORDER BY ALL") == [
        ("gone", "fatigue_x", 1, 0.1),
        ("shop", "fatigue_x", 1, 0.5),
        ("shop", "fatigue_x", 10, 0.8),
        ("shop", "fatigue_x", 12, 0.7),
        ("shop", "fatigue_x", 13, 0.2),
    ]
    assert query("SELECT count(*), count(DISTINCT _dlt_load_id) FROM failures") == [(4, 2)]


# Prefect.


@pytest.fixture(scope="module")
def prefect(tmp_path_factory) -> Iterator[dict[str, str]]:
    """The settings for a server of Prefect that is running, and for retries of all that fails."""
    folder = tmp_path_factory.mktemp("prefect")
    with create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    settings = {
        "DO_NOT_TRACK": "1",
        "PREFECT_HOME": str(folder),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_TASK_DEFAULT_RETRIES": "2",
        "PREFECT_FLOW_DEFAULT_RETRIES": "2",
        "ADCLIENT_LEDGER": "ledger.db",
    }
    command = [sys.executable, "-m", "prefect", "server", "start", "--port", port, "--no-ui"]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | settings) as server,
    ):
        try:
            wait_until(lambda: is_healthy(f"{settings['PREFECT_API_URL']}/health"))
            yield settings
        finally:
            server.send_signal(signal.SIGINT)


def is_healthy(url: str) -> bool:
    try:
        with urlopen(url) as response:
            return response.status == 200
    except OSError:
        return False


def artifacts(settings: dict[str, str], key: str) -> list[str]:
    """What Prefect shows under a key, newest first."""
    body = json.dumps({"artifacts": {"key": {"any_": [key]}}, "sort": "CREATED_DESC"})
    headers = {"content-type": "application/json"}
    url = f"{settings['PREFECT_API_URL']}/artifacts/filter"
    with urlopen(Request(url, body.encode(), headers)) as response:
        return [artifact["data"] for artifact in json.load(response)]


def test_prefect_reads_all_accounts_and_stages_each_change_once(prefect, tmp_path) -> None:
    service = FakeAdService()
    service.faults.add(Fault.dropped(taken=True), operation="beta.pause_campaign", call=2)
    service.add_account(MISFIT)
    service.add_account(FakeAccount("shop 😀", campaigns=[campaign("a", 900) | {"roas": 0.5}]))
    accounts = [ACCOUNT, OTHER, DISCONNECTED, "misfit", "shop 😀"]
    ledger = open_ledger(str(tmp_path / "ledger.db"))
    with serving(service) as url:
        run(tmp_path, url, "prefect_nightly.py", *accounts, code=1, **prefect)
        assert Counter(request.account_id for request in service.requests) == {
            ACCOUNT: 2 + 2,  # pages, and changes: the plan stops at the second
            OTHER: 1,
            DISCONNECTED: 1,
            "misfit": 1,
            "shop 😀": 1,
        }
        [unknown] = ledger.unknown()
        ledger.settle(unknown, draft_id=service.drafts[1].draft_id, by="kim")
        run(tmp_path, url, "prefect_nightly.py", *accounts, **prefect)
    assert len(service.drafts) == len({draft.target for draft in service.drafts}) == 5
    assert [draft.diff.after for draft in service.drafts] == ["PAUSED"] * 5
    after, before = artifacts(prefect, "plan")
    assert ("unknown" in before, "not tried" in before) == (True, True)
    assert "2 already staged, 3 staged" in after
    results = {each["account"]: each for each in json.loads(artifacts(prefect, "accounts")[0])}
    assert (results[ACCOUNT]["campaigns"], results[OTHER]["campaigns"]) == (62, 4)
    assert "403 account_disconnected" in results[DISCONNECTED]["error"]
    assert "spend: expected decimal128(12, 2)" in results["misfit"]["error"]
    parts = polars.read_parquet(tmp_path / "parts" / "*" / "*.parquet")
    assert Counter(parts["account_id"]) == {ACCOUNT: 62, OTHER: 4, "shop 😀": 1}
