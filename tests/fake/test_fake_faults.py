"""Injected faults, as clients meet them."""

from contextlib import suppress
from functools import partial

import httpx
import pytest
from cases import each_case
from fake_helpers import call

import adclient
from adclient import CallTimeout, ConnectionLost, OutcomeUnknown, UnexpectedResponse
from adclient.testing import FakeAdService, Fault

WRITE, ADS = "beta.pause_campaign", "gamma.list_ads"


def statuses(fake):
    return [request.status for request in fake.requests]


# One request, one fault.


@each_case("taken", False, True)
@each_case(
    ("fault", "expected", "status"),
    (Fault.dropped, ConnectionLost, None),
    (Fault.no_response, CallTimeout, None),
    (partial(Fault.status, 500), adclient.ServerError, 500),
    (partial(Fault.response, b""), UnexpectedResponse, 200),
)
def test_lost_response_to_a_write_is_outcome_unknown(fault, expected, status, taken):
    fake = FakeAdService()
    fake.faults.add(fault(taken=taken))
    with pytest.raises(OutcomeUnknown) as caught:
        call(fake)
    assert isinstance(caught.value, expected)
    assert (len(fake.drafts), statuses(fake)) == (taken, [status])


# Time.


@each_case(
    ("fault", "expected"),
    (Fault.dropped(), httpx.RemoteProtocolError),
    (Fault.in_body("cut"), httpx.RemoteProtocolError),
    (Fault.slow(2), httpx.ReadTimeout),
    (Fault.slow_body(2), httpx.ReadTimeout),
)
def test_httpx_client_meets_faults_as_its_own_errors(fault, expected):
    fake = FakeAdService()
    fake.faults.add(fault)
    url = f"{fake.base_url}/v1/beta-ads/list-beta-campaigns?account_id=account_b204"
    with httpx.Client(transport=fake.transport) as client:
        with pytest.raises(expected):
            client.get(url, timeout=1)
        fake.faults.add(Fault.slow_body(2), times=2)
        for timeout in (3, None):
            assert client.get(url, timeout=timeout).status_code == 200


# Bodies and pages.


@each_case(
    ("what", "of_draft", "of_page", "text"),
    ("cut", UnexpectedResponse, ConnectionLost, "dropped"),
    ("stalled", CallTimeout, CallTimeout, "no response in time"),
    ("wrong_length", UnexpectedResponse, ConnectionLost, "expected"),
    ("broken_gzip", UnexpectedResponse, UnexpectedResponse, "damaged"),
    ("not_json", UnexpectedResponse, UnexpectedResponse, "Checking your browser"),
    ("not_utf8", UnexpectedResponse, UnexpectedResponse, "UTF-8"),
    ("wrong_shape", UnexpectedResponse, UnexpectedResponse, "draft_id"),
    ("error_object", UnexpectedResponse, UnexpectedResponse, "something went wrong"),
    ("duplicate_keys", UnexpectedResponse, None, "an object has the same name twice"),
    ("wrong_content_type", None, None, ""),
    ("huge", None, None, ""),
)
def test_corrupt_body_raises_or_does_no_harm(what, of_draft, of_page, text):
    fake = FakeAdService()
    fake.faults.add(Fault.in_body(what), operation=WRITE)
    fake.faults.add(Fault.in_body(what), operation=ADS)
    if of_draft is None:
        assert call(fake).draft_id == fake.drafts[0].draft_id
    else:
        with pytest.raises(OutcomeUnknown, match=text) as caught:
            call(fake)
        assert isinstance(caught.value, of_draft)
    assert statuses(fake) == [201]
    if of_page is None:
        assert len(call(fake, ADS)) == 126
    else:
        with pytest.raises(of_page) as caught:
            call(fake, ADS)
        assert not caught.value.outcome_unknown


@each_case(
    ("what", "error", "text", "asked"),
    ("same_next", adclient.PaginationError, "received before", 2),
    ("foreign_next", adclient.PaginationError, "another endpoint", 1),
    ("next_missing", UnexpectedResponse, r"\$\.page\.next", 1),
    ("page_missing", UnexpectedResponse, r"\$\.page", 1),
    ("data_missing", UnexpectedResponse, r"\$\.data", 1),
)
def test_page_fault_ends_the_listing_with_an_error(what, error, text, asked):
    fake = FakeAdService()
    fake.faults.add(Fault.in_page(what), times=None)
    with pytest.raises(error, match=text):
        call(fake, ADS)
    assert len(fake.requests) == asked


def test_page_fault_changes_the_items(fake):
    whole = call(fake, ADS)
    for what, second in (
        ("empty_page", []),
        ("duplicates", whole[49:99]),
        ("shrinking_list", whole[51:101]),
    ):
        fake.faults.add(Fault.in_page(what), call=2)
        assert call(fake, ADS) == [*whole[:50], *second, *whole[100:]]


def test_response_of_another_success_is_read(fake):
    fake.faults.add(Fault.other_status(200))
    assert call(fake).draft_id == fake.drafts[0].draft_id
    assert statuses(fake) == [200]


# Which request meets which fault.


def test_fault_meets_the_requests_of_one_account_or_that_a_function_selects(fake):
    client = fake.client(max_retries=0)
    fake.faults.add(Fault.status(503), account_id="account_b7e0", call=2, times=None)
    body = {"account_id": "account_b204", "campaign_id": "campaign_cb1a"}
    fake.faults.add(Fault.refused(), where=lambda request: request.json == body)
    for account_id in ("account_b7e0", "account_b204", "account_b204", "account_b7e0"):
        with suppress(adclient.ServerError):
            client.beta.list_campaigns(account_id=account_id)
    client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
    with pytest.raises(adclient.ConnectionFailed):
        client.beta.pause_campaign(**body)
    assert statuses(fake) == [200, 200, 200, 503, 201]
    for status in (500, 502):  # of two that apply, the first happens
        fake.faults.add(Fault.status(status))
    with pytest.raises(adclient.ServerError, match="500"):
        call(fake, ADS)
    assert (statuses(fake)[-1], fake.faults.pending) == (500, 2)


@each_case(
    ("add", "text"),
    (lambda faults: faults.add(Fault.refused(), times=0), "times must be a whole number, 1"),
    (lambda faults: faults.add(Fault.refused(), operation="beta.pause"), f"mean '{WRITE}'"),
    (lambda faults: faults.add(Fault.refused(), operation="x"), "are alpha.explain_objectives"),
    (lambda faults: faults.add(Fault.refused(), where="beta"), "where must be a function"),
    (lambda faults: faults.at_random(Fault.refused(), share=1.1), "share"),
    (lambda faults: faults.add(Fault.in_page("data_missing"), operation=WRITE), "no pages"),
    (lambda faults: faults.add("refused"), r"Fault\.refused\(\), not 'refused'"),
    (lambda _: Fault.status(199), "status"),
    (lambda _: Fault.redirect(status=200), "status"),
    (lambda _: Fault.slow_body(float("inf")), "seconds"),
    (lambda _: Fault.in_body("tired"), "what must be one of 'cut'"),
)
def test_invalid_faults_are_refused(fake, add, text):
    with pytest.raises((ValueError, TypeError), match=text):
        add(fake.faults)
    assert fake.faults.pending == 0
