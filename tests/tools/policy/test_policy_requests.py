"""What a client with a policy sends, whatever it is asked for."""

import enum
from decimal import Decimal
from operator import attrgetter

import httpx
import pytest
from clients import BASE_URL, a_draft, a_page
from hypothesis import given, strategies as st
from policy_oracle import check

from adclient import AdClient, AdClientError, PaginationError, PolicyRefused
from adclient._core.operations import OPERATIONS
from adclient.policy import Policy


def accepting(policy: Policy) -> tuple[AdClient, list[httpx.Request]]:
    """A client of a service that accepts everything, and what it sends."""
    requests: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return a_page() if request.method == "GET" else a_draft()

    transport = httpx.MockTransport(respond)
    return AdClient(BASE_URL, transport=transport, policy=policy), requests


# Any policy, any write.

NAMES = ["daily_budget", "bid", "name", "targeting", "keywords", "account_id", "campaign"]
OTHERS = ["dailyBudget", "bid\u200b", "𝐛𝐢𝐝", "n\u0430me", "bid%5F", "name.bid", "", "*", "fields"]
MONEY, BOTH = ["daily_budget", "bid", "name.bid", "campaign.bid"], ["account_1", "account_2"]
PATHS = ["name.bid", "targeting.*", "campaign.name", "targeting.bid", "campaign.bid.*"]
NAMES_IN_URLS = ["account%5Fid[]", "x=1;account_id", "+x.account_id", "Account.Id", "account_id%00"]
CURSORS = [
    *(f"?{name}=account_2" for name in (*NAMES_IN_URLS, "targeting%5Ba%5D[account_id]")),
    *(f'?x={{"n":{n},"account_id":"account_2"}}' for n in ("9" * 5000, "[" * 9000 + "]" * 9000)),
    r'{"a":[{"\u0061ccount_id":"account_2","\u0061ccount_id":"account_1"}]}',
]
HOSTILE = [
    *CURSORS,
    'account_1", "account_id": "account_2',
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
texts = st.sampled_from(["", "100", "1e1", "account_1", "account_2", *HOSTILE])
values = numbers | texts | st.sampled_from([None, True, False])
keys = st.sampled_from([*NAMES, *OTHERS, *TextKey])
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
    "money": st.none() | st.dictionaries(st.sampled_from(MONEY), amounts),
}
own_rules = st.dictionaries(st.sampled_from(BOTH), st.builds(Policy, **rules), min_size=1)
pinned = {"accounts": st.none() | st.just(BOTH), "account": own_rules}
policies = st.builds(Policy, accounts=chosen(BOTH), **rules) | st.builds(Policy, **pinned, **rules)
ARGUMENTS = {
    **dict.fromkeys(("creative_id", "ad_id", "date_range", "cursor"), st.none() | texts),
    **{name: st.just(f"{name[:-3]}_1") | texts for name in ("account_id", "campaign_id")},
    "targeting": st.none() | objects,
    "fields": likely | objects,
    "daily_budget": st.none() | numbers,
    "keywords": st.lists(texts, max_size=2),
}


def test_continuation_that_names_another_account_is_refused() -> None:
    client, requests = accepting(Policy(accounts=["account_1"]))
    for cursor in [*CURSORS, {"x[account_id]": "account_2"}, {"href": "?account_id=account_1;2"}]:
        with pytest.raises((PolicyRefused, PaginationError)):
            client.gamma.search_targeting(account_id="account_1", cursor=cursor)
    assert requests == []


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
