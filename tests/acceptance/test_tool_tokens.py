"""How many tokens the tools take of a model's context, by the vocabulary o200k."""

import json
import warnings

from adclient.agents import tools
from adclient.testing import FakeAdService

with warnings.catch_warnings():
    # It opens its files by a function that was deprecated until Python 3.13.
    warnings.simplefilter("ignore", DeprecationWarning)
    import bpe_openai

    TOKENS = bpe_openai.get_encoding("o200k_base")


def tokens_of(value: object) -> int:
    return len(TOKENS.encode(json.dumps(value, ensure_ascii=False)))


def test_tools_fit_their_tokens() -> None:
    client = FakeAdService().client()
    assert 300 < tokens_of(tools(client)) <= 700
    assert tokens_of(tools(client, writes=True)) <= 1650
