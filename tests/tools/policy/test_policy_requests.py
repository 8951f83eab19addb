"""What a client with a policy sends, whatever it is asked for."""

import enum
import json
import re
import unicodedata
from decimal import Decimal
from operator import attrgetter

import httpx
from clients import BASE_URL, a_draft, a_page
from hypothesis import given, strategies as st

from adclient import AdClient, AdClientError, Policy
from adclient._core.operations import OPERATIONS

IDS = {"account_id", "campaign_id", "creative_id", "ad_id"}


def accepting(policy: Policy) -> tuple[AdClient, list[httpx.Request]]:
    """A client of a service that accepts everything, and what it sends."""
    requests: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return a_page() if request.method == "GET" else a_draft()

    transport = httpx.MockTransport(respond)
    return AdClient(BASE_URL, transport=transport, policy=policy), requests


class Pairs(list):
    """The members of an object, also if a name comes twice."""


def members(value):
    """Yield each name and value inside a decoded body, however deep."""
    for element in value:
        inner = element[1] if isinstance(value, Pairs) else element
        if isinstance(value, Pairs):
            yield element
        if isinstance(inner, list):
            yield from members(inner)


def plain_parts(name: str) -> set[str]:
    """Return a name, and what it consists of if it is a path, without case and punctuation."""
    name = unicodedata.normalize("NFKC", name).strip(" \u200b").lower()
    return {part.replace("_", "") for part in [name, *re.split(r"__|[.-]", name)]}


def check(policy: Policy, request: httpx.Request) -> None:
    """Compare what was sent with a policy, without any code of the library."""
    if request.method == "GET":
        for name, value in request.url.params.multi_items():
            if policy.accounts is not None and name.lower().replace("_", "") == "accountid":
                assert value in policy.accounts
        return
    body = json.loads(request.content, parse_float=Decimal, object_pairs_hook=Pairs)
    account = dict(body)["account_id"]
    own = (policy.account or {}).get(account, Policy())
    fields = policy.fields if own.fields is None else own.fields
    amounts = {**(policy.money or {}), **(own.money or {})}
    limits = {key.replace("_", ""): most for key, most in amounts.items()}
    for name, value in members(body):
        if policy.account is not None and "accountid" in plain_parts(name):
            assert value == account
        if policy.accounts is not None and "accountid" in plain_parts(name):
            assert value in policy.accounts
        for part in plain_parts(name) & limits.keys():
            assert not isinstance(value, bool)
            assert isinstance(value, int | Decimal)
            assert 0 <= value <= limits[part]
    if fields is not None or policy.money is not None or own.money is not None:
        declared = {*(fields or ()), *amounts}
        keys = {name for name, _ in body} - IDS - {"fields"}
        keys |= {key for name, value in body if name == "fields" for key, _ in value}
        assert keys <= declared


# Any policy, any write.

NAMES = ["daily_budget", "bid", "name", "targeting", "keywords", "account_id", "campaign"]
ALIKE = ["Daily_Budget", "dailyBudget", "daily_budget ", "bid\u200b", "𝐛𝐢𝐝", "accountId", ""]
PATHS = ["limits__daily_budget", "bid.0", "limits-daily_budget", "filter__account_id"]
HOSTILE = [
    'account_1", "account_id": "account_2',
    "?account_id=account_2",
    "account_1\t",
    "\u202e\x1b[2J",
    "https://evil.example/?account_id=account_2",
]
TextKey = enum.Enum("TextKey", {name.upper(): name for name in NAMES}, type=str)

amounts = st.sampled_from([0, 1, 2.5, 100, Decimal("99.99")])
numbers = (
    amounts
    | st.integers(-10, 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False)
)
texts = st.sampled_from(["", "100", "account_1", "account_2", *HOSTILE])
values = numbers | texts | st.sampled_from([None, True, False])
keys = st.sampled_from([*NAMES, *ALIKE, *PATHS, *TextKey])
nested = st.recursive(
    values,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(keys, nested, max_size=3)
likely = st.dictionaries(st.sampled_from(["daily_budget", "bid", "name"]), amounts, max_size=2)


def chosen(values):
    return st.none() | st.lists(st.sampled_from(values), unique=True)


rules = {
    "operations": st.none() | st.just(["*"]) | chosen(["alpha.*", "*.create_*", "beta.*"]),
    "fields": chosen([*NAMES, *PATHS]),
    "money": st.none() | st.dictionaries(st.sampled_from(["daily_budget", "bid"]), amounts),
}
pinned = chosen(["account_1", "account_2"])
policies = st.builds(Policy, accounts=pinned, **rules) | st.builds(
    Policy,
    accounts=st.none() | st.just(["account_1", "account_2"]),
    account=st.dictionaries(
        st.sampled_from(["account_1", "account_2"]), st.builds(Policy, **rules), min_size=1
    ),
    **rules,
)
ARGUMENTS = {
    "account_id": st.just("account_1") | texts,
    "campaign_id": st.just("campaign_1") | texts,
    "creative_id": st.none() | texts,
    "ad_id": st.none() | texts,
    "date_range": st.none() | texts,
    "targeting": st.none() | objects,
    "fields": likely | objects,
    "daily_budget": st.none() | numbers,
    "keywords": st.lists(texts, max_size=2),
    "cursor": st.none() | texts,
}


@given(operation=st.sampled_from(OPERATIONS), policy=policies, data=st.data())
def test_no_request_breaks_the_policy(operation, policy, data) -> None:
    client, requests = accepting(policy)
    names = [parameter.name for parameter in operation.parameters]
    names += [] if operation.is_write else ["cursor"]
    arguments = {name: data.draw(ARGUMENTS[name], name) for name in names}
    try:
        attrgetter(operation.full_name)(client)(**arguments)
    except AdClientError:
        assert requests == []
    else:
        [request] = requests
        assert request.url.host == "ads.example.com"
        check(policy, request)
