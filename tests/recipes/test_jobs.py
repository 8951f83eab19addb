"""The recipes with a worker of Celery and with Spark, which needs Java."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import ROOT, blocks, run_page

from adclient.ledger import open_ledger
from adclient.testing import FakeAdService, Fault
from adclient.testing.server import serving

HERE = Path(__file__).relative_to(ROOT).as_posix()
RECIPES = ROOT / "docs" / "recipes"


def test_spark_reads_each_account_once(tmp_path: Path) -> None:
    fake = FakeAdService()
    runner = f"{HERE}::test_spark_reads_each_account_once"
    run_page(RECIPES / "spark.md", tmp_path, fake, runner=runner)
    pages = Counter(request.account_id for request in fake.requests)
    assert pages == {"account_b204": 2, "account_b7e0": 1, "account_f403": 1}


CONFIG = """\
broker_url = "filesystem://"
broker_transport_options = dict.fromkeys(["data_folder_in", "data_folder_out"], "broker")
broker_transport_options["control_folder"] = "broker"
result_backend = "file://results"
"""


@pytest.fixture
def fake() -> FakeAdService:
    return FakeAdService()


@pytest.fixture
def tasks(fake: FakeAdService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator:
    """The module of the page, whose tasks a worker performs."""
    code = next(text for _, text in blocks(RECIPES / "jobs.md", "python"))
    for name, text in {"tasks": code, "celeryconfig": CONFIG}.items():
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    for folder in ("broker", "results"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    command = [sys.executable, "-m", "celery", "-A", "tasks", "worker", "--concurrency=1"]
    with serving(fake) as url:
        settings = {"ADCLIENT_BASE_URL": url, "ADCLIENT_LEDGER": str(tmp_path / "ledger.db")}
        with subprocess.Popen(command, env=os.environ | settings) as worker:
            try:
                import tasks

                yield tasks
            finally:
                worker.terminate()


def test_soft_time_limit_is_the_cause_of_an_unknown_outcome(tasks, fake, tmp_path) -> None:
    fake.faults.add(Fault.slow(60), operation="beta.pause_campaign", call=2)
    results = []
    # The first one also starts what the second has no time for.
    for campaign_id, limit in (("campaign_57a7", 60), ("campaign_cb1a", 10), ("campaign_cb1a", 60)):
        task = tasks.pause.apply_async(("account_b204", campaign_id), soft_time_limit=limit)
        results.append(task.get(timeout=120, propagate=False))
    first, second, third = results
    assert first == fake.drafts[0].draft_id
    assert second == "Look in the dashboard: SoftTimeLimitExceeded()"
    assert "no_repeat_within" in str(third)
    assert len(fake.drafts) == 2
    [unknown] = open_ledger(str(tmp_path / "ledger.db")).unknown()
    assert unknown.arguments["campaign_id"] == "campaign_cb1a"
