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
NAMESPACES = ("alpha", "beta", "gamma", "delta")


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


def rewrite(path: Path, change) -> None:
    path.write_text(change(path.read_text("utf-8")), "utf-8")


def test_sync_client_is_up_to_date(tool, capsys) -> None:
    assert tool.main(["--check"]) == 0, capsys.readouterr().out


@each_case(
    "change",
    [
        lambda tool: rewrite(tool.TWIN / "alpha.py", lambda text: f"{text}# more\n"),
        lambda tool: (tool.TWIN / "alpha.py").unlink(),
        lambda tool: (tool.TWIN / "epsilon.py").write_text(""),
        lambda tool: rewrite(tool.SOURCE / "beta.py", lambda text: text.replace("the", "a", 1)),
    ],
)
def test_change_is_detected_and_the_sync_client_regenerated(tool, capsys, change) -> None:
    change(tool)
    assert tool.main(["--check"]) == 1
    assert "out of date" in capsys.readouterr().out
    assert tool.main([]) == 0
    assert tool.main(["--check"]) == 0
    assert not (tool.TWIN / "epsilon.py").exists()


def test_rule_that_never_applies_is_an_error(tool, monkeypatch) -> None:
    assert tool.twins()
    monkeypatch.setattr(tool, "RULES", [*tool.RULES, (r"\bnowhere_in_the_source\b", "")])
    with pytest.raises(SystemExit, match="nowhere_in_the_source"):
        tool.main(["--check"])


@each_case("path", sorted((PACKAGE / "_sync").glob("*.py")))
def test_sync_client_has_no_async_names(path) -> None:
    text = path.read_text("utf-8")
    header, _, rest = text.partition("\n")
    assert header.startswith("# Generated from ../_async")
    for word in ("await", "async", "anext", "aiter", "aclose"):
        assert word not in rest.lower(), word


def without_annotation(parameter: inspect.Parameter) -> tuple[object, ...]:
    return parameter.name, parameter.kind, parameter.default


def pairs():
    sync, other = AdClient("https://a.example.com"), AsyncAdClient("https://a.example.com")
    yield AdClient, AsyncAdClient
    yield sync.with_options, other.with_options
    yield sync.close, other.aclose
    for namespace in NAMESPACES:
        ours, theirs = getattr(sync, namespace), getattr(other, namespace)
        for name in sorted({*vars(type(ours)), *vars(type(theirs))}):
            if not name.startswith("_"):
                method = getattr(ours, name, None)
                yield method, getattr(theirs, name, None)


@each_case(("sync", "other"), list(pairs()))
def test_clients_have_the_same_signatures(sync, other) -> None:
    ours, theirs = inspect.signature(sync).parameters, inspect.signature(other).parameters
    assert [*map(without_annotation, ours.values())] == [*map(without_annotation, theirs.values())]
