"""The recipes that need DuckDB, matplotlib or FastAPI."""

from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from matplotlib.figure import Figure
from pages import ROOT, run_page
from pyarrow import dataset

from adclient.testing import FakeAdService

HERE = Path(__file__).relative_to(ROOT).as_posix()
RECIPES = ROOT / "docs" / "recipes"


def test_waste_is_stored_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[Figure] = []
    save = Figure.savefig
    monkeypatch.setattr(
        Figure, "savefig", lambda self, *a, **kw: [saved.append(self), save(self, *a, **kw)]
    )
    for _ in range(2):  # the second run replaces what the first has written
        run_page(
            RECIPES / "waste-of-all-accounts.md",
            tmp_path,
            FakeAdService(),
            runner=f"{HERE}::test_waste_is_stored_and_drawn",
        )

    expected = {}
    for account_id in ("account_b204", "account_b7e0"):
        campaigns = FakeAdService().client().beta.list_campaigns(
            account_id=account_id, date_range="LAST_7_DAYS"
        )
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
