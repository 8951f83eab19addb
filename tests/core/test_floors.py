"""The house of the library: what may import what, and that the core does no I/O."""

import ast
from pathlib import Path

import pytest

import adclient

ROOT = Path(adclient.__file__).parent
LEAVES = [
    "_json",
    "_signatures",
    "_version",
    "notebook",
    "models",
    "errors",
    "conventions",
    "hooks",
    "options",
]
CORE = sorted(path.stem for path in (ROOT / "_core").glob("*.py") if path.stem != "__init__")
FORBIDDEN = {
    "anyio", "asyncio", "httpx", "httpx2", "io", "opentelemetry", "pathlib", "random", "secrets",
    "select", "socket", "ssl", "subprocess", "tempfile", "threading", "time", "urllib.request",
    "uuid",
}  # fmt: skip


def imported_by(path):
    """The names of the modules that a module imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def ours(names):
    return {name for name in names if name.partition(".")[0] == "adclient"}


def calls_in(path):
    return {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


@pytest.mark.parametrize("name", CORE)
def test_the_core_does_no_io(name):
    path = ROOT / "_core" / f"{name}.py"
    assert not imported_by(path) & FORBIDDEN
    assert not calls_in(path) & {"open", "print", "input", "exec", "eval"}


@pytest.mark.parametrize("name", CORE)
def test_the_core_knows_itself_and_the_leaves_alone(name):
    for module in ours(imported_by(ROOT / "_core" / f"{name}.py")):
        part = module.split(".")[1] if "." in module else "models"
        assert part in {"_core", *LEAVES}, module


@pytest.mark.parametrize("name", [name for name in LEAVES if (ROOT / f"{name}.py").exists()])
def test_the_leaves_know_nothing_above_them(name):
    for module in ours(imported_by(ROOT / f"{name}.py")):
        part = module.split(".")[1] if "." in module else "notebook"
        assert part in LEAVES, module
        assert part != name


def test_one_place_knows_the_http_library():
    knowing = {
        path.relative_to(ROOT).parts[0].removesuffix(".py")
        for path in ROOT.rglob("*.py")
        if {name.partition(".")[0] for name in imported_by(path)} & {"httpx", "httpx2", "httpcore"}
    }
    # `transports` names its types for type checkers alone.
    assert knowing - {"transports", "testing"} == {"_http"}
