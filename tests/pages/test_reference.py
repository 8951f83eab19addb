"""The reference of the site has every public name; example notebooks can be shown anywhere."""

import json
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from cases import each_case
from pages import ROOT

import adclient
from adclient import AdClientError

REFERENCE = "".join(path.read_text("utf-8") for path in (ROOT / "docs/reference").glob("*.md"))
DIRECTIVES = re.findall(r"^::: (\S+)$", REFERENCE, re.MULTILINE)

MODULES = ("conform", "doctor", "extend", "ledger", "mcp", "plan", "testing", "testing.server")


def subclasses(cls: type) -> Iterator[type]:
    for each in cls.__subclasses__():
        if each.__module__ == "adclient.errors":
            yield each
            yield from subclasses(each)


def test_reference_has_each_public_name_once() -> None:
    assert sorted(DIRECTIVES) == sorted(set(DIRECTIVES))
    shown = [pkgutil.resolve_name(path) for path in DIRECTIVES]
    missing = [
        f"{module.__name__}.{name}"
        for module in [adclient, *(import_module(f"adclient.{name}") for name in MODULES)]
        for name in module.__all__
        if not any(getattr(module, name) is value for value in shown)
    ]
    assert missing == []
    assert [cls for cls in subclasses(AdClientError) if cls not in shown] == []


# The saved outputs of the example notebooks.

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
PAGE = (ROOT / "docs" / "recipes" / "notebooks.md").read_text("utf-8")
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
