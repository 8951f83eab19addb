"""Common mistakes in code that uses the library: each error says what to write instead."""

import re
import ssl
from datetime import date
from unittest.mock import patch

import httpx
import pytest
from cases import each_case
from clients import AT_ONCE
from raw_server import Connection, RawServer, reply

from adclient import AdClient, TransportError, UnexpectedResponse
from adclient.testing import FakeAdService


def refuse_certificate(_: object) -> None:
    error = ssl.SSLCertVerificationError(1, "CA cert does not include key usage extension")
    error.verify_code = 92  # of a rule that Python checks since 3.13
    raise error


def over(respond) -> AdClient:
    return AdClient("https://a.test", transport=httpx.MockTransport(respond))


a = "account_b204"
fake = FakeAdService()
client, async_client = fake.client(), fake.async_client()
listing, update = client.beta.list_campaigns, client.delta.update_keyword
campaign, at = listing(account_id=a).data[0], {"start": date.today()}
draft = client.beta.pause_campaign(account_id=a, campaign_id="campaign_57a7")
web = over(lambda _: httpx.Response(200, text="\n<!DOCTYPE html><p>Sign in"))
old_root = over(refuse_certificate)
no_plan = patch.dict("sys.modules", {"adclient.plan": None})
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
    ("web.gamma.list_ads(account_id=a)", UnexpectedResponse, "web page instead of JSON; check"),
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
