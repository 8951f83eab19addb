"""The sync client equals the generator's output from the async one."""

import importlib.util
import inspect
import shutil
from pathlib import Path

import pytest
from cases import each_case

from adclient import AdClient, AsyncAdClient

TOOL = Path(__file__).parents[2] / "tools" / "make_twin.py"
PACKAGE = TOOL.parents[1] / "adclient"


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """The generator, working on a copy of the package."""
    spec = importlib.util.spec_from_file_location("make_twin", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("_async", "_sync"):
        shutil.copytree(PACKAGE / name, tmp_path / name)
    monkeypatch.setattr(module, "SOURCE", tmp_path / "_async")
    monkeypatch.setattr(module, "TWIN", tmp_path / "_sync")
    return module


def test_sync_client_is_up_to_date(tool, capsys) -> None:
    assert tool.main(["--check"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "alpha.py").write_text(""),
        lambda folder: (folder / "alpha.py").unlink(),
        lambda folder: (folder / "epsilon.py").write_text(""),
    ],
    ids=["changed", "missing", "additional"],
)
def test_changed_sync_client_is_detected_and_regenerated(tool, capsys, change) -> None:
    change(tool.TWIN)
    assert tool.main(["--check"]) == 1
    assert "out of date" in capsys.readouterr().out
    assert tool.main([]) == 0
    assert tool.main(["--check"]) == 0
    assert not (tool.TWIN / "epsilon.py").exists()


def test_rule_that_never_applies_is_an_error(tool, monkeypatch) -> None:
    monkeypatch.setattr(tool, "RULES", [*tool.RULES, (r"\bnowhere_in_the_source\b", "")])
    with pytest.raises(SystemExit, match="nowhere_in_the_source"):
        tool.main(["--check"])


@each_case("path", sorted((PACKAGE / "_sync").glob("*.py")))
def test_sync_client_has_no_async_names(path) -> None:
    header, _, rest = path.read_text("utf-8").partition("\n")
    assert header.startswith("# Generated from ../_async")
    words = ("await", "async", "anext", "aiter", "aclose")
    assert not [word for word in words if word in rest.lower()]


# tests/client/surface/test_operations.py compares those of the endpoints with the interface.
@each_case(
    ("sync", "other"),
    [
        (AdClient, AsyncAdClient),
        (AdClient.with_options, AsyncAdClient.with_options),
        (AdClient.close, AsyncAdClient.aclose),
    ],
)
def test_clients_have_the_same_signatures(sync, other) -> None:
    ours, theirs = (
        [(each.name, each.kind, each.default) for each in inspect.signature(it).parameters.values()]
        for it in (sync, other)
    )
    assert ours == theirs
