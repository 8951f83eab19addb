"""Recipes and pages that need DuckDB, matplotlib, FastAPI, or a server that forks; and uvloop."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import duckdb
import httpx
import pytest
import uvloop
from matplotlib.figure import Figure
from pages import PAGES, ROOT, blocks, run_page
from pyarrow import dataset

from adclient import AsyncAdClient, CallTimeout
from adclient.testing import FakeAdService, Fault
from adclient.testing.server import serving

HERE = Path(__file__).relative_to(ROOT).as_posix()
RECIPES = ROOT / "docs" / "recipes"

BLOCKS = f"{HERE}::test_code_of_pages_prints_what_is_shown"


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCKS in page.read_text("utf-8")])
def test_code_of_pages_prints_what_is_shown(page: Path, tmp_path: Path) -> None:
    run_page(page, tmp_path, FakeAdService(), runner=BLOCKS)


def test_waste_is_stored_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[Figure] = []
    save = Figure.savefig

    def keep(figure: Figure, *arguments: object, **options: object) -> None:
        saved.append(figure)
        save(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", keep)
    page, test = RECIPES / "waste-of-all-accounts.md", f"{HERE}::test_waste_is_stored_and_drawn"
    for _ in range(2):  # the second run replaces what the first has written
        run_page(page, tmp_path, FakeAdService(), runner=test)

    expected = {}
    for account_id in ("account_b204", "account_b7e0"):
        beta = FakeAdService().client().beta
        campaigns = beta.list_campaigns(account_id=account_id, date_range="LAST_7_DAYS")
        rows = [(c.extra["spend"], c.extra["roas"]) for c in campaigns]
        lost = sum(spend * (1 - roas) for spend, roas in rows if roas is not None and roas < 1)
        spent = sum(Decimal(str(spend)) for spend, _ in rows)
        expected[account_id] = (len(rows), spent, float(lost) / float(spent) * 100)

    parts = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("spending/*/*"))
    assert parts == [f"spending/week=2026-03-02/{name}.parquet" for name in expected]
    assert dataset.dataset(tmp_path / "spending").to_table().num_rows == 66
    with duckdb.connect(tmp_path / "warehouse.duckdb") as warehouse:
        query = "SELECT account_id, count(*), sum(spend) FROM spending GROUP BY ALL"
        stored = {name: row for name, *row in warehouse.sql(query).fetchall()}
    assert stored == {name: [count, spent] for name, (count, spent, _) in expected.items()}

    [axes] = saved[-1].axes
    assert [label.get_text() for label in axes.get_yticklabels()] == list(expected)
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == pytest.approx([percent for *_, percent in expected.values()])
    assert (tmp_path / "waste.png").read_bytes().startswith(b"\x89PNG")


APP = ROOT / "docs" / "how-to" / "web-frameworks.md"
[FASTAPI] = [text for _, text in blocks(APP, "python") if "FastAPI(" in text]


def test_fastapi_application_passes_its_tests(tmp_path: Path) -> None:
    test = f"{HERE}::test_fastapi_application_passes_its_tests"
    run_page(APP, tmp_path, FakeAdService(), runner=test)


@contextmanager
def running(url: str, folder: Path, *command: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """A server of an application that calls the service at a URL; its own URL, and its process."""
    environment = {**os.environ, "ADCLIENT_BASE_URL": url}
    python = [sys.executable, "-W", "always", "-m", *command]
    options = {"cwd": folder, "encoding": "utf-8", "env": environment, "stderr": subprocess.PIPE}
    with subprocess.Popen(python, **options) as server:
        try:
            found = (re.search(r"(?:running on|at:) (http\S+)", line) for line in server.stderr)
            yield next(filter(None, found))[1], server
        finally:
            server.terminate()


def test_fastapi_application_is_served(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(FASTAPI, "utf-8")
    [command] = [text for _, text in blocks(APP, "sh") if text.startswith("uvicorn")]
    words = [*command.split(), "--port", "0"]
    fake = FakeAdService()
    with (
        serving(fake) as url,
        running(url, tmp_path, *words) as (at, _),
        httpx.Client(base_url=f"{at}/accounts", timeout=30) as web,
    ):
        listed = web.get("account_b204/campaigns").json()
        refused = web.get("account_f403/campaigns")
        staged = web.post("account_b204/campaigns/campaign_57a7/pause")
    assert len(listed) == 62
    assert (refused.status_code, refused.json().keys()) == (403, {"detail"})
    [draft] = fake.drafts
    assert (staged.status_code, staged.json()["draft_id"]) == (202, draft.draft_id)
    assert draft.status == "pending_approval"


FLASK = r"^import atexit\n\nfrom flask.*?    return app\n"
[REPORTS] = re.findall(FLASK, APP.read_text("utf-8"), re.M | re.S)
CAMPAIGNS = "/accounts/account_b204/campaigns"
USED = f"""
app = create_app()
assert len(app.test_client().get("{CAMPAIGNS}").json) == 62
"""


@pytest.mark.parametrize("preload", [[], ["--preload"]], ids=["", "preload"])
def test_client_that_was_used_before_a_fork_serves_each_worker(preload, tmp_path) -> None:
    (tmp_path / "reports.py").write_text(REPORTS + USED, "utf-8")
    options = ["--workers=2", "--bind=127.0.0.1:0", "--no-control-socket", *preload]
    fake = FakeAdService()
    command = ["gunicorn", *options, "reports:app"]
    with serving(fake) as url, running(url, tmp_path, *command) as (at, server):
        answers = [httpx.get(at + CAMPAIGNS, timeout=30).json() for _ in range(10)]
        server.terminate()
        logged = server.stderr.read()
    assert [len(campaigns) for campaigns in answers] == [62] * 10
    assert "never closed" not in logged
    # Two requests for each answer, and for each time that the module was loaded and used it.
    loaded = len(fake.requests) // 2 - 10
    assert loaded == 1 if preload else loaded in (1, 2)


def test_async_client_works_on_uvloop() -> None:
    fake = FakeAdService()
    fake.faults.add(Fault.no_response(), operation="gamma.list_ads")

    async def main(url: str) -> None:
        async with AsyncAdClient(url) as client:
            calls = [client.beta.list_campaigns(account_id="account_b204") for _ in range(50)]
            assert [page.next is None for page in await asyncio.gather(*calls)] == [False] * 50
            hasty = client.with_options(timeout=0.2, max_retries=0)
            with pytest.raises(CallTimeout):
                await hasty.gamma.list_ads(account_id="account_c3d8")

    with serving(fake) as url, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(url))
