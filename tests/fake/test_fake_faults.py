"""Injected faults, as sync and async clients meet them."""

from contextlib import suppress

import httpx
import pytest
from cases import each_case
from fake_helpers import CLIENT_KINDS, call

from adclient import (
    CallTimeout,
    ConnectionFailed,
    ConnectionLost,
    OutcomeUnknown,
    PaginationError,
    RateLimited,
    ServerError,
    UnexpectedResponse,
)
from adclient.errors import APIError
from adclient.testing import FakeAdService, Fault, Profile

READ, WRITE, ADS = "beta.list_campaigns", "beta.pause_campaign", "gamma.list_ads"


@pytest.fixture
def fake():
    return FakeAdService()


def statuses(fake):
    return [request.status for request in fake.requests]


# One request, one fault.


@CLIENT_KINDS
@pytest.mark.parametrize("style", ["error_object", "problem"])
def test_error_status_has_the_shape_of_the_profile_and_happens_once(client_kind, style):
    fake = FakeAdService(profile=Profile(errors=style))
    headers = {"Retry-After": "7"}
    fake.faults.add(Fault.status(503, code="tired", message="come back", headers=headers))
    with pytest.raises(ServerError, match="come back") as caught:
        call(fake, client_kind, READ)
    assert (caught.value.code, caught.value.retry_after) == ("tired", 7)
    assert caught.value.request_id.startswith("req_")
    assert ('"title":"Tired"' in caught.value.body) is (style == "problem")
    assert call(fake, client_kind, READ)
    assert statuses(fake)[:2] == [503, 200]


@CLIENT_KINDS
@pytest.mark.parametrize("taken", [False, True])
@pytest.mark.parametrize(
    ("fault", "expected", "status"),
    [
        (Fault.dropped, ConnectionLost, None),
        (Fault.no_response, CallTimeout, None),
        (lambda taken: Fault.status(500, taken=taken), ServerError, 500),
        (lambda taken: Fault.response("", taken=taken), UnexpectedResponse, 200),
    ],
)
def test_lost_response_to_a_write_raises_outcome_unknown(
    fake, client_kind, fault, expected, status, taken
):
    fake.faults.add(fault(taken=taken))
    with pytest.raises(OutcomeUnknown) as caught:
        call(fake, client_kind)
    assert isinstance(caught.value, expected)
    assert len(fake.drafts) == taken
    assert statuses(fake) == [status]


@each_case("body", [b'{"draft_id":"draft_1', "<html>", {"data": None}, None])
def test_injected_response_is_returned_unchanged(fake, body):
    fake.faults.add(Fault.response(body, status=201, headers={"X-Request-Id": "mine"}))
    with pytest.raises(UnexpectedResponse) as caught:
        call(fake, "sync")
    assert (caught.value.outcome_unknown, caught.value.request_id) == (True, "mine")


def test_injected_success_and_redirect_have_their_status(fake):
    fake.faults.add(Fault.other_status(200))
    draft = call(fake, "sync")
    assert (draft.response.status, draft.draft_id) == (200, fake.drafts[0].draft_id)
    fake.faults.add(Fault.redirect("https://elsewhere.example/x", status=307))
    with pytest.raises(APIError, match="redirect") as caught:
        call(fake, "sync")
    assert (caught.value.status, len(fake.drafts), len(fake.requests)) == (307, 1, 2)


# Time.


@CLIENT_KINDS
@pytest.mark.parametrize("fault", [Fault.slow, Fault.slow_body])
def test_slow_response_takes_time_of_the_clock(client_kind, fault):
    fake = FakeAdService(profile=Profile(latency=2))
    fake.faults.add(fault(5.5))
    assert call(fake, client_kind, timeout=8).draft_id == fake.drafts[0].draft_id
    assert fake.clock.monotonic() == 7.5


