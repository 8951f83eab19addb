"""How many tokens the tools take of a model's context, by the vocabulary o200k."""

import json
import warnings

import pytest

from adclient import call_tool, tools
from adclient.testing import FakeAdService

with warnings.catch_warnings():
    # It opens its files by a function that was deprecated until Python 3.13.
    warnings.simplefilter("ignore", DeprecationWarning)
    import bpe_openai

    TOKENS = bpe_openai.get_encoding("o200k_base")


def test_vocabulary_is_the_one_that_is_meant() -> None:
    assert TOKENS.encode("hello world") == [24912, 2375]


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")], ids=["compact", "spaced"])
@pytest.mark.parametrize(("writes", "most"), [(True, 1700), (False, 700)])
def test_tools_fit_their_tokens(separators, writes, most) -> None:
    text = json.dumps(tools(FakeAdService().client(), writes=writes), separators=separators)
    assert len(TOKENS.encode(text)) <= most


def test_page_of_a_listing_is_small() -> None:
    result = call_tool(FakeAdService().client(), "gamma_list_ads", {"account_id": "account_c3d8"})
    assert len(TOKENS.encode(json.dumps(result, ensure_ascii=False))) <= 2500
