from datetime import timedelta

import pytest

from adclient import (
    CallTimeout,
    ConnectionFailed,
    ConnectionLost,
    OutcomeUnknown,
    RateLimited,
    ServerError,
    UnexpectedReply,
)
from adclient.testing import FakeAdService


@pytest.fixture
def fake():
    return FakeAdService()


def pause(fake):
    return fake.client(max_retries=0).beta.pause_campaign(
        account_id="account_b204", campaign_id="campaign_57a7"
    )


def read(fake):
    return fake.client(max_retries=0).beta.list_campaigns(account_id="account_b204")


def test_an_error_status_comes_once(fake):
    fake.faults.fail_next(503, code="tired", message="come back", headers={"Retry-After": "7"})
    with pytest.raises(ServerError, match="come back") as caught:
        read(fake)
    assert (caught.value.code, caught.value.retry_after) == ("tired", 7)
    assert caught.value.request_id.startswith("req_")
    assert read(fake).data
    assert [request.status for request in fake.requests] == [503, 200]


def test_faults_come_in_order_and_as_often_as_asked(fake):
    fake.faults.fail_next(429, times=2)
    fake.faults.refuse_next()
    assert fake.faults.pending == 3
    for expected in (RateLimited, RateLimited, ConnectionFailed):
        with pytest.raises(expected):
            pause(fake)
    assert fake.faults.pending == 0
    assert pause(fake).status == "pending_approval"


def test_a_refused_connection_never_reaches_the_service(fake):
    fake.faults.refuse_next()
    with pytest.raises(ConnectionFailed):
        pause(fake)
    assert fake.requests == ()
    assert fake.drafts == ()


@pytest.mark.parametrize("taken", [False, True])
@pytest.mark.parametrize(
    ("plan", "expected"), [("drop_next", ConnectionLost), ("time_out_next", CallTimeout)]
)
def test_a_lost_answer_to_a_write(fake, plan, expected, taken):
    getattr(fake.faults, plan)(taken=taken)
    with pytest.raises(OutcomeUnknown) as caught:
        pause(fake)
    assert isinstance(caught.value, expected)
    assert len(fake.drafts) == taken
    assert [request.status for request in fake.requests] == [None]


@pytest.mark.parametrize("taken", [False, True])
def test_an_error_to_a_write(fake, taken):
    fake.faults.fail_next(500, taken=taken)
    with pytest.raises(OutcomeUnknown):
        pause(fake)
    assert len(fake.drafts) == taken


def test_a_refused_write_that_was_taken_stages_nothing(fake):
    fake.faults.drop_next(taken=True)
    with pytest.raises(OutcomeUnknown):
        fake.client(max_retries=0).beta.pause_campaign(
            account_id="account_b204", campaign_id="campaign_0000"
        )
    assert fake.drafts == ()


@pytest.mark.parametrize("body", [b'{"draft_id":"draft_1', "<html>", {"data": None}, None, ""])
def test_any_body(fake, body):
    fake.faults.answer_next(body, status=201, headers={"Content-Type": "text/x"}, taken=True)
    with pytest.raises(UnexpectedReply) as caught:
        pause(fake)
    assert caught.value.outcome_unknown
    assert len(fake.drafts) == 1


def test_headers_of_a_fault_replace_those_of_the_service(fake):
    fake.faults.answer_next({"data": [], "page": {"next": None}}, headers={"X-Request-Id": "mine"})
    assert read(fake).response.request_id == "mine"


def test_cleared_faults_do_not_happen(fake):
    fake.faults.fail_next(500, times=3)
    fake.faults.clear()
    assert read(fake).data


def test_faults_that_cannot_be(fake):
    for plan in (fake.faults.refuse_next, fake.faults.drop_next, fake.faults.time_out_next):
        with pytest.raises(ValueError, match="times"):
            plan(times=0)
    for status in (199, 600):
        with pytest.raises(ValueError, match="status"):
            fake.faults.fail_next(status)


def test_the_clock_goes_forward_only(fake):
    start = fake.clock.now()
    assert start.isoformat() == "2026-03-02T09:00:00+00:00"
    fake.clock.advance(1.5)
    fake.clock.advance(timedelta(days=1))
    assert fake.clock.now() - start == timedelta(days=1, seconds=1.5)
    for step in (-1, timedelta(seconds=-1)):
        with pytest.raises(ValueError, match="forward"):
            fake.clock.advance(step)


@pytest.mark.parametrize("page_size", [0, "2"])
def test_pages_have_at_least_one_item(page_size):
    with pytest.raises(ValueError, match="page_size"):
        FakeAdService(page_size=page_size)


def test_continuations_have_one_of_four_shapes():
    with pytest.raises(ValueError, match="text, number, url, object"):
        FakeAdService(continuation="txt")


def test_repr_tells_what_happened(fake):
    assert repr(fake) == "<FakeAdService seed='halden', 0 requests, 0 drafts>"
    pause(fake)
    assert repr(fake) == "<FakeAdService seed='halden', 1 requests, 1 drafts>"


def test_what_is_recorded(fake):
    pause(fake)
    read(fake)
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
