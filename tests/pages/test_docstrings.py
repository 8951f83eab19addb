"""Docstrings of everything public: complete, in Google style, with examples that run."""

import ast
import asyncio
import builtins
import contextlib
import doctest
import importlib
import inspect
import io
import re
import textwrap
import typing
from collections.abc import Callable, Iterator

import attrs
from cases import each_case

import adclient
from adclient import AdClient, AsyncAdClient, Draft, conform, doctor, errors, testing
from adclient._core.operations import OPERATIONS
from adclient.ledger import Ledger

SECTIONS = ["Args", "Attributes", "Returns", "Yields", "Raises", "Examples"]
WITH_ALL = [
    "adclient",
    *(f"adclient.{name}" for name in ("conform", "doctor", "ledger", "mcp", "plan", "testing")),
    "adclient.testing.properties",
]
WITHOUT_ALL = [f"adclient.{name}" for name in ("errors", "hooks", "models", "policy")]
CLIENTS = [AdClient("https://ads.example.com"), AsyncAdClient("https://ads.example.com")]
NAMESPACES = [
    type(getattr(client, name))
    for client in CLIENTS
    for name in ("alpha", "beta", "gamma", "delta")
]
# Users do not make these themselves.
NOT_CONSTRUCTED = {
    *NAMESPACES,
    *(getattr(adclient, name) for name in adclient.__all__ if name.endswith("Iterator")),
    *(adclient.AsyncListing, adclient.AccountRead, adclient.AsyncAccountRead),
    *(adclient.AdClientError, Ledger, testing.Dashboard, testing.Faults),
}


def named() -> Iterator[object]:
    for module in map(importlib.import_module, WITH_ALL):
        yield from (getattr(module, name) for name in module.__all__)
    for module in map(importlib.import_module, WITHOUT_ALL):
        for name, value in vars(module).items():
            is_class = inspect.isclass(value) and not typing.is_typeddict(value)
            if is_class and value.__module__ == module.__name__ and name[0] != "_":
                yield value
    yield from NAMESPACES


CLASSES: list[type] = list(dict.fromkeys(filter(inspect.isclass, named())))


def members(cls: type) -> Iterator[tuple[str, object]]:
    """The public members of a class that adclient defines."""
    for name in dir(cls):
        home = next((base for base in cls.__mro__ if name in vars(base)), object)
        if not name.startswith("_") and ours(home):
            yield name, inspect.getattr_static(home, name)


def ours(documented: object) -> bool:
    return str(getattr(documented, "__module__", "adclient")).startswith("adclient")


def function_of(member: object) -> Callable[..., object] | None:
    function = inspect.unwrap(getattr(member, "__func__", member))
    return function if inspect.isfunction(function) else None


MEMBERS = [member for cls in CLASSES for _, member in members(cls)]
PROPERTIES = [member for member in MEMBERS if isinstance(member, property)]
FUNCTIONS: list[Callable[..., object]] = list(
    dict.fromkeys([*filter(inspect.isfunction, named()), *filter(None, map(function_of, MEMBERS))])
)


def doc_of(documented: object) -> str:
    doc = getattr(documented, "__doc__", None)
    assert doc, "no docstring"
    return inspect.cleandoc(doc)


def sections_of(doc: str) -> dict[str, str]:
    """The text of each section, which must be known, in order, and separate from the others."""
    _, *parts = re.split(r"^([A-Z]\w+):$", doc, flags=re.MULTILINE)
    names = parts[::2]
    assert names == [name for name in SECTIONS if name in names]
    return dict(zip(names, map(textwrap.dedent, parts[1::2]), strict=True))


def lines_of(doc: str, section: str) -> list[str]:
    """The lines of a section that continue no other."""
    return re.findall(r"^\S.*", sections_of(doc).get(section, ""), re.MULTILINE)


def entries_of(doc: str, section: str) -> list[str]:
    """The names that a section documents, each with a text."""
    found = (re.match(r"\*{0,2}(\w+): \S", line) for line in lines_of(doc, section))
    return [entry[1] for entry in found if entry]


def parameters_of(function: Callable[..., object]) -> list[str]:
    names = list(inspect.signature(function).parameters)
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


@each_case("documented", *CLASSES, *FUNCTIONS, *PROPERTIES)
def test_docstring_is_well_formed(documented) -> None:
    doc = doc_of(documented)
    assert not re.search(r":\w+:`|(?<!`)``(?!`)|^ *:\w+.*:", doc, re.MULTILINE), "not Markdown"
    sections = sections_of(doc)
    for name in ("Args", "Attributes", "Raises"):
        assert len(lines_of(doc, name)) == len(entries_of(doc, name)), name
    for name in sections.keys() & {"Returns", "Yields"}:
        (line,) = lines_of(doc, name)  # a further line would be another value
        assert ":" not in line, "what is before a colon would be the type"


