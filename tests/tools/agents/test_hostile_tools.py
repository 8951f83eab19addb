"""Hostile texts, as data and as arguments: none leaves its fence, and no call its limits."""

import base64
import json
import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from urllib.parse import parse_qsl

import httpx
from hostile_texts import HOSTILE
from hypothesis import given, strategies as st

from adclient import AdClient, Policy, SQLiteLedger, call_tool, tools
from adclient._core.operations import OPERATIONS

PINNED, CAP = "account_pinned", 100
PATHS = {operation.path for operation in OPERATIONS}
NAMES = [operation.full_name.replace(".", "_") for operation in OPERATIONS]
PARAMETERS = {o.full_name.replace(".", "_"): o.parameters for o in OPERATIONS}
SUMMARIES = re.compile(
    r"\d+ items?; (there are no more|for more, call again with `next` as `cursor`"
    r"|there are more, but their cursor is too long to pass on)\."
    r"|Drafts: \d+; shown: \d+, the newest last\. One that is `admitted` or `unknown` may not "
    r"exist: ask a human\."
    r"|Staged, waiting for approval\. Nothing has changed; a human decides\."
    r"|Staged, with a status that is not known: ask a human to look\."
    r"|A draft may have been staged: do not call again, and ask a human to look in the approval "
    r"dashboard\."
    r"|Nothing was sent: stay within the policy, or ask a human\."
    r"|Nothing was sent: correct the arguments, and call again\."
    r"|Nothing was staged: check the arguments, or ask a human\."
)
KEYS = {"summary", "untrusted", "next", "error", "outcome_unknown", "retry_after"}
HIDDEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)


def texts_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from texts_in([*value, *value.values()])
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)
    elif isinstance(value, str):
        yield value


def assert_fenced(result: dict[str, object]) -> None:
    assert result.keys() <= KEYS
    assert SUMMARIES.fullmatch(result["summary"])
    assert re.fullmatch(r"[A-Za-z]*", result.get("error", ""))
    assert re.fullmatch(r"[A-Za-z0-9_=-]{0,2048}", result.get("next", ""))
    for text in texts_in(result["untrusted"]):
        assert len(text) <= 300
        assert not HIDDEN.search(text)
        assert not {unicodedata.category(char) for char in text} & {"Cc", "Cf", "Cs", "Co", "Cn"}
    line = json.dumps(result, ensure_ascii=False)
    assert len(line.splitlines()) == 1
    assert len(line) < 60_000
    assert json.loads(line) == result


class Attacked:
    """A service that returns hostile texts, and checks that every request keeps to the limits."""

    def __init__(self) -> None:
        self.count = 0
        self.texts = ["x"]
        self.status: int | None = None
        self.client = AdClient(
            "https://ads.example.com",
            transport=httpx.MockTransport(self.respond),
            policy=Policy(
                accounts=[PINNED],
                money={"daily_budget": CAP},
                fields=["name", "bid", "keywords", "targeting"],
            ),
            max_retries=0,
        )

    def respond(self, request: httpx.Request) -> httpx.Response:
        self.count += 1
        assert request.url.host == "ads.example.com"
        assert request.url.path in PATHS
        pairs = parse_qsl(request.url.query.decode(), keep_blank_values=True)
        if request.method != "GET":
            assert not pairs
            pairs = json.loads(request.content, object_pairs_hook=list)
            assert_within_limits(json.loads(request.content, parse_float=Decimal))
        assert [value for name, value in pairs if name == "account_id"] == [PINNED]
        text = self.texts[0]
        if self.status is not None:
            body: object = {"error": {"code": text, "message": text, "details": {text: text}}}
        elif request.method == "GET":
            items = [{"id": t, "name": t, "status": t, t: t, "x": {t: [t]}} for t in self.texts]
            body = {"data": items, "page": {"next": text}}
        else:
            diff = {"field": text, "before": {"a": text, text: 1}, "after": {"a": [text], text: 2}}
            body = {"draft_id": text, "status": text, "diff": diff, "requires": text}
        status = self.status or (200 if request.method == "GET" else 201)
        return httpx.Response(status, content=json.dumps(body))

    def call(self, name: str, arguments: object) -> dict[str, object]:
        result = call_tool(self.client, name, arguments, writes=True)
        assert_fenced(result)
        return result


def assert_within_limits(value: object) -> None:
    if isinstance(value, dict):
        assert value.get("account_id", PINNED) == PINNED
        amount = value.get("daily_budget", 0)
        assert not isinstance(amount, bool)
        assert 0 <= amount <= CAP
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            assert_within_limits(inner)


def test_hostile_texts_in_results_stay_in_their_fence() -> None:
    attacked = Attacked()
    for place, text in enumerate(HOSTILE):
        attacked.texts = [text or "x"] * 21
        attacked.status = (None, 404, 422)[place % 3]
        result = attacked.call("delta_remove_auto_search_themes", {})
        assert ("error" in result) is (attacked.status is not None)
        attacked.status = None
        first = attacked.call("beta_list_campaigns", {})
        assert len(first["untrusted"]["items"]) == 20
        attacked.call("beta_list_campaigns", {"cursor": first["next"]})


def test_hostile_texts_in_a_ledger_stay_in_their_fence(tmp_path) -> None:
    attacked = Attacked()
    attacked.client = AdClient(
        "https://ads.example.com",
        transport=httpx.MockTransport(attacked.respond),
        policy=Policy(accounts=[PINNED]),
        ledger=SQLiteLedger(tmp_path / "drafts.db"),
    )
    # One in seven: each write is on the disk before it is sent, which takes its time.
    for text in HOSTILE[::7]:
        attacked.texts = [text or "x"]
        attacked.call("gamma_create_dco_ad", {"fields": {text: text}})
        shown = attacked.call("list_staged_drafts", {})["untrusted"]["drafts"]
    assert len(shown) == 20


KEYS_OF_ANY = st.sampled_from(
    ["account_id", "campaign_id", "daily_budget", "fields", "targeting", "name", "bid", "cursor"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(HOSTILE) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS_OF_ANY, inner, max_size=4),
    max_leaves=8,
)


@given(st.sampled_from(NAMES), VALUES, st.sampled_from(HOSTILE) | st.text(), st.data())
def test_any_arguments_stay_within_the_policy(name, arguments, text, data) -> None:
    attacked = Attacked()
    attacked.texts = [text or "x"]
    attacked.call(name, arguments)
    attacked.call(name, {each.name: data.draw(VALUES) for each in PARAMETERS[name][1:]})
    forged = base64.urlsafe_b64encode(json.dumps([text, 0]).encode()).decode()
    attacked.call("gamma_list_ads", {"cursor": forged, "columns": [text]})
    assert "error" in attacked.call("gamma_list_ads", {"cursor": text, text: text})
    assert "error" in attacked.call(text, {}) or text in NAMES


def test_every_tool_can_be_called_within_the_policy() -> None:
    """Otherwise the tests above could pass without a request."""
    attacked = Attacked()
    values = {"id": "x", "text": "x", "number": 100, "texts": ["x"], "object": {"bid": 1}}
    for tool in tools(attacked.client, writes=True):
        given = {each.name: values[each.type] for each in PARAMETERS[tool["name"]]}
        result = attacked.call(tool["name"], given | {"account_id": PINNED})
        assert "error" not in result
    assert attacked.count == len(NAMES)
