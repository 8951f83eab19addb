"""The saved outputs of the example notebooks can be displayed anywhere: text, tables, images."""

import json
import re
from pathlib import Path

from cases import each_case

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
DOCS = ROOT / "docs"
PAGE = (DOCS / "recipes" / "notebooks.md").read_text("utf-8")
PLAIN = {"text/plain", "text/html", "image/png"}
MACHINE = re.compile(r"(?<![\w.:/])/(?:home|root|tmp|usr|opt|Users)\b|site-packages|[A-Z]:\\\\")


@each_case("path", *NOTEBOOKS)
def test_notebook_is_complete_and_can_be_shown_anywhere(path: Path) -> None:
    text = path.read_text("utf-8")
    cells = json.loads(text)["cells"]
    counts = [cell["execution_count"] for cell in cells if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    for output in outputs:
        assert output.get("name") != "stderr"
        assert output["output_type"] != "error"
        assert set(output.get("data", {})) <= PLAIN
        assert "<script" not in json.dumps(output)
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert path.stat().st_size < 400_000
    assert not MACHINE.findall(text)
    assert "**The data is made up.**" in text
    assert f'notebook("{path.stem}")' in PAGE
    assert f"examples/{path.name})" in PAGE
