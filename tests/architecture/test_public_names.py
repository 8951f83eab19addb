"""The public names: complete, documented, with useful reprs and examples that run."""

import ast
import asyncio
import doctest
import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
import typing
from decimal import Decimal
from types import FunctionType

import attrs
import pytest
from cases import each_case

import adclient
from adclient import (
    AdClient,
    AsyncAdClient,
    AsyncPage,
    BusinessProfile,
    Campaign,
    Conventions,
    Diff,
    Draft,
    DraftEvent,
    Hooks,
    Items,
    Page,
    PlanReport,
    Request,
    RequestEvent,
    ResponseEvent,
    ResponseInfo,
    RetryEvent,
    RetryPolicy,
    doctor,
    testing,
)
from adclient.aiohttp import AiohttpTransport
from adclient.ledger import open_ledger

CLASSES = {
    name: cls for name in adclient.__all__ if inspect.isclass(cls := getattr(adclient, name))
}
FUNCTIONS = [adclient.call_tool, adclient.tools]
ERRORS = [cls for cls in CLASSES.values() if issubclass(cls, adclient.AdClientError)]
CLIENTS = [AdClient("https://ads.example.com"), AsyncAdClient("https://ads.example.com")]
SHOWN = [
    *CLASSES.values(),
    *(type(getattr(client, name)) for client in CLIENTS for name in ("alpha", "beta")),
    *(type(getattr(client, name)) for client in CLIENTS for name in ("gamma", "delta")),
]


@each_case("name", ["conventions", "errors", "hooks", "models", "options"])
def test_public_module_is_an_attribute_of_the_package(name) -> None:
    code = f"import adclient; print(adclient.{name}.__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == f"adclient.{name}\n"


def test_type_checking_imports_match_the_lazy_ones() -> None:
    tree = ast.parse(inspect.getsource(adclient))
    (block,) = (
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    homes = {
        alias.name: node.module.removeprefix("adclient.")
        for node in block.body
        for alias in node.names
    }
    assert homes.keys() == set(adclient.__all__) - {"__version__"}
    for name, module in homes.items():
        home = importlib.import_module(f"adclient.{module}")
        assert getattr(home, name) is getattr(adclient, name)


def test_names_are_loaded_on_first_use() -> None:
    spec = importlib.util.spec_from_file_location("adclient", adclient.__file__)
    fresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fresh)
    assert "AdClient" not in vars(fresh)
    assert fresh.AdClient is AdClient
    assert vars(fresh)["AdClient"] is AdClient
    assert set(fresh.__all__) <= set(dir(fresh))


def test_unknown_name_is_an_import_error() -> None:
    assert set(adclient.__all__) <= set(dir(adclient))
    assert not hasattr(adclient, "AdCleint")
    with pytest.raises(ImportError, match="cannot import name 'AdCleint' from 'adclient'"):
        from adclient import AdCleint  # noqa: F401


def test_dunder_all_is_sorted() -> None:
    """Constants first, then classes, then the rest, in the linter's order."""

    def key(name: str) -> tuple[int, str]:
        return (0 if name.isupper() else 1 if name[0].isupper() else 2), name

    assert list(adclient.__all__) == sorted(adclient.__all__, key=key)


def test_star_import_imports_exactly_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from adclient import *", names)
    assert names.keys() - {"__builtins__"} == set(adclient.__all__)


@each_case("name", CLASSES)
def test_public_class_has_its_own_docstring(name) -> None:
    doc = CLASSES[name].__dict__.get("__doc__")
    assert doc
    assert not doc.startswith(f"{name}("), "written by a decorator"


def public_methods():
    yield from FUNCTIONS
    seen = set()
    for cls in SHOWN:
        for name, method in inspect.getmembers(cls, inspect.isfunction):
            if not name.startswith("_") and method.__module__.startswith("adclient"):
                if method not in seen:
                    yield method
                seen.add(method)


def parameters_of(method: FunctionType) -> list[str]:
    return [name for name in inspect.signature(method).parameters if name != "self"]


