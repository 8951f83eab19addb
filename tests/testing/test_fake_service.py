"""The clock, the record of requests, and what else is around the answers."""

import itertools
import subprocess
import sys
from datetime import timedelta

import pytest
from fake_helpers import CLIENT_KINDS, call, send, stage

from adclient import AdClient, Conventions, NotFound, Request
from adclient.testing import FakeAdService, Profile


@pytest.fixture
def fake():
    return FakeAdService()


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


def test_clock_cannot_go_back(fake):
    start = fake.clock.now()
    assert start.isoformat() == "2026-03-02T09:00:00+00:00"
    fake.clock.advance(1.5)
    fake.clock.advance(timedelta(days=1))
    assert fake.clock.now() - start == timedelta(days=1, seconds=1.5)
    for step in (-1, timedelta(seconds=-1)):
        with pytest.raises(ValueError, match="forward"):
            fake.clock.advance(step)


@pytest.mark.parametrize("name", ["page_size", "history"])
def test_sizes_are_at_least_one(name):
    with pytest.raises(ValueError, match=name):
        FakeAdService(**{name: 0})


def test_a_token_is_not_empty():
    with pytest.raises(ValueError, match="token is empty"):
        FakeAdService(token="")


@pytest.mark.parametrize("token", ["a b", "ü", 5])
def test_a_token_is_one_that_a_client_can_send(token):
    with pytest.raises(ValueError, match="token"):
        FakeAdService(token=token)


def test_arguments_of_the_wrong_type_are_refused(fake):
    for name in ("profile", "conventions"):
        with pytest.raises(ValueError, match=f"{name} must be a .*, not str"):
            FakeAdService(**{name: "x"})
    for name in ("page_size", "history"):
        for value in (True, "3", 1.5):
            with pytest.raises(ValueError, match=f"{name} must be a whole number"):
                FakeAdService(**{name: value})
    for add in (fake.faults.add, lambda fault: fake.faults.at_random(fault, share=0.5)):
        with pytest.raises(TypeError, match=r"Fault\.refused\(\), not 'refused'"):
            add("refused")


def test_repr_counts_requests_and_drafts(fake):
    assert repr(fake) == "<FakeAdService seed='halden', 0 requests, 0 drafts>"
    call(fake, "sync")
    assert repr(fake) == "<FakeAdService seed='halden', 1 requests, 1 drafts>"


