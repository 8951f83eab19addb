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
def test_help_shows_the_public_module(name) -> None:
    help_text = pydoc.render_doc(getattr(adclient, name), renderer=pydoc.plaintext)
    assert re.match(
        rf"Python Library Documentation: .*{name} in module adclient(\.\w+)?\n", help_text
    )


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


@pytest.mark.parametrize("cls", [adclient.Page, adclient.AsyncPage])
def test_page_signature_has_no_private_argument(cls) -> None:
    assert [*inspect.signature(cls).parameters] == ["response", "data", "next", "extra"]


# What there is.


def test_dir_of_the_package_lists_public_names() -> None:
    assert dir(adclient) == sorted([*adclient.__all__, "testing"])


def test_dir_of_a_value_lists_nothing_private() -> None:
    page = CLIENTS[0].gamma.list_ads(account_id="account_c3d8")
    listing = CLIENTS[1].beta.list_campaigns(account_id="a")
    for value in (
        *CLIENTS,
        CLIENTS[0].alpha,
        *(page, page.pages(), iter(page), page.data[0], page.collect(), page.response),
        *(listing, listing.pages(), aiter(listing)),
        *(adclient.RetryPolicy(), adclient.Conventions(), adclient.Hooks()),
        adclient.RateLimited("x"),
    ):
        listed = dir(value)
        assert not [name for name in listed if re.match("_[^_]", name)], value
        names = {*dir(type(value)), *getattr(value, "__dict__", ())}
        public = {name for name in names if not name.startswith("_")}
        assert public
        assert public | {"__repr__", "__class__"} <= set(listed)
    listing.close()  # or it warns that it was never awaited


def test_autospec_of_a_method_keeps_its_kind_and_signature() -> None:
    from unittest import mock

    for client, kind in zip(CLIENTS, (mock.Mock, mock.AsyncMock), strict=True):
        method = mock.create_autospec(client).beta.pause_campaign
        assert isinstance(method, kind)
        with pytest.raises(TypeError, match="positional"):
            method("account_b204")


def test_autospec_of_a_client_is_a_context_manager() -> None:
    from unittest import mock

    for cls, name in ((AdClient, "__enter__"), (AsyncAdClient, "__aenter__")):
        assert hasattr(mock.create_autospec(cls("https://ads.example.com")), name)
