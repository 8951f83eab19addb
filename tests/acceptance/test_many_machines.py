"""The page on many machines is correct: its code, on a local cluster of two processes."""

import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from socket import create_server
from types import ModuleType
from typing import NamedTuple
from urllib.parse import parse_qs

import polars
import pytest
import uvicorn
from dask.distributed import Client, LocalCluster

from adclient import Plan
from adclient.errors import PermissionDenied
from adclient.ledger import open_ledger
from adclient.testing import FakeAdService
from adclient.testing.server import create_app, serving

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "many-machines.md").read_text("utf-8")
READ, QUERY, STAGE = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PRINTED = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
[ARGUMENTS] = re.findall(r"^python \S+/dask_parts.py (.*)$", PAGE, re.MULTILINE)
ACCOUNT, OTHER = "account_b204", "account_b7e0"
PLAN = """
id = "budgets"
[[change]]
call = "beta.pause_campaign"
account_id = "account_b204"
campaign_id = "campaign_57a7"
[[change]]
call = "beta.pause_campaign"
account_id = "account_b204"
campaign_id = "campaign_cb1a"
"""


PAUSE = 1.0


class LimitedService:
    """The fake over HTTP, which lets each account pause after three reads."""

    def __init__(self) -> None:
        self.fake = FakeAdService(page_size=10)
        self._app = create_app(self.fake)
        self.reset()

    def reset(self) -> None:
        """Forget what was sent."""
        self.reads: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.sent_in_a_pause: Counter[str] = Counter()
        self._paused_until: dict[str, float] = {}

    async def __call__(self, scope, receive, send) -> None:
        account = parse_qs(scope["query_string"].decode()).get("account_id", [""])[0]
        if scope["method"] == "GET" and not self._accepts(account):
            headers = [(b"retry-after", b"%.0f" % PAUSE), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 429, "headers": headers})
            await send({"type": "http.response.body"})
        else:
            await self._app(scope, receive, send)

    def _accepts(self, account: str) -> bool:
        now = time.monotonic()
        if now < self._paused_until.get(account, 0):
            self.sent_in_a_pause[account] += 1
            return False
        self.reads[account] += 1
        if self.reads[account] % 4:
            return True
        self._paused_until[account] = now + PAUSE
        self.refused[account] += 1
        return False

    @contextmanager
    def serving(self) -> Iterator[str]:
        with create_server(("127.0.0.1", 0)) as listening:
            config = uvicorn.Config(self, ws="none", lifespan="off", log_level="critical")
            server = uvicorn.Server(config)
            thread = threading.Thread(target=server.run, args=([listening],))
            thread.start()
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with the code of the page as a module, and a plan."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "page.py").write_text(f"{READ}\n\n{STAGE}")
    (folder / "budgets.toml").write_text(PLAN)
    return folder


@pytest.fixture(scope="module")
def page(folder) -> Iterator[ModuleType]:
    """The functions of the page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield import_module("page")


class Cluster(NamedTuple):
    """A cluster of two processes, the service that it calls, and the URL of its ledger."""

    dask: Client
    service: LimitedService
    ledger: str


@pytest.fixture(scope="module")
def cluster(page, server) -> Iterator[Cluster]:
    service, ledger = LimitedService(), f"{server}/postgres"
    with service.serving() as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADCLIENT_BASE_URL", url)
        patch.setenv("ADCLIENT_LEDGER", ledger)
        with (
            LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as local,
            Client(local) as dask,
        ):
            dask.register_plugin(page.Ads(), name="ads")
            yield Cluster(dask, service, ledger)


@pytest.fixture
def limited(cluster) -> LimitedService:
    """The service, as if it were new."""
    time.sleep(PAUSE)  # which a client may still observe
    cluster.service.reset()
    return cluster.service


def run(folder: Path, *command: str, code: int) -> str:
    """Run Python in a folder, and return what it prints."""
    done = subprocess.run(
        [sys.executable, *command], stdout=subprocess.PIPE, cwd=folder, encoding="utf-8"
    )
    assert done.returncode == code
    return done.stdout


def test_programs_print_what_the_page_shows(folder, monkeypatch) -> None:
    assert (ROOT / "examples" / "pipelines" / "dask_parts.py").read_text("utf-8") == READ
    with serving(FakeAdService()) as url:
        monkeypatch.setenv("ADCLIENT_BASE_URL", url)
        printed = run(folder, "page.py", *ARGUMENTS.split(), code=1)
    assert re.sub(r"\(GET.*", "…", printed) == PRINTED[0]
    assert run(folder, "-c", QUERY, code=0) == PRINTED[1]


def test_no_request_is_sent_in_a_pause(cluster, limited, page, tmp_path) -> None:
    futures = [
        cluster.dask.submit(page.read, account, tmp_path, pure=False, workers=[name])
        for account, name in zip([ACCOUNT, OTHER], cluster.dask.nthreads(), strict=True)
    ]
    cluster.dask.gather(futures)
    frame = polars.read_parquet(tmp_path / "*.parquet")
    assert Counter(frame["account_id"]) == {ACCOUNT: 62, OTHER: 4}
    assert limited.refused == {ACCOUNT: 2}
    assert limited.sent_in_a_pause.total() == 0


def test_error_travels_with_its_attributes_and_traceback(cluster, page, tmp_path) -> None:
    future = cluster.dask.submit(page.read, "account_f403", tmp_path, pure=False)
    with pytest.raises(PermissionDenied) as caught:
        future.result()
    assert caught.value.code == "account_disconnected"
    names = [entry.name for entry in caught.traceback]
    assert names[-2:] == ["read", "list_campaigns"]
    assert str(future.exception()) == str(caught.value)


def stage_and_die(stage: Callable[[Plan], object], plan: Plan, first: Path) -> object:
    """Stage a plan; the first time, the process dies before it can return the report."""
    report = stage(plan)
    if not first.exists():
        first.touch()
        os._exit(1)
    return report


def test_plan_is_staged_once_though_its_worker_died(cluster, page, folder) -> None:
    path = folder / "budgets.toml"
    plan = Plan.read(path)
    died = cluster.dask.submit(stage_and_die, page.stage, plan, folder / "died", pure=False)
    reports = [died.result(), *page.stage_all(cluster.dask, [path] * 4)]
    verdicts = {change.verdict for report in reports for change in report.changes}
    assert verdicts == {"already staged"}
    assert len(cluster.service.fake.drafts) == 2
    assert len(open_ledger(cluster.ledger).entries()) == 2