def raised_by(function: Callable[..., object]) -> set[type[BaseException]]:
    """The errors that the code of a function raises by name."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    raised = (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise))
    names = [it.func.id for it in raised if isinstance(it, ast.Call) and hasattr(it.func, "id")]
    known = vars(builtins) | function.__globals__
    values = [known.get(name) for name in names]
    classes = [getattr(it, "__annotations__", {}).get("return", it) for it in values]
    return {it for it in classes if inspect.isclass(it) and issubclass(it, BaseException)}


@each_case("function", *FUNCTIONS)
def test_function_documents_its_parameters_its_result_and_its_errors(function) -> None:
    doc = doc_of(function)
    assert entries_of(doc, "Args") == parameters_of(function)
    returns = inspect.signature(function).return_annotation not in (None, "None")
    assert ("Returns" in sections_of(doc)) is returns
    documented = set(entries_of(doc, "Raises"))
    for cls in raised_by(function):
        assert documented & {base.__name__ for base in cls.__mro__}, f"{cls.__name__}"
    known = vars(builtins) | vars(errors) | vars(conform) | vars(doctor) | vars(testing)
    assert documented <= known.keys()


@each_case("cls", *CLASSES)
def test_class_documents_its_constructor_and_its_attributes(cls) -> None:
    maker = vars(cls).get("__init__")
    is_written = maker is not None and not attrs.has(cls) and cls not in NOT_CONSTRUCTED
    assert entries_of(doc_of(cls), "Args") == (parameters_of(maker) if is_written else [])
    bases = [base for base in cls.__mro__ if ours(base)]
    documented = {name for base in bases for name in entries_of(doc_of(base), "Attributes")}
    expected = set(vars(cls).get("__annotations__", {}))
    if attrs.has(cls):
        expected |= {field.name for field in attrs.fields(cls)}
    assert {name for name in expected if not name.startswith("_")} <= documented
    makers = [vars(base)["__init__"] for base in bases if "__init__" in vars(base)]
    assigned = {name for maker in makers for name in maker.__code__.co_names}
    assert documented <= expected | set(dir(cls)) | assigned, "invented"


@each_case("operation", *OPERATIONS)
def test_method_names_its_endpoint(operation) -> None:
    for client in CLIENTS:
        namespace, name = operation.full_name.split(".")
        doc = " ".join(inspect.getdoc(getattr(getattr(client, namespace), name)).split())
        assert f"Sends `{operation.method} {operation.path}`" in doc
        if operation.result is Draft:
            assert doc.startswith("Stage ")
            assert "waits for approval; nothing is changed" in doc
        # What models are told.
        assert doc.startswith(operation.about)
        for parameter in operation.parameters:
            assert f" {parameter.name}: {parameter.about}" in doc.replace("`", "")


def examples_in(*documented: object) -> str:
    docs = [inspect.cleandoc(it.__doc__ or "") for it in documented if ours(it)]
    return "".join(sections_of(doc).get("Examples", "") for doc in docs)


@each_case("documented", *CLASSES, *filter(inspect.isfunction, named()))
def test_there_is_an_example_of_it_and_of_each_member(documented) -> None:
    # An error, or a kind of item, that adds nothing to its base needs no example of its own.
    bases = [base for base in getattr(documented, "__mro__", [documented]) if base is not object]
    assert ">>> " in examples_in(*bases)
    for name, member in members(documented) if inspect.isclass(documented) else ():
        function = function_of(member) or member
        if callable(function) or isinstance(function, property):
            shown = examples_in(function, *bases)
            assert re.search(rf"\.{name}\b", shown), f"no example shows {name}"


def name_of(documented: object) -> str:
    function = getattr(documented, "fget", documented)
    return f"{function.__module__}.{function.__qualname__}"


# What polars and psycopg need is tested in tests/acceptance.
EXAMPLES = {
    name_of(it): doc_of(it)
    for it in [*CLASSES, *FUNCTIONS, *PROPERTIES]
    if ">>>" in doc_of(it) and not name_of(it).endswith((".to_polars", "PostgresLedger"))
}

CHECKER = doctest.OutputChecker()


@each_case("name", *EXAMPLES)
def test_example_runs(name, monkeypatch, tmp_path) -> None:
    """As in a console that supports `await`."""
    monkeypatch.delenv("ADCLIENT_TOKEN", raising=False)
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / name)  # where an example may write a file
    names: dict[str, object] = {}
    with asyncio.Runner() as runner:
        for example in doctest.DocTestParser().get_examples(EXAMPLES[name]):
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            code = compile(example.source, "<example>", "single", flags, dont_inherit=True)
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                result = eval(code, names)
                if code.co_flags & inspect.CO_COROUTINE:
                    runner.run(result)
            shown = example.want, printed.getvalue()
            assert CHECKER.check_output(*shown, doctest.ELLIPSIS), (example.source, shown)
