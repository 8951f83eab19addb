"""Options, the record of requests, base URLs, live changes, and what is public."""

import inspect
import subprocess
import sys
from datetime import timedelta

import pytest
from cases import each_case
from fake_helpers import CLIENT_KINDS, approve, call, send

from adclient import AdClient, NotFound, Request, Unauthenticated, testing
from adclient.testing import FakeAdService, Fault, Profile


@pytest.fixture
def fake():
    return FakeAdService()


def test_public_names_are_exact_and_sorted():
    public = {name for name, value in vars(testing).items() if inspect.isclass(value)}
    assert testing.__all__ == sorted(public)


def test_reprs_are_short(fake):
    draft = call(fake, "sync")
    fake.faults.add(Fault.refused())
    fake.clock.advance(90)
    assert repr(fake) == "<FakeAdService seed='halden', 1 requests, 1 drafts>"
    assert repr(fake.faults) == "<Faults, 1 to come>"
    assert repr(fake.clock) == "<FakeClock 2026-03-02 09:01:30 UTC>"
    assert repr(fake.dashboard) == "<Dashboard, 1 waiting>"
    assert repr(fake.drafts[0]) == (
        f"<FakeDraft {draft.draft_id}, beta.pause_campaign, "
        "<Diff status: ENABLED → PAUSED>, pending_approval>"
    )


def test_fake_needs_no_sockets():
    """As in Pyodide, which has neither IPv6 nor threads."""
    code = """
import socket
import threading

def refuse(*_):
    raise OSError

socket.inet_pton = socket.socket.__init__ = refuse
threading.Thread.start = refuse
from adclient.testing import FakeAdService
fake = FakeAdService()
with fake.client() as client:
    client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
print(fake.drafts[0].diff.after)
"""
    assert subprocess.check_output([sys.executable, "-c", code], encoding="utf-8") == "PAUSED\n"


@each_case(
    ("name", "values", "message"),
    [
        ("page_size", [0, True, "3", 1.5], "page_size must be a whole number, 1 or more"),
        ("history", [0, "3"], "history must be a whole number, 1 or more"),
        ("token", ["", "a b", "ü", 5], "token"),
        ("profile", ["x"], "profile must be a Profile, not str"),
        ("conventions", ["x"], "conventions must be a Conventions, not str"),
        ("seed", [5], "seed must be a str, not int"),
    ],
)
def test_invalid_options_are_refused(name, values, message):
    for value in values:
        with pytest.raises(ValueError, match=message):
            FakeAdService(**{name: value})


@CLIENT_KINDS
def test_clients_take_other_settings_than_those_of_the_fake(client_kind):
    fake = FakeAdService(token="right")
    assert call(fake, client_kind)
    with pytest.raises(Unauthenticated):
        call(fake, client_kind, token="wrong")
    path = f"{fake.base_url}/other"
    with pytest.raises(NotFound):
        call(fake, client_kind, base_url=path)


def test_requests_are_recorded(fake):
    call(fake, "sync")
    fake.client().beta.list_campaigns(account_id="account_b204")
    write, reading = fake.requests
    assert (write.method, write.path) == ("POST", "/v1/beta-ads/pause-beta-campaign")
    assert write.json == {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
    assert write.body.startswith(b'{"account_id"')
    assert (write.operation, write.status) == ("beta.pause_campaign", 201)
    assert reading.query == {"account_id": "account_b204"}
    assert (reading.body, reading.json, reading.account_id) == (b"", None, "account_b204")


@CLIENT_KINDS
@pytest.mark.parametrize("continuation", ["text", "url", "absolute_url"])
def test_base_url_can_have_a_path(client_kind, continuation):
    fake = FakeAdService(profile=Profile(continuation=continuation))
    whole = call(fake, client_kind, "gamma.list_ads")
    fake.base_url += "/ads/v1/eu"
    assert call(fake, client_kind, "gamma.list_ads") == whole
    assert fake.requests[-1].path == "/ads/v1/eu/v1/gamma-ads/list-gamma-ads"
    assert fake.requests[-1].operation == "gamma.list_ads"


def test_a_base_url_with_a_path_leads_to_the_sixteen_operations_only(fake):
    client_url = f"{fake.base_url}/prefix"
    client = AdClient(client_url, transport=fake.transport)
    for path in ("", "/other", "/prefix/more"):
        fake.base_url = f"https://fake.adclient.test{path}"
        with pytest.raises(NotFound, match=r"/prefix/v1/beta-ads/pause-beta-\w+, "):
            client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
        assert (fake.drafts, fake.requests[-1].operation) == ((), None)
    fake.base_url = client_url
    host = "https://fake.adclient.test"
    path = "/v1/beta-ads/pause-beta-campaign"
    for url in (f"{host}{path}", f"{client_url}{path}/v1/confirm"):
        assert fake.handle(Request(method="POST", url=url)).status == 404


def test_history_keeps_only_the_latest():
    fake = FakeAdService(history=3)
    body = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
    drafts = [send(fake, "beta.pause_campaign", body)[1]["draft_id"] for _ in range(6)]
    for each in drafts[:5]:
        fake.dashboard.reject(each, reviewer="Ines")
    assert len(fake.requests) == 3
    assert [kept.status for kept in fake.drafts] == ["rejected"] * 3 + ["pending_approval"]
    assert [event.seq for event in fake.dashboard.events] == [9, 10, 11]
    assert repr(fake).endswith("6 requests, 6 drafts>")


def test_spend_follows_the_live_status(fake):
    def spent(account_id, read, item_id, date_range):
        return next(
            item.extra["spend"]
            for item in read(account_id=account_id, date_range=date_range)
            if item.id == item_id
        )

    client = fake.client()
    campaign = ("account_b204", client.beta.list_campaigns, "campaign_57a7")
    approve(fake, call(fake, "sync"))
    today = spent(*campaign, "TODAY")
    fake.clock.advance(timedelta(days=1))
    assert (spent(*campaign, "YESTERDAY"), spent(*campaign, "TODAY")) == (today, 0)
    ads = client.gamma.list_ads(account_id="account_c95a")
    rejected = next(ad.id for ad in ads if ad.extra["serving"] == "REJECTED")
    ad = ("account_c95a", client.gamma.list_ads, rejected)
    for status in ("PAUSED", "ENABLED"):
        fake.change_live("account_c95a", rejected, status=status)
        fake.clock.advance(timedelta(days=8))
        assert spent(*ad, "LAST_7_DAYS") == 0
    fake.change_live("account_c95a", rejected, serving="SERVING")
    fake.clock.advance(timedelta(days=8))
    assert spent(*ad, "LAST_7_DAYS") > 0
