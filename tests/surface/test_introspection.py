"""What `help`, `inspect` and `dir` show of the public names."""

import inspect
import pydoc
import re
from types import FunctionType

import pytest
from cases import each_case

import adclient
from adclient import AdClient, AsyncAdClient
from adclient.testing import FakeAdService


@each_case("name", ["AdClient", "Page", "Draft", "RateLimited", "Conventions"])
def test_help_names_what_one_imports(name) -> None:
    told = pydoc.render_doc(getattr(adclient, name), renderer=pydoc.plaintext)
    assert re.match(rf"Python Library Documentation: .*{name} in module adclient(\.\w+)?\n", told)


# Signatures.

FAKE = FakeAdService()
CLIENTS = [FAKE.client(), FAKE.async_client()]
CLASSES = [value for name in adclient.__all__ if inspect.isclass(value := getattr(adclient, name))]
NAMESPACES = [
    type(getattr(client, name))
    for client in CLIENTS
    for name in ("alpha", "beta", "gamma", "delta")
]


GIVEN = ("Iterator", "Listing")  # no caller makes one


def callables():
    for cls in [*CLASSES, *NAMESPACES]:
        if "__init__" in vars(cls) and not cls.__name__.endswith(GIVEN):
            yield cls
        for name, value in inspect.getmembers(cls):
            if isinstance(value, property):
                value = value.fget
            if not name.startswith("_") and isinstance(value, FunctionType):
                yield value


@each_case("function", list(callables()))
def test_types_are_shown_without_quotes_and_private_modules(function) -> None:
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    types = [each.annotation for each in parameters if each.kind is not each.VAR_KEYWORD]
    shown = [
        re.sub(r"Literal\[.*?\]", "", inspect.formatannotation(annotation))
        for annotation in [*types, signature.return_annotation]
        if annotation is not inspect.Signature.empty
    ]
    assert not [text for text in shown if re.search(r"['\"]|ForwardRef|\._|<", text)]


@pytest.mark.parametrize("cls", [adclient.Page, adclient.AsyncPage])
def test_a_page_is_made_of_what_came_alone(cls) -> None:
    assert [*inspect.signature(cls).parameters] == ["response", "data", "next", "extra"]


# What there is.


def test_the_package_lists_its_public_names() -> None:
    assert dir(adclient) == sorted([*adclient.__all__, "testing"])


VALUES = {
    **{type(client).__name__: client for client in CLIENTS},
    "AsyncListing": CLIENTS[1].beta.list_campaigns(account_id="a"),
    "AsyncPageIterator": CLIENTS[1].beta.list_campaigns(account_id="a").pages(),
    "AsyncItemIterator": aiter(CLIENTS[1].beta.list_campaigns(account_id="a")),
    "Page": (page := CLIENTS[0].gamma.list_ads(account_id="account_c3d8")),
    "PageIterator": page.pages(),
    "ItemIterator": iter(page),
    "Ad": page.data[0],
    "Items": page.collect(),
    "Response": page.response,
    "Alpha": CLIENTS[0].alpha,
    "RateLimited": adclient.RateLimited("x"),
    "RetryPolicy": adclient.RetryPolicy(),
    "Conventions": adclient.Conventions(),
    "Hooks": adclient.Hooks(),
}


@each_case("name", VALUES)
def test_dir_lists_nothing_private(name) -> None:
    value = VALUES[name]
    assert type(value).__name__ == name
    listed = dir(value)
    assert not [name for name in listed if re.match("_[^_]", name)]
    public = {name for name in object.__dir__(value) if not name.startswith("_")}
    assert public
    assert public | {"__repr__", "__class__"} <= set(listed)


def test_a_mock_of_a_client_works_in_a_block() -> None:
    from unittest import mock

    for cls, name in ((AdClient, "__enter__"), (AsyncAdClient, "__aenter__")):
        assert hasattr(mock.create_autospec(cls("https://ads.example.com")), name)