@each_case("method", list(public_methods()))
def test_public_method_has_a_complete_docstring(method) -> None:
    doc = inspect.getdoc(method)
    assert doc
    assert doc.splitlines()[0].endswith((".", "?")), "the first line is a sentence"
    if parameters := parameters_of(method):
        sections = re.findall(r"^(Args|Returns|Raises|Example):$", doc, re.MULTILINE)
        assert sections == ["Args", "Returns", "Raises", "Example"]
        documented = re.findall(r"^    (\w+): ", doc.split("Args:")[1].split("Returns:")[0], re.M)
        assert documented == parameters


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: type(client).__name__)
def test_class_docstring_documents_the_constructor(client) -> None:
    doc = inspect.getdoc(type(client))
    args = doc.split("Args:")[1].split("Raises:")[0]
    assert re.findall(r"^    (\w+): ", args, re.M) == parameters_of(type(client).__init__)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: type(client).__name__)
def test_constructor_type_hints_can_be_resolved(client) -> None:
    hints = typing.get_type_hints(type(client).__init__)
    assert str(typing.get_args(hints["hooks"])[0]) == "adclient.Hooks"
    assert str(typing.get_args(hints["verify"])[-1]) == "ssl.SSLContext"


@pytest.mark.parametrize("name", ["conventions", "errors", "hooks", "models", "options"])
def test_public_module_is_loaded_on_attribute_access(monkeypatch, name) -> None:
    module = importlib.import_module(f"adclient.{name}")
    monkeypatch.delattr(adclient, name)
    assert getattr(adclient, name) is module


@each_case("cls", [cls for cls in CLASSES.values() if attrs.has(cls)])
def test_field_type_hints_can_be_resolved(cls) -> None:
    hints = typing.get_type_hints(cls)
    assert {field.name for field in attrs.fields(cls)} <= set(hints)
    assert not any(isinstance(hint, str) for hint in hints.values())


# Values.

CALL = {"call_id": 1, "operation": "beta.pause_campaign", "account_id": "account_b204"}
DIFF = Diff(field="daily_budget", before=100, after=Decimal("120.5"), extra={"currency": "EUR"})
VALUES = [
    DIFF,
    Draft(draft_id="draft_1", status="pending_approval", diff=DIFF, requires="two"),
    *(
        cls(id="x_1", name="Ä", status="ENABLED", extra={"a": [1, {"b": None}]})
        for cls in CLASSES.values()
        if issubclass(cls, adclient.Item)
    ),
    BusinessProfile(id="x_1"),
    Page(data=(Campaign(id="c", name="n", status="s"),), next={"after": 1}),
    AsyncPage(data=(), next=None),
    Items([Campaign(id="c", name="n", status="s")]),
    ResponseInfo(status=200, headers={"x": "1"}),
    Request(method="GET", url="https://ads.example.com/"),
    RetryPolicy(max_retries=7),
    Hooks(on_request=print),
    RequestEvent(**CALL, method="GET", url="https://ads.example.com/", attempt=1),
    ResponseEvent(
        **CALL, attempt=1, status=503, failure=None, request_id="r", duration=0.1, elapsed=0.2
    ),
    RetryEvent(**CALL, attempt=1, reason="503", wait=0.5),
    DraftEvent(**CALL, draft=Draft(draft_id="draft_1", status="s", diff=DIFF, requires="two")),
    Conventions(cursor_parameter="page"),
    adclient.Policy(accounts=["a"], money={"daily_budget": 150}),
    PlanReport(plan_id="w47", title="Spring", changes=()),
    *(cls("what happened", operation="a.b", details={"a": [1]}) for cls in ERRORS),
]


LISTING = CLIENTS[1].beta.list_campaigns(account_id="a")
PAGE_WALKS = [Page(data=()).pages(), iter(Page(data=())), LISTING.pages(), aiter(LISTING)]


@each_case("value", [*VALUES, *CLIENTS, LISTING, *PAGE_WALKS])
def test_repr_is_one_useful_line(value) -> None:
    text = repr(value)
    assert " object at 0x" not in text
    assert "0x" not in text
    assert type(value).__name__ in text
    assert "\n" not in text
    assert len(text) < 400


@each_case("value", [value for value in VALUES if hasattr(value, "__attrs_attrs__")])
def test_values_are_frozen_and_slotted(value) -> None:
    name = type(value).__attrs_attrs__[0].name
    with pytest.raises(AttributeError):
        setattr(value, name, "other")
    assert not hasattr(value, "__dict__")


SHOWS_ITSELF = (
    Diff,
    Draft,
    adclient.Policy,
    PlanReport,
    adclient.Item,
    Items,
    Page,
    AsyncPage,
    adclient.AdClientError,
)


