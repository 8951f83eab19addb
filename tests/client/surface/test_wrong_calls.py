"""Mistakes in a call that Python or the client refuses: the error shows what to write instead."""

import json
import traceback
from collections import deque
from fractions import Fraction
from inspect import signature
from numbers import Real

import pytest
from cases import each_case
from clients import BASE_URL, Service, a_draft, a_page, each_client_class, method_of
from core_helpers import ARRAY, Array, Int64

import adclient
from adclient import AdClient, AsyncAdClient, InvalidRequest, RetryPolicy
from adclient.gate import SharedGate
from adclient.ledger import SQLiteLedger
from adclient.policy import Policy
from adclient.testing import FakeAdService, Fault, Profile

BUDGET = ["account_id", "campaign_id", "daily_budget"]


@each_case(
    ("name", "positional", "named", "right"),
    ("alpha.update_campaign_budget", ["account_1", "campaign_1", 120], {}, BUDGET),
    ("beta.pause_campaign", [], {"account": "a"}, ["account_id", "campaign_id"]),
    ("beta.list_campaigns", ["a"], {"daterange": 7}, ["account_id", "date_range"]),
    ("beta.list_campaigns", [], {}, ["account_id"]),
)
@each_client_class
def test_wrong_call_is_told_the_right_one(client_class, name, positional, named, right) -> None:
    method = method_of(client_class(BASE_URL), name)
    with pytest.raises(TypeError) as caught:
        method(*positional, **named)
    call = f"{name.partition('.')[2]}({', '.join(f'{each}=…' for each in right)})"
    assert str(caught.value).endswith(f"; pass arguments by keyword: {call}")
    assert "account_1" not in str(caught.value)
    [frame] = traceback.extract_tb(caught.value.__traceback__)
    assert frame.filename == __file__


FAKE = FakeAdService()
CLIENT = FAKE.client()
PAGE = CLIENT.gamma.list_ads(account_id="account_c3d8")
LEDGER = SQLiteLedger("/no/such/ledger.db")
WRITE = {"account_id": "a", "campaign_id": "c", "daily_budget": 1, "fields": {}}
READ = {"read": CLIENT.gamma.list_ads, "account_ids": ["a"]}
# The fake accepts any code, message and moment, and functions are called later.
ANY = {"code", "message", "taken", "location", "read"}


@each_case(
    ("function", "given"),
    *[(cls, {"base_url": BASE_URL}) for cls in (AdClient, AsyncAdClient)],
    *[(each, {}) for each in (CLIENT.with_options, Policy, RetryPolicy, Profile)],
    *[(each, {}) for each in (adclient.Conventions, FakeAdService, LEDGER.entries)],
    (SharedGate, {"ledger": LEDGER}),
    *[(CLIENT.alpha.update_campaign_budget, WRITE), (CLIENT.over_accounts, READ)],
    (CLIENT.delta.update_keyword, {"account_id": "a", "keywords": ["k"]}),
    (CLIENT.gamma.search_targeting, {"account_id": "a"}),
    *[(each, {}) for each in (PAGE.collect, PAGE.pages, PAGE.items)],
    *[(Fault.status, {"status": 500}), (Fault.redirect, {"location": "/"})],
    (FAKE.faults.at_random, {"fault": Fault.dropped(), "share": 1}),
)
def test_argument_is_not_compared_before_its_type_is_known(function, given) -> None:
    for name in signature(function).parameters.keys() - ANY:
        with pytest.raises((adclient.AdClientError, TypeError, ValueError), match=f"(?i){name}"):
            function(**{**given, name: ARRAY})


@Real.register
class Float32:
    """A number as numpy makes them: no float, with the digits that it shows."""

    def __str__(self) -> str:
        return "19.99"


def test_numbers_and_arrays_of_other_libraries_are_taken() -> None:
    service = Service(a_draft(), a_draft(), a_page("ab"))
    options = {"max_retries": Int64(1), "max_concurrency": Int64(1), "timeout": Float32()}
    client = AdClient(BASE_URL, transport=service.transport, **options)
    assert "timeout 19.99 s, max_retries 1" in repr(client)
    fields = {"count": Int64(2), "rows": Array(Array(1), deque([2])), "price": Float32()}
    client.delta.update_keyword(account_id="a", keywords=Array("x", "y"), fields=fields)
    client.alpha.update_campaign_budget(**{**WRITE, "daily_budget": Float32()})
    assert len(client.gamma.list_ads(account_id="a").collect(limit=Int64(1))) == 1
    keywords, budget = (json.loads(request.content) for request in service.requests[:2])
    assert keywords["fields"] == {"count": 2, "rows": [[1], [2]], "price": 19.99}
    assert (keywords["keywords"], budget["daily_budget"]) == (["x", "y"], 19.99)
    with pytest.raises(InvalidRequest, match="daily_budget must be a finite number"):
        client.alpha.update_campaign_budget(**{**WRITE, "daily_budget": Fraction(1, 3)})
    assert Policy(accounts=Array("a"), money={"x": Float32()}).accounts == ("a",)
