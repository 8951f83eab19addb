"""How many tokens the tools take of a model's context, by the vocabulary o200k."""

import json
import random
import warnings

import pytest

from adclient import AdClient, Policy, SQLiteLedger, call_tool, tools
from adclient.testing import FakeAdService

with warnings.catch_warnings():
    # It opens its files by a function that was deprecated until Python 3.13.
    warnings.simplefilter("ignore", DeprecationWarning)
    import bpe_openai

    TOKENS = bpe_openai.get_encoding("o200k_base")


def test_vocabulary_is_the_one_that_is_meant() -> None:
    assert TOKENS.encode("hello world") == [24912, 2375]


def tokens_of(client: AdClient, separators: tuple[str, str], *, writes: bool) -> int:
    return len(TOKENS.encode(json.dumps(tools(client, writes=writes), separators=separators)))


SEPARATORS = pytest.mark.parametrize(
    "separators", [(",", ":"), (", ", ": ")], ids=["compact", "spaced"]
)


@SEPARATORS
@pytest.mark.parametrize(("writes", "most"), [(True, 1650), (False, 700)])
def test_tools_fit_their_tokens(separators, writes, most) -> None:
    assert tokens_of(FakeAdService().client(), separators, writes=writes) <= most


@SEPARATORS
def test_tools_for_forty_accounts_fit_their_tokens(separators, tmp_path) -> None:
    """With limits of money, and the tool that lists the drafts of a ledger."""
    accounts = [f"account_{random.Random(seed).randrange(16**4):04x}" for seed in range(40)]
    client = FakeAdService().client(
        policy=Policy(accounts=accounts, money={"daily_budget": 150}),
        ledger=SQLiteLedger(tmp_path / "drafts.db"),
    )
    assert tokens_of(client, separators, writes=True) <= 2200


def test_list_of_staged_drafts_is_small(tmp_path) -> None:
    client = FakeAdService().client(ledger=SQLiteLedger(tmp_path / "drafts.db"))
    given = {"account_id": "account_a91f", "campaign_id": "campaign_4c10", "daily_budget": 120}
    for _ in range(21):
        call_tool(client, "alpha_update_campaign_budget", given, writes=True)
    result = call_tool(client, "list_staged_drafts", {}, writes=True)
    assert len(result["untrusted"]["drafts"]) == 20
    assert len(TOKENS.encode(json.dumps(result, ensure_ascii=False))) <= 2500


def test_page_of_a_listing_is_small() -> None:
    result = call_tool(FakeAdService().client(), "gamma_list_ads", {"account_id": "account_c3d8"})
    assert len(TOKENS.encode(json.dumps(result, ensure_ascii=False))) <= 2500
