"""The public names: complete, with useful reprs, signatures, `help` and `dir`.

Their docstrings: see tests/pages.
"""

import ast
import importlib
import importlib.util
import inspect
import pydoc
import re
import typing
from collections.abc import Iterator
from decimal import Decimal
from types import FunctionType
from unittest import mock

import attrs
import pytest
from cases import each_case

import adclient
from adclient import AdClient, Campaign, Conventions, Diff, Draft, Hooks, Items, Page, hooks
from adclient.plan import PlanReport
from adclient.policy import Policy
from adclient.testing import FakeAdService

CLASSES = [value for name in adclient.__all__ if inspect.isclass(value := getattr(adclient, name))]
OF_ATTRS = [cls for cls in CLASSES if attrs.has(cls)]
CLIENTS = [FakeAdService().client(), FakeAdService().async_client()]
PLATFORMS = ("alpha", "beta", "gamma", "delta")
NAMESPACES = [type(getattr(client, name)) for client in CLIENTS for name in PLATFORMS]


@each_case("name", "conventions", "errors", "hooks", "models", "options")
def test_public_module_is_loaded_on_attribute_access(name) -> None:
    module = importlib.import_module(f"adclient.{name}")
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(adclient, name)
        assert getattr(adclient, name) is module


def test_type_checking_imports_match_the_lazy_ones() -> None:
    tree = ast.parse(inspect.getsource(adclient))
    (block,) = (
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    homes = {alias.name: node.module for node in block.body for alias in node.names}
    assert homes.keys() == set(adclient.__all__) - {"__version__"}
    for name, home in homes.items():
        assert getattr(importlib.import_module(home), name) is getattr(adclient, name)


def test_names_are_loaded_on_first_use() -> None:
    spec = importlib.util.spec_from_file_location("adclient", adclient.__file__)
    fresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fresh)
    assert "AdClient" not in vars(fresh)
    assert fresh.AdClient is AdClient
    assert vars(fresh)["AdClient"] is AdClient


# Signatures.


@each_case("function", *OF_ATTRS, *(type(client).__init__ for client in CLIENTS))
def test_type_hints_can_be_resolved(function) -> None:
    hints = typing.get_type_hints(function)
    assert not any(isinstance(hint, str) for hint in hints.values())


def callables() -> Iterator[object]:
    for cls in [*CLASSES, *NAMESPACES]:
        # No caller makes an iterator or a listing.
        if "__init__" in vars(cls) and not cls.__name__.endswith(("Iterator", "Listing")):
            yield cls
        for name, value in inspect.getmembers(cls):
            function = value.fget if isinstance(value, property) else value
            if not name.startswith("_") and isinstance(function, FunctionType):
                yield function


@each_case("function", *callables())
def test_signature_types_are_unquoted_and_public(function) -> None:
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    types = [each.annotation for each in parameters if each.kind is not each.VAR_KEYWORD]
    shown = [
        re.sub(r"Literal\[.*?\]", "", inspect.formatannotation(annotation))
        for annotation in [*types, signature.return_annotation]
        if annotation is not inspect.Signature.empty
    ]
    assert not [text for text in shown if re.search(r"['\"]|ForwardRef|\._|<", text)]


@each_case("cls", adclient.Page, adclient.AsyncPage)
def test_page_signature_has_no_private_argument(cls) -> None:
    assert [*inspect.signature(cls).parameters] == ["response", "data", "next", "extra"]


def test_autospec_has_the_kinds_and_signatures_of_methods() -> None:
    kinds = (mock.Mock, "__enter__"), (mock.AsyncMock, "__aenter__")
    for client, (kind, enter) in zip(CLIENTS, kinds, strict=True):
        spec = mock.create_autospec(client)
        assert hasattr(spec, enter)
        assert isinstance(spec.beta.pause_campaign, kind)
        with pytest.raises(TypeError, match="positional"):
            spec.beta.pause_campaign("account_b204")


# No method makes a change live.

FORBIDDEN = re.compile("approve|confirm|apply|publish|activate", re.IGNORECASE)


