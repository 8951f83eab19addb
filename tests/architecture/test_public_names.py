"""The public names: complete, with useful reprs. Their docstrings: see `test_docstrings.py`."""

import ast
import importlib
import importlib.util
import inspect
import typing
from decimal import Decimal

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
)

CLASSES = {
    name: cls for name in adclient.__all__ if inspect.isclass(cls := getattr(adclient, name))
}
ERRORS = [cls for cls in CLASSES.values() if issubclass(cls, adclient.AdClientError)]
PLATFORMS = ("alpha", "beta", "gamma", "delta")
CLIENTS = [AdClient("https://ads.example.com"), AsyncAdClient("https://ads.example.com")]


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


def test_value_constructors_are_keyword_only() -> None:
    for cls in CLASSES.values():
        if attrs.has(cls):
            parameters = inspect.signature(cls).parameters.values()
            assert {parameter.kind for parameter in parameters} == {inspect.Parameter.KEYWORD_ONLY}


# No method makes a change live.

FORBIDDEN = ("approve", "confirm", "apply", "publish", "activate")


def test_no_public_name_suggests_an_approval() -> None:
    names = {name for name in adclient.__all__ if name != "HUMAN_TWO_STEP_APPROVE"}
    namespaces = [getattr(client, name) for client in CLIENTS for name in PLATFORMS]
    for cls in [*CLASSES.values(), *map(type, namespaces)]:
        names.update(dir(cls))
        if not issubclass(cls, Warning):  # which have no signature
            names.update(inspect.signature(cls).parameters)
        for _, method in inspect.getmembers(cls, inspect.isfunction):
            names.update(inspect.signature(method).parameters)
    for client in CLIENTS:
        names.update(dir(client))
    assert not {name for name in names if any(word in name.lower() for word in FORBIDDEN)}
