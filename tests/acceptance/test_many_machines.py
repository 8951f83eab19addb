"""The page on many machines is correct: its code, on a local cluster of two processes."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from dask.distributed import Client, LocalCluster
from pages import ROOT, blocks

from adclient.ledger import open_ledger
from adclient.plan import Plan
from adclient.testing import FakeAdService
from adclient.testing.server import serving

PAGE = ROOT / "docs" / "how-to" / "many-machines.md"
READ = (ROOT / "examples" / "pipelines" / "dask_parts.py").read_text("utf-8")
QUERY, STAGE = (code for _, code in blocks(PAGE, "python"))
PRINTED = [text for _, text in blocks(PAGE, "text")]
[ARGUMENTS] = re.findall(r"^python \S+/dask_parts.py (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)
CHANGE = """
[[change]]
call = "beta.pause_campaign"
account_id = "account_b204"
campaign_id = "campaign_%s"
"""
PLAN = 'id = "budgets"' + CHANGE % "57a7" + CHANGE % "cb1a"


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
    service: FakeAdService
    ledger: str


@pytest.fixture(scope="module")
def cluster(page, server) -> Iterator[Cluster]:
    service, ledger = FakeAdService(page_size=10), f"{server}/postgres"
    with serving(service) as url:
        # A worker that replaces a dead one has them, too; each test starts without settings.
        settings = {"ADCLIENT_BASE_URL": url, "ADCLIENT_LEDGER": ledger}
        workers = {"n_workers": 2, "threads_per_worker": 2, "dashboard_address": None}
        with LocalCluster(env=settings, **workers) as local, Client(local) as dask:
            dask.register_plugin(page.Ads(), name="ads")
            yield Cluster(dask, service, ledger)


def run(folder: Path, *command: str, code: int) -> str:
    """Run Python in a folder, and return what it prints."""
    done = subprocess.run(
        [sys.executable, *command], stdout=subprocess.PIPE, cwd=folder, encoding="utf-8"
    )
    assert done.returncode == code
    return done.stdout


def test_programs_print_what_the_page_shows(folder, monkeypatch) -> None:
    with serving(FakeAdService()) as url:
        monkeypatch.setenv("ADCLIENT_BASE_URL", url)
        printed = run(folder, "page.py", *ARGUMENTS.split(), code=1)
    assert re.sub(r"\(GET.*", "…", printed) == PRINTED[0]
    assert run(folder, "-c", QUERY, code=0) == PRINTED[1]


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
    assert len(cluster.service.drafts) == 2
    assert len(open_ledger(cluster.ledger).entries()) == 2
