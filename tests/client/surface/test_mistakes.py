"""Mistakes in code that uses the library: each error shows what to write instead."""

import json
import re
import ssl
import traceback
from collections import deque
from datetime import date
from fractions import Fraction
from inspect import signature
from numbers import Real
from unittest.mock import patch

import httpx
import pytest
from cases import each_case
from clients import AT_ONCE, BASE_URL, Service, a_draft, a_page, each_client_class, method_of
from core_helpers import ARRAY, Array, Int64
from raw_server import Connection, RawServer, reply

import adclient
from adclient import AdClient, AsyncAdClient, InvalidRequest, RetryPolicy, TransportError
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


def refuse_certificate(_: object) -> None:
    error = ssl.SSLCertVerificationError(1, "CA cert does not include key usage extension")
    error.verify_code = 92  # of a rule that Python checks since 3.13
    raise error


def over(respond) -> AdClient:
    return AdClient("https://a.test", transport=httpx.MockTransport(respond))


a, fake, client, async_client = "account_b204", FAKE, CLIENT, FAKE.async_client()
listing, update = client.beta.list_campaigns, client.delta.update_keyword
campaign, at = listing(account_id=a).data[0], {"start": date.today()}
draft = client.beta.pause_campaign(account_id=a, campaign_id="campaign_57a7")
web = over(lambda _: httpx.Response(200, text="\n<!DOCTYPE html><p>Sign in"))
old_root = over(refuse_certificate)
no_plan = patch.dict("sys.modules", {"adclient.plan": None})
WEB_PAGE = adclient.UnexpectedResponse
IN_TESTING = "'FakeAdService'; use `from adclient.testing import FakeAdService`"


@each_case(
    ("code", "error", "words"),
    ("client.alpha.pause_campaign", AttributeError, "; use client.beta.pause_campaign"),
    ("client.list_beta_campaigns", AttributeError, "; use client.beta.list_campaigns"),
    ("client.gamma.send", AttributeError, "Gamma has no attribute 'send'"),
    ("async_client.beta.approve_draft", AttributeError, "; only a human approves or rejects"),
    ("with async_client: pass", TypeError, "or `async with AsyncAdClient(…)`"),
    ("client.__aenter__()", TypeError, "use `with AdClient(…)`, or `async"),
    ("draft.approve()", AttributeError, "; only a human approves or rejects drafts, in the"),
    ("draft.id", AttributeError, "Draft has no attribute 'id'; use draft_id"),
    ("draft.status = 1", AttributeError, "a Draft is a record and cannot be changed; stage"),
    ("campaign.spend", AttributeError, "the service sent it: use extra['spend'], or page."),
    ("campaign.spent", AttributeError, "has no attribute 'spent', and the service sent no"),
    ("campaign._spend", AttributeError, "has no attribute '_spend'"),
    ("campaign['name']", TypeError, "Campaign has no index: use attributes, such as .name"),
    ("[*campaign]", TypeError, "'Campaign' object is not iterable"),
    ("import adclient; adclient.FakeAdService", AttributeError, IN_TESTING),
    ("from adclient import SQLiteLedger", ImportError, "`from adclient.ledger import SQLite"),
    ("from adclient import AdCleint", ImportError, "cannot import name 'AdCleint' from 'adcl"),
    ("with no_plan: import adclient; adclient.X", AttributeError, "no attribute 'X'"),
    ("AdClient('https://a.test', 's3cret')", TypeError, ": AdClient(base_url=…, token=…)"),
    ("AdClient(url='https://a.test')", TypeError, "by keyword: AdClient(base_url=…)"),
    ("type(async_client)(api_key='s3cret')", TypeError, "by keyword: AsyncAdClient(token=…)"),
    ("AdClient('http://[::1]', token='token\\ns3cret')", ValueError, "has a line break"),
    ("AdClient('https://a.test/v1/beta-ads')", ValueError, "must not end in /v1"),
    ("AdClient('https://a.test', transport=fake)", TypeError, "; pass its transport"),
    ("listing(account_id=a, limit=5)", TypeError, "with collect(limit=…)"),
    ("listing(account_id=a, date_range=date.today())", ValueError, "such as LAST_30_DAYS, got"),
    ("update(account_id=a, keywords=[], fields=at)", ValueError, "got date; pass its iso"),
    ("listing(account_id=a, campaign_id=draft)", ValueError, "got a Draft, which is only"),
    ("listing(account_id=a, campaign_id=campaign)", ValueError, "got Campaign: pass an id"),
    ("async_client.over_accounts(fake, [a])", ValueError, "read must be a method, as in over_"),
    ("client.over_accounts([a], listing)", ValueError, "_campaigns, ids), not list"),
    ("web.gamma.list_ads(account_id=a)", WEB_PAGE, "web page instead of JSON; check"),
    ("old_root.gamma.list_ads(account_id=a)", TransportError, "VERIFY_X509_STRICT"),
)
def test_mistake_is_explained(code, error, words) -> None:
    with pytest.raises(error, match=re.escape(words)) as caught:
        exec(code, dict(globals()))
    assert "s3cret" not in str(caught.value)


def test_https_to_a_port_of_http_and_the_reverse_is_explained() -> None:
    with RawServer(lambda c: (c.receive(), c.send(reply(400, b"")))) as plain:
        https = plain.url.replace("http:", "https:")
        with RawServer(Connection.start_tls) as tls:
            for url, proxy, attempts, words in (
                (https, None, 1, "begin base_url with http:"),
                ("https://localhost:1", https, 1, "begin the URL of the proxy with http:"),
                (tls.url, None, 2, "begin base_url with https:"),
            ):
                with AdClient(url, proxy=proxy, retry=AT_ONCE, max_retries=1) as client:
                    with pytest.raises(ConnectionError, match=words) as caught:
                        client.gamma.list_ads(account_id="a")
                    assert caught.value.attempts == attempts
