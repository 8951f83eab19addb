"""Help, completion and tracebacks in IPython, and completion in an editor with Jedi."""

import builtins
import inspect
import re

import ipython_shell
import jedi
import pytest

import adclient

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
    with ipython_shell.opened(tmp_path_factory.mktemp("ipython")) as shell:
        assert shell.run(BEGIN) == ""
        yield shell


# Help.


def test_help_of_a_method_has_its_signature_and_an_example(shell) -> None:
    output = shell.run("client.alpha.update_campaign_budget?")
    output = output.replace("Optional[ObjectLike]", "ObjectLike | None")  # of Python 3.11
    assert output.startswith("""\
Signature:
client.alpha.update_campaign_budget(
    *,
    account_id: str,
    campaign_id: str,
    daily_budget: int | float | decimal.Decimal | None = None,
    fields: ObjectLike | None = None,
) -> adclient.models.Draft
Docstring:
Stage a change to a campaign's daily budget.
""")
    assert ">>> draft = client.alpha.update_campaign_budget(\n" in output
    assert re.search(r"^File: .*alpha\.py$", output, re.MULTILINE)


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
        ("page.typed?", "(cls: type[~A]) -> adclient.Page[~A]"),
        ("page.to_pandas?", "(*, limit: int | None = None) -> pandas.DataFrame"),
    ],
)
def test_help_shows_the_signature_of_a_method(shell, question, signature) -> None:
    output = shell.run(question).partition("Docstring:")[0]
    assert signature in re.sub(r"\s+", " ", output.replace(",\n)", ")").replace("(\n    ", "("))


@pytest.mark.parametrize("name", ["AdClient", "AsyncAdClient", "Draft", "Page", "Items"])
def test_help_of_a_class_has_its_constructor_and_an_example(shell, name) -> None:
    output = shell.run(f"{name}?")
    assert output.startswith(f"Init signature:\n{name}(")
    assert ">>> " in output


def test_source_of_methods_and_values_is_shown(shell) -> None:
    assert "UPDATE_ALPHA_CAMPAIGN_BUDGET,\n" in shell.run("client.alpha.update_campaign_budget??")
    assert "self._engine = engine" in shell.run("AdClient._use??")
    assert "diff: Diff\n" in shell.run("Draft??")


@pytest.mark.parametrize("name", ["AdClient", "AsyncAdClient", "Page", "AsyncListing", "Items"])
def test_class_with_a_public_module_name_shows_no_wrong_source(shell, name) -> None:
    """Its `__module__` is the public name, and its source is not in the file of that module."""
    assert getattr(adclient, name).__module__ == "adclient"
    with pytest.raises(OSError, match=r"source|find"):
        inspect.getsource(getattr(adclient, name))
    assert shell.run(f"{name}??").rstrip() == shell.run(f"{name}?").rstrip()


# Completion.


CLIENT = "alpha beta delta from_service gamma over_accounts preview with_options"
ALPHA = "explain_objectives update_campaign_budget update_campaign_targeting update_creative"
PAGE = "collect data extra items next pages progress response"
TABLES = "to_arrow to_dict to_pandas to_polars to_records typed"
OFFERED = {
    text: sorted(names.split())
    for text, names in {
        "client.": f"close {CLIENT}",
        "other.": f"aclose {CLIENT}",
        "client.alpha.": ALPHA,
        "other.alpha.": ALPHA,
        "draft.": "diff draft_id extra requires response status to_dict",
        "draft.diff.": "after before change extra field percent to_dict",
        "page.": f"{PAGE} {TABLES}",
        "page.data[0].": "extra id name status to_dict",
    }.items()
}


@pytest.mark.parametrize("text", OFFERED)
def test_completion_offers_the_public_names(shell, text) -> None:
    assert shell.complete(text) == OFFERED[text]
    if "[" not in text:
        assert shell.complete(text, jedi=False) == OFFERED[text]


def test_completion_offers_argument_names(shell) -> None:
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
def test_completion_in_an_editor_offers_the_same(text) -> None:
    offered = [found.name for found in jedi.Script(PROGRAM + text).complete()]
    assert [name for name in offered if not name.startswith("_")] == IN_A_FILE[text]


def test_signature_help_in_an_editor_shows_the_types() -> None:
    (found,) = jedi.Script(f"{PROGRAM}client.alpha.explain_objectives(").get_signatures()
    signature = "(*, account_id: str, cursor: JSON=None) -> Page[Objective]"
    assert found.to_string().endswith(signature)


# Tracebacks.


@pytest.mark.parametrize("mode", ["Context", "Verbose"])
@pytest.mark.parametrize(
    ("cell", "method"),
    [
        ("client.beta.pause_campaign(account_id='a', campaign_id='c')", ["pause_campaign"]),
        ("await other.beta.pause_campaign(account_id='a', campaign_id='c')", ["pause_campaign"]),
        ("client.beta.list_campaigns(account_id='a')", ["list_campaigns"]),
        ("[ad async for ad in other.beta.list_campaigns(account_id='a')]", []),
    ],
)
def test_ipython_traceback_has_no_library_frames(shell, mode, cell, method) -> None:
    shell.run(f"%xmode {mode}")
    output = shell.run(cell)
    assert cell in output
    assert re.search(r"^(adclient\.errors\.)?NotFound: beta\.\w+: 404 ", output, re.MULTILINE)
    assert len(re.findall(r"return (?:await )?self\._engine\.", output)) == len(method)
    assert all(name in output for name in method)
    assert set(re.findall(r"\w+\.py\b", output)) == ({"beta.py"} if method else set())
