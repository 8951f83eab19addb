"""What one sees who asks: `?`, `help`, Tab and `dir`, in a real IPython shell and from Jedi."""

import builtins
import inspect
import pydoc
import re
from types import FunctionType

import jedi
import pytest
import shell as ipython

import adclient
from adclient import AdClient, AsyncAdClient
from adclient.testing import FakeAdService

BEGIN = """
from adclient import *
from adclient.testing import FakeAdService
fake = FakeAdService()
client, other = fake.client(), fake.async_client()
draft = client.alpha.update_campaign_budget(
    account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=120
)
page = client.gamma.list_ads(account_id="account_c3d8")
"""


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    with ipython.opened(tmp_path_factory.mktemp("ipython")) as shell:
        assert shell.run(BEGIN) == ""
        yield shell


# Questions.


def test_a_method_shows_its_signature_and_an_example(shell) -> None:
    told = shell.run("client.alpha.update_campaign_budget?")
    assert told.startswith("""\
Signature:
client.alpha.update_campaign_budget(
    *,
    account_id: str,
    campaign_id: str,
    daily_budget: int | float | decimal.Decimal | None = None,
    fields: collections.abc.Mapping[str, object] | attr.AttrsInstance | None = None,
) -> adclient.models.Draft
Docstring:
Stage a change of a campaign's daily budget.
""")
    assert ">>> draft = client.alpha.update_campaign_budget(\n" in told
    assert re.search(r"^File: .*alpha\.py$", told, re.MULTILINE)


@pytest.mark.parametrize(
    ("question", "signature"),
    [
        (
            "client.alpha.explain_objectives?",
            "(*, account_id: str, cursor: JSON = None) -> adclient.Page[adclient.models.Objective]",
        ),
        (
            "other.alpha.explain_objectives?",
            "(*, account_id: str, cursor: JSON = None)"
            " -> adclient.AsyncListing[adclient.models.Objective]",
        ),
        ("page.collect?", "(*, limit: int | None = None) -> adclient.Items[~T]"),
        ("page.pages?", "(*, prefetch: bool = False) -> adclient.PageIterator[~T]"),
        ("page.progress?", "() -> adclient.Page[~T]"),
        ("page.typed?", "(cls: type[~A]) -> adclient.Page[~A]"),
        ("page.to_pandas?", "() -> pandas.DataFrame"),
        ("page.to_polars?", "() -> polars.DataFrame"),
        ("page.to_records?", "() -> list[dict[str, object]]"),
        ("draft.to_dict?", "() -> dict[str, JSON]"),
    ],
)
def test_the_signature_of_a_method(shell, question, signature) -> None:
    told = shell.run(question).partition("Docstring:")[0]
    assert signature in re.sub(r"\s+", " ", told.replace(",\n)", ")").replace("(\n    ", "("))


@pytest.mark.parametrize("name", ["AdClient", "AsyncAdClient", "Draft", "Page", "Items"])
def test_a_class_shows_how_it_is_made_and_an_example(shell, name) -> None:
    told = shell.run(f"{name}?")
    assert told.startswith(f"Init signature:{' ' if name == 'Items' else chr(10)}{name}(")
    assert ">>> " in told


def test_the_source_of_a_method_and_of_a_value(shell) -> None:
    assert "UPDATE_ALPHA_CAMPAIGN_BUDGET,\n" in shell.run("client.alpha.update_campaign_budget??")
    assert "self._engine = engine" in shell.run("AdClient._use??")
    assert "diff: Diff\n" in shell.run("Draft??")


@pytest.mark.parametrize("name", ["AdClient", "AsyncAdClient", "Page", "AsyncListing", "Items"])
def test_a_class_of_a_private_module_shows_no_source_rather_than_a_wrong_one(shell, name) -> None:
    """Its module is named by its public name, and the source is not in the file of that name."""
    assert getattr(adclient, name).__module__ == "adclient"
    with pytest.raises(OSError, match=r"source|find"):
        inspect.getsource(getattr(adclient, name))
    assert shell.run(f"{name}??").rstrip() == shell.run(f"{name}?").rstrip()


@pytest.mark.parametrize("name", ["AdClient", "Page", "Draft", "RateLimited", "Conventions"])
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
            yield pytest.param(cls, id=cls.__name__)
        for name, value in inspect.getmembers(cls):
            if isinstance(value, property):
                value = value.fget
            if not name.startswith("_") and isinstance(value, FunctionType):
                yield pytest.param(value, id=f"{cls.__name__}.{name}")


@pytest.mark.parametrize("function", list(callables()))
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


# Completion.


def words(text: str) -> list[str]:
    return text.split()


ALPHA = words("explain_objectives update_campaign_budget update_campaign_targeting update_creative")
OFFERED = {
    "client.": words("alpha beta close delta gamma with_options"),
    "other.": words("aclose alpha beta delta gamma with_options"),
    "client.alpha.": ALPHA,
    "other.alpha.": ALPHA,
    "draft.": words("diff draft_id extra requires response status to_dict"),
    "draft.diff.": words("after before change extra field percent to_dict"),
    "page.": words(
        "collect data extra items next pages progress response to_dict"
        " to_pandas to_polars to_records typed"
    ),
    "page.data[0].": words("extra id name status to_dict"),
}


@pytest.mark.parametrize("text", OFFERED)
def test_tab_offers_what_users_need(shell, text) -> None:
    assert shell.complete(text) == OFFERED[text]


@pytest.mark.parametrize("text", [text for text in OFFERED if "[" not in text])
def test_tab_offers_the_same_without_jedi(shell, text) -> None:
    assert shell.complete(text, jedi=False) == OFFERED[text]


def test_tab_offers_the_names_of_arguments(shell) -> None:
    offered = shell.complete("client.alpha.update_campaign_budget(")
    names = [name for name in offered if name.endswith("=") and not hasattr(builtins, name)]
    assert names == ["account_id=", "campaign_id=", "daily_budget=", "fields="]


PROGRAM = """
from adclient import AdClient, AsyncAdClient
client, other = AdClient(), AsyncAdClient()
draft = client.alpha.update_campaign_budget(account_id="a", campaign_id="c")
page = client.gamma.list_ads(account_id="a")
for ad in page: pass
async def main():
    awaited = await other.gamma.list_ads(account_id="a")
    async for each in other.gamma.list_ads(account_id="a"):
        pass
    """
IN_A_FILE = {
    **{text: OFFERED[text] for text in ("client.alpha.", "draft.", "draft.diff.", "page.")},
    "ad.": OFFERED["page.data[0]."],
    "awaited.": OFFERED["page."],
    "each.": OFFERED["page.data[0]."],
}


@pytest.mark.parametrize("text", IN_A_FILE)
def test_an_editor_with_jedi_offers_the_same(text) -> None:
    offered = [found.name for found in jedi.Script(PROGRAM + text).complete()]
    assert [name for name in offered if not name.startswith("_")] == IN_A_FILE[text]


@pytest.mark.parametrize(
    ("text", "signature"),
    [
        ("client.alpha.explain_objectives(", "(*, account_id: str, cursor: JSON=None) -> "
         "Page[Objective]"),
        ("other.delta.remove_auto_search_themes(", "(*, account_id: str) -> Draft"),
    ],
)  # fmt: skip
def test_signature_help(text, signature) -> None:
    (found,) = jedi.Script(PROGRAM + text).get_signatures()
    assert found.to_string().endswith(signature)


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


@pytest.mark.parametrize("name", VALUES)
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