@CLIENT_KINDS
@pytest.mark.parametrize(
    ("fault", "has_head"),
    [(Fault.slow(8), False), (Fault.slow_body(40), True), (Fault.in_body("stalled"), True)],
)
def test_response_slower_than_the_timeout_raises(fake, client_kind, fault, has_head):
    fake.faults.add(fault)
    with pytest.raises(OutcomeUnknown) as caught:
        call(fake, client_kind, timeout=8)
    assert isinstance(caught.value, CallTimeout)
    status, draft_id = (201, fake.drafts[0].draft_id) if has_head else (None, None)
    assert caught.value.status == status
    assert caught.value.draft_id in (None, draft_id)
    assert fake.clock.monotonic() == pytest.approx(8, abs=1)
    assert statuses(fake) == [status]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault.refused(), httpx.ConnectError),
        (Fault.dropped(), httpx.RemoteProtocolError),
        (Fault.no_response(), httpx.ReadTimeout),
        (Fault.in_body("cut"), httpx.RemoteProtocolError),
        (Fault.slow(2), httpx.ReadTimeout),
    ],
)
def test_httpx_client_meets_faults_as_its_own_errors(fake, fault, expected):
    fake.faults.add(fault)
    url = f"{fake.base_url}/v1/beta-ads/list-beta-campaigns?account_id=account_b204"
    with httpx.Client(transport=fake.transport) as client:
        with pytest.raises(expected):
            client.get(url, timeout=1)
        fake.faults.add(Fault.slow(2), times=2)
        for timeout in (3, None):
            assert client.get(url, timeout=timeout).status_code == 200


# Bodies and pages.


@CLIENT_KINDS
@pytest.mark.parametrize(
    ("what", "of_draft", "of_page", "said"),
    [
        ("cut", UnexpectedResponse, ConnectionLost, "dropped"),
        ("stalled", CallTimeout, CallTimeout, "no response in time"),
        ("wrong_length", UnexpectedResponse, ConnectionLost, "expected"),
        ("broken_gzip", UnexpectedResponse, UnexpectedResponse, "damaged"),
        ("not_json", UnexpectedResponse, UnexpectedResponse, "JSON"),
        ("not_utf8", UnexpectedResponse, UnexpectedResponse, "UTF-8"),
        ("wrong_shape", UnexpectedResponse, UnexpectedResponse, "draft_id"),
        ("error_object", UnexpectedResponse, UnexpectedResponse, "something went wrong"),
        ("duplicate_keys", UnexpectedResponse, None, "an object has the same name twice"),
        ("wrong_content_type", None, None, ""),
        ("huge", None, None, ""),
    ],
)
def test_corrupt_body_raises_or_does_no_harm(fake, client_kind, what, of_draft, of_page, said):
    fake.faults.add(Fault.in_body(what), operation=WRITE)
    fake.faults.add(Fault.in_body(what), operation=ADS)
    if of_draft is None:
        assert call(fake, client_kind).draft_id == fake.drafts[0].draft_id
    else:
        with pytest.raises(OutcomeUnknown, match=said) as caught:
            call(fake, client_kind)
        assert isinstance(caught.value, of_draft)
        is_legible = what in ("cut", "wrong_length", "not_utf8")
        assert caught.value.draft_id == fake.drafts[0].draft_id or not is_legible
    assert statuses(fake) == [201]
    if of_page is None:
        assert len(call(fake, client_kind, ADS)) == 126
    else:
        with pytest.raises(of_page) as caught:
            call(fake, client_kind, ADS)
        assert not caught.value.outcome_unknown


def test_body_fault_leaves_errors_alone(fake):
    fake.faults.add(Fault.in_body("not_json"))
    with pytest.raises(APIError) as caught:
        fake.client().beta.list_campaigns(account_id="account_0000")
    assert caught.value.code == "account_not_found"


@CLIENT_KINDS
@pytest.mark.parametrize(
    ("what", "error", "said", "asked"),
    [
        ("same_next", PaginationError, "received before", 2),
        ("foreign_next", PaginationError, "another endpoint", 1),
        ("next_missing", UnexpectedResponse, r"\$\.page\.next", 1),
        ("page_missing", UnexpectedResponse, r"\$\.page", 1),
        ("data_null", UnexpectedResponse, r"\$\.data", 1),
    ],
)
def test_page_fault_ends_the_listing_with_an_error(fake, client_kind, what, error, said, asked):
    fake.faults.add(Fault.in_page(what), times=None)
    with pytest.raises(error, match=said):
        call(fake, client_kind, ADS)
    assert len(fake.requests) == asked


