"""The saved outputs of the example notebooks can be displayed anywhere: text, tables, images."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
PLAIN = {"text/plain", "text/html", "image/png"}
MACHINE = re.compile(r"(?<![\w.:/])/(?:home|root|tmp|usr|opt|Users)\b|site-packages|[A-Z]:\\\\")


def outputs(path: Path) -> list[dict[str, Any]]:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return [output for cell in cells for output in cell.get("outputs", [])]


def test_there_are_four_notebooks() -> None:
    assert [path.name[:3] for path in NOTEBOOKS] == ["01-", "02-", "03-", "04-"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_was_run_from_its_first_cell_to_its_last(path: Path) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    counts = [cell["execution_count"] for cell in cells if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_outputs_need_no_script(path: Path) -> None:
    for output in outputs(path):
        assert output.get("name") != "stderr"
        assert output["output_type"] != "error"
        assert set(output.get("data", {})) <= PLAIN
        assert "<script" not in json.dumps(output)
    assert any("image/png" in output.get("data", {}) for output in outputs(path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_small_and_contains_no_machine_paths(path: Path) -> None:
    assert path.stat().st_size < 400_000
    assert not MACHINE.findall(path.read_text("utf-8"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_states_that_its_data_is_made_up_and_is_linked(path: Path) -> None:
    assert "**The data is made up.**" in path.read_text("utf-8")
    page = (ROOT / "docs" / "how-to" / "notebooks.md").read_text("utf-8")
    assert f"examples/{path.name})" in page