@each_case(
    "value",
    [
        value
        for value in [*VALUES, *CLIENTS]
        if isinstance(value, (*SHOWS_ITSELF, AdClient, AsyncAdClient))
    ],
)
def test_notebook_display_has_text_and_html(value) -> None:
    html = value._repr_html_()
    assert type(value).__name__ in html
    assert html == value._repr_html_()
    bundle = value._repr_mimebundle_(include=["text/plain"], exclude=None)
    assert list(bundle.items()) == [("text/plain", repr(value)), ("text/html", html)]


def test_value_constructors_are_keyword_only() -> None:
    for cls in CLASSES.values():
        if attrs.has(cls):
            parameters = inspect.signature(cls).parameters.values()
            assert {parameter.kind for parameter in parameters} == {inspect.Parameter.KEYWORD_ONLY}


# No method makes a change live.

FORBIDDEN = ("approve", "confirm", "apply", "publish", "activate")


def test_no_public_name_suggests_an_approval() -> None:
    names = {name for name in adclient.__all__ if name != "HUMAN_TWO_STEP_APPROVE"}
    for cls in SHOWN:
        names.update(dir(cls))
        if not issubclass(cls, Warning):  # which have no signature
            names.update(inspect.signature(cls).parameters)
        for _, method in inspect.getmembers(cls, inspect.isfunction):
            names.update(inspect.signature(method).parameters)
    for client in CLIENTS:
        names.update(dir(client))
    assert not {name for name in names if any(word in name.lower() for word in FORBIDDEN)}


@each_case("cls", SHOWN)
def test_docstrings_of_writes_say_that_nothing_is_changed(cls) -> None:
    for name, method in inspect.getmembers(cls, inspect.iscoroutinefunction):
        if not name.startswith("_") and inspect.signature(method).return_annotation is Draft:
            assert inspect.getdoc(method).startswith("Stage ")
            assert "waits for approval; nothing is changed" in inspect.getdoc(method)


# Examples.


def examples():
    finder, seen = doctest.DocTestFinder(recurse=True, exclude_empty=True), set()
    of_modules = [getattr(module, name) for module in (doctor, testing) for name in module.__all__]
    for cls in [*SHOWN, *FUNCTIONS, AiohttpTransport, open_ledger, *of_modules]:
        for test in finder.find(cls, cls.__qualname__, globs={}):
            needs_polars = test.name.endswith(".to_polars")  # tested in tests/acceptance
            if test.examples and test.docstring not in seen and not needs_polars:
                yield pytest.param(test, id=test.name)
            seen.add(test.docstring)


def is_async(test: doctest.DocTest) -> bool:
    return any(re.search(r"\b(await|async)\b", example.source) for example in test.examples)


ALL_EXAMPLES = list(examples())


def run_sync(test: doctest.DocTest) -> None:
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(test, out=report.append, clear_globs=False).failed == 0, "".join(report)


async def run_async(test: doctest.DocTest) -> None:
    checker = doctest.OutputChecker()
    for example in test.examples:
        output = await shown(example.source, test.globs)
        assert checker.check_output(example.want, output, doctest.ELLIPSIS), (
            example.source,
            output,
        )


async def shown(source: str, names: dict[str, object]) -> str:
    """Return the output for one input of a console that supports `await`."""
    tree = ast.parse(source)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
        tree = ast.Expression(tree.body[0].value)
        code = compile(tree, "<example>", "eval", flags)
    else:
        code = compile(tree, "<example>", "exec", flags)
    value = eval(code, names)
    if inspect.iscoroutine(value) and code.co_flags & inspect.CO_COROUTINE:
        value = await value
    return "" if value is None else f"{value!r}\n"


@pytest.mark.parametrize("test", ALL_EXAMPLES)
def test_docstring_examples_run(test, monkeypatch) -> None:
    monkeypatch.delenv("ADCLIENT_TOKEN", raising=False)
    if is_async(test):
        asyncio.run(run_async(test))
    else:
        run_sync(test)


def test_docstring_examples_are_found() -> None:
    names = {parameter.id for parameter in ALL_EXAMPLES}
    assert {"AdClient", "AsyncAdClient", "AsyncListing", "Page", "AsyncPage", "Diff"} <= names
    assert {"Beta.list_campaigns", "AsyncBeta.list_campaigns"} <= names
    assert {"examine", "Report", "Report.conventions", "call_tool", "tools"} <= names
    assert {"FakeAdService", "FakeAdService.async_client", "FakeClock"} <= names