@each_case(
    ("what", "kept"),
    [
        ("empty_page", [*range(50), *range(100, 126)]),
        ("duplicates", [*range(50), *range(49, 99), *range(100, 126)]),
        ("shrinking_list", [*range(50), *range(51, 101), *range(100, 126)]),
    ],
)
def test_page_fault_changes_the_items(fake, what, kept):
    whole = call(fake, "sync", ADS)
    fake.faults.add(Fault.in_page(what), call=2)
    assert call(fake, "sync", ADS) == [whole[place] for place in kept]


@pytest.mark.parametrize("operation", [None, READ])
def test_page_fault_skips_writes_and_other_listings(fake, operation):
    fake.faults.add(Fault.in_page("data_null"), operation=operation)
    assert call(fake, "sync").status == "pending_approval"
    if operation is not None:
        assert call(fake, "sync", ADS)
    with pytest.raises(UnexpectedResponse):
        call(fake, "sync", READ)


# Which request meets which fault.


@CLIENT_KINDS
def test_faults_happen_in_order_and_as_often_as_requested(fake, client_kind):
    fake.faults.add(Fault.status(429), times=2)
    fake.faults.add(Fault.refused())
    assert fake.faults.pending == 2
    for expected in (RateLimited, RateLimited, ConnectionFailed):
        with pytest.raises(expected):
            call(fake, client_kind)
    assert fake.faults.pending == 0
    assert call(fake, client_kind).status == "pending_approval"
    assert statuses(fake) == [429, 429, 201], "a refused connection brings no request"


def test_a_fault_waits_for_its_operation_and_call_and_is_unmet_until_then(fake):
    late, random = Fault.status(422), Fault.refused()
    fake.faults.add(late, operation=WRITE, call=3)
    fake.faults.at_random(random, share=0)
    for _ in range(2):
        call(fake, "sync", ADS)
        call(fake, "sync")
    assert fake.faults.unmet == (late,)
    with pytest.raises(APIError):
        call(fake, "sync")
    assert fake.faults.unmet == ()
    call(fake, "sync")
    assert [status for status in statuses(fake) if status != 200] == [201, 201, 422, 201]
    fake.faults.add(late, times=None)
    fake.faults.clear()
    assert (fake.faults.unmet, fake.faults.pending) == ((), 0)


def outcomes(seed, share):
    fake = FakeAdService(seed=seed)
    fake.faults.at_random(Fault.status(422), share=share, operation=WRITE)
    for _ in range(40):
        call(fake, "sync", "gamma.create_dco_ad")
        with suppress(APIError):
            call(fake, "sync")
    return statuses(fake)[1::2]


@pytest.mark.no_cover
def test_random_faults_follow_from_the_seed():
    assert outcomes("a", 0.3) == outcomes("a", 0.3) != outcomes("b", 0.3)
    assert 4 < outcomes("a", 0.3).count(422) < 20
    assert outcomes("a", 0).count(422) == 0
    assert outcomes("a", 1).count(422) == 40


@each_case(
    ("add", "said"),
    [
        (lambda faults: faults.add(Fault.refused(), times=0), "times must be a whole number, 1"),
        (lambda faults: faults.add(Fault.refused(), call=1.5), "call must be a whole number, 1"),
        (lambda faults: faults.add(Fault.refused(), operation="beta.pause"), "no operation"),
        (lambda faults: faults.at_random(Fault.refused(), share=1.1), "share"),
        (lambda faults: faults.add(Fault.in_page("data_null"), operation=WRITE), "no pages"),
        (lambda faults: faults.add("refused"), r"Fault\.refused\(\), not 'refused'"),
        (lambda _: Fault.status(199), "status"),
        (lambda _: Fault.status(600), "status"),
        (lambda _: Fault.response("", status=100), "status"),
        (lambda _: Fault.other_status(0), "status"),
        (lambda _: Fault.redirect(status=200), "status"),
        (lambda _: Fault.slow(-1), "seconds"),
        (lambda _: Fault.slow_body(float("inf")), "seconds"),
        (lambda _: Fault.in_body("tired"), "what must be one of 'cut'"),
        (lambda _: Fault.in_page("tired"), "what must be one of 'same_next'"),
    ],
)
def test_invalid_faults_are_refused(fake, add, said):
    with pytest.raises((ValueError, TypeError), match=said):
        add(fake.faults)
    assert fake.faults.pending == 0
