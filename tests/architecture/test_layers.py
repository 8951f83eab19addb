"""Which modules may import which, read from their source."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from cases import each_case
from clients import DRAFT
from raw_server import LISTING

import adclient

PACKAGE = Path(adclient.__file__).parent
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
IMPURE = {"httpx", "httpcore", "anyio", "asyncio", "time", "threading", "socket", "ssl", "os"}
IMPURE |= {"opentelemetry", "random", "secrets", "uuid", "pathlib", "subprocess", "concurrent"}

RECORDS = {"_version", "conventions", "errors", "hooks", "models", "options", "transports"}
# Below clients: it decides nothing about calls. What the rest offers instead of mistakes is loaded
# only when something went wrong.
BASE = RECORDS | {"_advice", "_show", "_tables", "_tasks", "_values"}
# The inner ring: whoever sends a call needs it.
CLIENT = {"_async", "_core", "_http", "_sync", "_telemetry", "extend"}
# The outer ring: tools that use clients. Each, and the tools that it may import.
TOOLS = {
    "policy": {"ledger"},
    "ledger": {"gate", "policy"},
    "gate": {"ledger"},
    "_service": {"ledger", "policy"},
    "plan": {"ledger", "policy"},
    "agents": {"ledger", "policy"},
    "mcp": {"agents", "policy"},
    "survey": {"_service"},
    "doctor": {"survey"},
    "conform": {"survey"},
    "testing": {"_command", "_service"},
    "pytest_plugin": {"testing"},
    "_command": {"_service", "survey", "conform", "doctor", "ledger", "mcp", "plan", "policy"},
    "__main__": {"_command"},
    "_pyinstaller": set(),
}
# Each layer, and the layers that it may import.
LAYERS = {
    **dict.fromkeys(BASE, BASE),
    "transports": set(),
    "_tasks": {"_tasks"},
    "_advice": BASE | {"_core"},
    "_core": BASE - {"_tables", "_tasks"} | {"_core"},
    "_telemetry": BASE | {"_core", "_telemetry"},
    "_http": BASE - {"_show"} | {"_core", "_http"},
    "_async": BASE | CLIENT - {"_sync"},
    "_sync": BASE | CLIENT - {"_async"},
    "extend": BASE | CLIENT - {"_http", "_telemetry"},
    "__init__": BASE | CLIENT,
    **{tool: BASE | {"__init__", "extend", tool} | others for tool, others in TOOLS.items()},
}
# What imports more than that, and why.
EXCEPTIONS = {
    # A client composes what its caller names; nothing of it is loaded before.
    "adclient._async.client": {"_service", "ledger", "policy"},
    "adclient._sync.client": {"_service", "ledger", "policy"},
    # A service file has credentials, a proxy, and the names of reads.
    "adclient._service.arguments": {"_core"},
    "adclient._service.file": {"_core", "_http"},
}
# They look at what a client does not: refusals, pages of any shape, and requests it would not send.
EXCEPTIONS |= {
    f"adclient.survey.{name}": {"_core"}
    for name in ("candidates", "findings", "observation", "service", "session")
}
# The fake parses what a client sends, and is a transport of either library.
IN_TESTING = [name for name in MODULES if name.startswith("adclient.testing.")]
EXCEPTIONS |= {name: {"_async", "_core", "_http", "_sync"} for name in IN_TESTING}


@cache
def imports(module: str, *, at_import: bool = False) -> set[str]:
    """Return the names that a module imports; `at_import` excludes imports inside functions."""
    return set(_imported(_TREES[module], at_import))


_TREES = {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}


def _imported(node: ast.AST, at_import: bool) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Import():
                yield from (alias.name for alias in child.names)
            case ast.ImportFrom():
                assert child.level == 0, "imports are absolute"
                yield from (f"{child.module}.{alias.name}" for alias in child.names)
            case ast.expr():  # which cannot import
                pass
            case ast.FunctionDef() | ast.AsyncFunctionDef() if at_import:
                pass
            case ast.If(test=ast.Name(id="TYPE_CHECKING")) if at_import:
                pass
            case _:
                yield from _imported(child, at_import)


def module_of(name: str) -> str | None:
    """Return the adclient module that an imported name is, or belongs to."""
    while name not in MODULES:
        name, dot, _ = name.rpartition(".")
        if not dot:
            return None
    return name


def ours(names: set[str]) -> set[str]:
    return {module for name in names if (module := module_of(name)) is not None}


def layer_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


@each_case("module", *MODULES)
def test_layers_import_only_lower_layers(module) -> None:
    below = {layer_of(name) for name in ours(imports(module))}
    further = below - LAYERS[layer_of(module)]
    if module.startswith("adclient.testing."):
        assert further <= EXCEPTIONS[module]
    else:  # an exception that is not needed any more is removed
        assert further == EXCEPTIONS.get(module, set())


@each_case("module", *[name for name in MODULES if layer_of(name) in CLIENT])
def test_clients_load_no_tool_unasked(module) -> None:
    assert set(map(layer_of, ours(imports(module, at_import=True)))).isdisjoint(TOOLS)


def importers(libraries: set[str], *, at_import: bool = False) -> set[str]:
    """Return the modules that import one of some libraries."""
    return {
        name
        for name in MODULES
        for found in imports(name, at_import=at_import)
        if found.partition(".")[0] in libraries
    }


def test_only_http_imports_an_http_library() -> None:
    others = importers({"httpx", "httpx2", "httpcore", "h11"})
    others -= {"adclient._async.connections", "adclient._sync.connections"}
    assert set(map(layer_of, others)) == {"_http"}


def test_core_and_most_of_the_survey_do_no_io() -> None:
    impure = importers(IMPURE)
    impure |= {name for name in MODULES if "_http" in map(layer_of, ours(imports(name)))}
    assert not [name for name in impure if layer_of(name) == "_core"]
    # It writes the service file, whose path is also that of a file to check.
    writing = {"adclient.survey.examine", "adclient.survey.report"}
    assert {each for each in impure if layer_of(each) == "survey"} == writing


MADE_OF_ARROW = {f"adclient._tables.{name}" for name in ("columns", "table")}
# Whose signatures name types of these libraries.
SIGNED_WITH_TABLES = {f"adclient.{name}.iterators" for name in ("_async", "_sync")}
SIGNED_WITH_TABLES |= {"adclient._tables.items"}


@cache
def graph() -> dict[str, set[str]]:
    """Return the adclient modules that each module imports at import time."""
    return {name: ours(imports(name, at_import=True)) - {name} for name in MODULES}


@each_case(
    ("libraries", "places"),
    ({"opentelemetry"}, {"adclient._telemetry.spans"}),
    ({"mcp"}, {"adclient.mcp"}),
    ({"hypothesis"}, {"adclient.testing.properties"}),
    ({"pandas", "polars", "pyarrow"}, SIGNED_WITH_TABLES | MADE_OF_ARROW),
)
def test_library_is_imported_in_one_place(libraries, places) -> None:
    assert importers(libraries) == places


def test_table_libraries_are_imported_lazily() -> None:
    extras = {"pandas", "polars", "pyarrow"}
    assert importers(extras, at_import=True) <= MADE_OF_ARROW
    assert {name for name, needed in graph().items() if needed & MADE_OF_ARROW} <= MADE_OF_ARROW


def test_no_import_cycles() -> None:
    assert list(TopologicalSorter(graph()).static_order())


# Modules that are slow to import, and are loaded when needed.

NEVER_UNASKED = {"numpy", "pandas", "polars", "pyarrow", "IPython", "rich"}
NEVER_UNASKED |= {"adclient.mcp", "mcp", "httpx2", "hypothesis", "adclient.agents"}
NEVER_UNASKED |= {"adclient._advice", "adclient.testing", "adclient.survey"}
FIRST_ANSWERS = f"""import httpx, json
from adclient import AdClient
bodies = {{"GET": {LISTING}, "POST": {DRAFT}}}
answer = lambda request: httpx.Response(200, content=json.dumps(bodies[request.method]))
client = AdClient("https://ads.example.com", transport=httpx.MockTransport(answer))
client.beta.list_campaigns(account_id="a")
client.beta.pause_campaign(account_id="a", campaign_id="b")"""
NOT_FOR_A_CLASS = {"cattrs", "html", "httpcore", "anyio", "asyncio", "httpx", "ssl", "socket"}
NOT_FOR_A_CLASS |= {"email", "logging", "argparse", "trio"}
# In a process after `import adclient`: what is run, and what is not loaded then, step by step.
LOADED_LATER = [
    [("", NOT_FOR_A_CLASS | {"attrs", "adclient.models"})],
    [
        (
            "from adclient import AdClient",
            NOT_FOR_A_CLASS
            | {"hashlib", "adclient._http", "adclient._telemetry", "adclient._async"},
        ),
        ("AdClient('https://ads.example.com')", {"cattrs", "html", "httpx", "adclient._async"}),
    ],
    [(FIRST_ANSWERS, {"cattrs", "html", "argparse", "trio"})],
    [
        ("from adclient import AsyncAdClient", NOT_FOR_A_CLASS | {"hashlib", "adclient._sync"}),
        ("AsyncAdClient('https://ads.example.com')", {"cattrs", "html", "httpx", "adclient._sync"}),
    ],
    [
        (
            "import adclient._command",
            {"cattrs", "html", "httpcore", "anyio", "asyncio", "trio", "httpx", "attrs", "ssl"}
            | {"adclient.models", "adclient.errors"},
        )
    ],
]
# If installed, OpenTelemetry and the command line of httpx load arbitrary modules.
SCRIPT = f"""import os, sys
sys.modules.update(dict.fromkeys(["opentelemetry", "click", "rich"]))
import adclient
for steps in {[[code for code, _ in steps] for steps in LOADED_LATER]}:
    if os.fork():
        assert os.wait()[1] == 0
        continue
    names = {{}}
    for code in steps:
        exec(code, names)
        print(*[name for name, module in sys.modules.items() if module], flush=True)
    break"""


def test_slow_modules_are_loaded_lazily() -> None:
    command = [sys.executable, "-c", SCRIPT]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=40)
    expected = [step for steps in LOADED_LATER for step in steps]
    for (code, later), loaded in zip(expected, run.stdout.splitlines(), strict=True):
        assert set(loaded.split()) & (NEVER_UNASKED | later) == set(), code