def test_no_public_name_suggests_an_approval() -> None:
    names = set(adclient.__all__) - {"HUMAN_TWO_STEP_APPROVE"}
    for cls in [*CLASSES, *NAMESPACES]:
        names.update(dir(cls))
        functions = [function for _, function in inspect.getmembers(cls, inspect.isfunction)]
        if not issubclass(cls, Warning):  # which have no signature
            functions.append(cls)
        names.update(name for each in functions for name in inspect.signature(each).parameters)
    for client in CLIENTS:
        names.update(dir(client))
    assert not [name for name in names if FORBIDDEN.search(name)]


# Values.

CALL = {"call_id": 1, "operation": "beta.pause_campaign", "account_id": "account_b204"}
DIFF = Diff(field="daily_budget", before=100, after=Decimal("120.5"), extra={"currency": "EUR"})
DRAFT = Draft(draft_id="draft_1", status="pending_approval", diff=DIFF, requires="two")
CAMPAIGN = Campaign(id="c", name="n", status="s")
VALUES = [
    DIFF,
    DRAFT,
    *(
        cls(id="x_1", name="Ä", status="ENABLED", extra={"a": [1, {"b": None}]})
        for cls in CLASSES
        if issubclass(cls, adclient.Item)
    ),
    adclient.BusinessProfile(id="x_1"),
    Page(data=(CAMPAIGN,), next={"after": 1}),
    adclient.AsyncPage(data=(), next=None),
    Items([CAMPAIGN]),
    Policy(accounts=["a"], money={"daily_budget": 150}),
    PlanReport(plan_id="w47", title="Spring", changes=()),
    *(
        cls("what happened", operation="a.b", details={"a": [1]})
        for cls in CLASSES
        if issubclass(cls, adclient.AdClientError)
    ),
    adclient.ResponseInfo(status=200, headers={"x": "1"}),
    adclient.Request(method="GET", url="https://ads.example.com/"),
    adclient.RetryPolicy(max_retries=7),
    Hooks(on_request=print),
    Conventions(cursor_parameter="page"),
    hooks.RequestEvent(**CALL, method="GET", url="https://ads.example.com/", attempt=1),
    hooks.ResponseEvent(
        **CALL, attempt=1, status=503, failure=None, request_id="r", duration=0.1, elapsed=0.2
    ),
    hooks.RetryEvent(**CALL, attempt=1, reason="503", wait=0.5),
    hooks.DraftEvent(**CALL, draft=DRAFT),
]
LISTING = CLIENTS[1].beta.list_campaigns(account_id="a")
PAGE_WALKS = [Page(data=()).pages(), iter(Page(data=())), LISTING.pages(), aiter(LISTING)]


@each_case("value", *VALUES, *CLIENTS, LISTING, *PAGE_WALKS)
def test_repr_is_one_useful_line(value) -> None:
    text = repr(value)
    assert "0x" not in text
    assert type(value).__name__ in text
    assert "\n" not in text
    assert len(text) < 400


@each_case("value", *[value for value in VALUES if attrs.has(type(value))])
def test_values_are_frozen_and_slotted(value) -> None:
    with pytest.raises(AttributeError):
        setattr(value, attrs.fields(type(value))[0].name, "other")
    assert not hasattr(value, "__dict__")


# What `help` and `dir` show.


@each_case("name", "AdClient", "Draft", "RateLimited")
def test_help_shows_the_public_module(name) -> None:
    help_text = pydoc.render_doc(getattr(adclient, name), renderer=pydoc.plaintext)
    title = rf"Python Library Documentation: .*{name} in module adclient(\.\w+)?\n"
    assert re.match(title, help_text)


def test_dir_of_the_package_lists_public_names() -> None:
    assert dir(adclient) == sorted([*adclient.__all__, "testing"])


PAGE = CLIENTS[0].gamma.list_ads(account_id="account_c3d8")


WITH_ITEMS = [CLIENTS[0].alpha, PAGE, PAGE.data[0], PAGE.collect()]


@each_case("value", *VALUES, *CLIENTS, LISTING, *PAGE_WALKS, *WITH_ITEMS)
def test_dir_of_a_value_lists_nothing_private(value) -> None:
    listed = dir(value)
    assert not [name for name in listed if re.match("_[^_]", name)]
    names = {*dir(type(value)), *getattr(value, "__dict__", ())}
    public = {name for name in names if not name.startswith("_")}
    assert public
    assert public | {"__repr__", "__class__"} <= set(listed)