def test_requests_are_recorded(fake):
    call(fake, "sync")
    fake.client().beta.list_campaigns(account_id="account_b204")
    write, reading = fake.requests
    assert (write.method, write.path) == ("POST", "/v1/beta-ads/pause-beta-campaign")
    assert write.json == {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
    assert write.body.startswith(b'{"account_id"')
    assert (write.operation, write.account_id, write.status) == (
        "beta.pause_campaign",
        "account_b204",
        201,
    )
    assert reading.query == {"account_id": "account_b204"}
    assert (reading.body, reading.json, reading.operation) == (b"", None, "beta.list_campaigns")


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
        with pytest.raises(NotFound, match=r"/prefix/v1/beta-ads/pause-beta-\w+, ") as caught:
            client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
        assert caught.value.url == client_url + "/v1/beta-ads/pause-beta-campaign"
        assert (fake.drafts, fake.requests[-1].operation) == ((), None)
    fake.base_url = client_url
    draft = client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
    assert draft.draft_id == fake.drafts[0].draft_id
    path = "/v1/beta-ads/pause-beta-campaign/v1/confirm"
    assert fake.handle(Request(method="POST", url=fake.base_url + path)).status == 404


def test_history_keeps_only_the_latest():
    fake = FakeAdService(history=3)
    for _ in range(5):
        draft = call(fake, "sync")
        fake.dashboard.reject(draft.draft_id, reviewer="Ines")
    call(fake, "sync")
    assert len(fake.requests) == 3
    assert [kept.status for kept in fake.drafts] == ["rejected"] * 3 + ["pending_approval"]
    assert [event.seq for event in fake.dashboard.events] == [9, 10, 11]
    assert repr(fake).endswith("6 requests, 6 drafts>")


def calls_made_by(work):
    """How many functions are called: a cost that is the same on every machine."""
    made = 0

    def count(_frame, event, _argument):
        nonlocal made
        made += event == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return made


@pytest.mark.no_cover
@pytest.mark.parametrize("fate", ["open", "reject", "arm", "apply"])
def test_cost_of_a_draft_does_not_grow_with_their_number(fate):
    fake = FakeAdService(history=50)
    client = fake.client()
    budgets = itertools.count(101)

    def stage():
        draft = client.alpha.update_campaign_budget(
            account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=next(budgets)
        )
        if fate == "reject":
            fake.dashboard.reject(draft.draft_id, reviewer="Ines")
        elif fate != "open":
            fake.dashboard.arm(draft.draft_id, reviewer="Ines")
        if fate == "apply":
            fake.dashboard.confirm(draft.draft_id, reviewer="Ines")

    stage()
    first = calls_made_by(stage)
    for _ in range(200):
        stage()
    assert calls_made_by(stage) <= first + 20
    assert len(fake.requests) == 50


def test_idempotency_keys_are_kept_for_the_history():
    keyed = Conventions(idempotency_header="Idempotency-Key")
    fake = FakeAdService(history=2, conventions=keyed)
    body = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}

    def draft_id(key):
        _, draft = send(fake, "beta.pause_campaign", body, headers={"idempotency-key": key})
        return draft["draft_id"]

    first, second = draft_id("1"), draft_id("2")
    assert (draft_id("1"), draft_id("2")) == (first, second)
    third = draft_id("3")
    assert (draft_id("2"), draft_id("3")) == (second, third)
    assert draft_id("1") != first


def test_change_live_bypasses_drafts(fake):
    fake.change_live("account_b204", "campaign_57a7", name="Renamed")
    page = fake.client().beta.list_campaigns(account_id="account_b204")
    assert page.data[0].name == "Renamed"


@pytest.mark.parametrize("value", [float("nan"), object(), {"a": {1, 2}}, "\ud800"])
def test_change_live_accepts_only_json(value):
    fake = FakeAdService()
    with pytest.raises(ValueError, match="odd"):
        fake.change_live("account_b204", "campaign_57a7", odd=value)


def test_change_live_copies_its_values():
    fake, groups = FakeAdService(), [{"name": "a"}]
    fake.change_live("account_b204", "campaign_57a7", ad_groups=groups)
    groups.append({"name": "b"})
    draft = stage(
        fake, "beta.create_video_campaign", campaign_id="campaign_57a7", fields={"name": "c"}
    )
    assert draft.diff.before == [{"name": "a"}]
    for account_id, entity_id in [("account_b204", "campaign_0"), ("account_0", "campaign_57a7")]:
        with pytest.raises(ValueError, match=entity_id):
            fake.change_live(account_id, entity_id, name="x")


def test_paused_rejected_ad_spends_nothing(fake):
    def rejected():
        ads = fake.client().gamma.list_ads(account_id="account_c95a", date_range="LAST_7_DAYS")
        return next(ad for ad in ads if ad.extra["serving"] == "REJECTED")

    ad = rejected()
    for status in ("PAUSED", "ENABLED"):
        fake.change_live("account_c95a", ad.id, status=status)
        fake.clock.advance(timedelta(days=8))
        assert (rejected().status, rejected().extra["spend"]) == (status, 0)
    fake.change_live("account_c95a", ad.id, serving="SERVING")
    fake.clock.advance(timedelta(days=8))
    ads = fake.client().gamma.list_ads(account_id="account_c95a", date_range="LAST_7_DAYS")
    assert next(each for each in ads if each.id == ad.id).extra["spend"] > 0
