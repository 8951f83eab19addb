from contextlib import suppress
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from fake_helpers import AT_ONCE, CLIENT_KINDS, call

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

READ, WRITE = "beta.list_campaigns", "beta.pause_campaign"


@pytest.fixture
def fake():
    return FakeAdService()


def statuses(fake):
    return [request.status for request in fake.requests]


# One request, one fault.


@CLIENT_KINDS
def test_error_status_happens_once(fake, client_kind):
    headers = {"Retry-After": "7"}
    fake.faults.add(Fault.status(503, code="tired", message="come back", headers=headers))
    with pytest.raises(ServerError, match="come back") as caught:
        call(fake, client_kind, READ)
    assert (caught.value.code, caught.value.retry_after) == ("tired", 7)
    assert caught.value.request_id.startswith("req_")
    assert call(fake, client_kind, READ)
    assert statuses(fake)[:2] == [503, 200]


@CLIENT_KINDS
def test_refused_connection_is_not_recorded(fake, client_kind):
    fake.faults.add(Fault.refused())
    with pytest.raises(ConnectionFailed):
        call(fake, client_kind)
    assert fake.requests == ()
    assert fake.drafts == ()


@CLIENT_KINDS
@pytest.mark.parametrize("taken", [False, True])
@pytest.mark.parametrize(
    ("fault", "expected"), [(Fault.dropped, ConnectionLost), (Fault.no_response, CallTimeout)]
)
def test_lost_response_to_a_write_raises_outcome_unknown(fake, client_kind, fault, expected, taken):
    fake.faults.add(fault(taken=taken))
    with pytest.raises(OutcomeUnknown) as caught:
        call(fake, client_kind)
    assert isinstance(caught.value, expected)
    assert len(fake.drafts) == taken
    assert statuses(fake) == [None]


@CLIENT_KINDS
@pytest.mark.parametrize("taken", [False, True])
def test_error_status_on_a_write_stages_only_if_taken(fake, client_kind, taken):
    fake.faults.add(Fault.status(500, taken=taken))
    with pytest.raises(OutcomeUnknown):
        call(fake, client_kind)
    assert len(fake.drafts) == taken


def test_invalid_write_stages_nothing_even_if_taken(fake):
    fake.faults.add(Fault.dropped(taken=True))
    with pytest.raises(OutcomeUnknown):
        fake.client(max_retries=0).beta.pause_campaign(
            account_id="account_b204", campaign_id="campaign_0000"
        )
    assert fake.drafts == ()


@CLIENT_KINDS
def test_injected_error_has_the_shape_of_the_profile(client_kind):
    fake = FakeAdService(profile=Profile(errors="problem"))
    fake.faults.add(Fault.status(504, code="upstream", message="too slow"))
    with pytest.raises(ServerError, match="too slow") as caught:
        call(fake, client_kind, READ)
    assert caught.value.code == "upstream"
    assert '"title":"Upstream"' in caught.value.body


@CLIENT_KINDS
@pytest.mark.parametrize("body", [b'{"draft_id":"draft_1', "<html>", {"data": None}, None, ""])
def test_injected_response_is_returned_unchanged(fake, client_kind, body):
    fake.faults.add(Fault.response(body, status=201, headers={"Content-Type": "text/x"}))
    with pytest.raises(UnexpectedResponse) as caught:
        call(fake, client_kind)
    assert caught.value.outcome_unknown
    assert len(fake.drafts) == 1


def test_injected_response_stages_nothing_unless_taken(fake):
    fake.faults.add(Fault.response({}, taken=False))
    with pytest.raises(UnexpectedResponse):
        call(fake, "sync")
    assert fake.drafts == ()


def test_injected_headers_replace_those_of_the_service(fake):
    page = {"data": [], "page": {"next": None}}
    fake.faults.add(Fault.response(page, headers={"X-Request-Id": "mine"}))
    page = fake.client().beta.list_campaigns(account_id="account_b204")
    assert page.response.request_id == "mine"


@CLIENT_KINDS
@pytest.mark.parametrize("status", [302, 307])
def test_a_redirect_is_not_followed(fake, client_kind, status):
    fake.faults.add(Fault.redirect("https://elsewhere.example/x", status=status))
    with pytest.raises(APIError, match="redirect") as caught:
        call(fake, client_kind)
    assert caught.value.status == status
    assert fake.drafts == ()
    assert len(fake.requests) == 1


@CLIENT_KINDS
def test_draft_with_another_success_status_is_accepted(fake, client_kind):
    fake.faults.add(Fault.other_status(200))
    draft = call(fake, client_kind)
    assert draft.response.status == 200
    assert draft.draft_id == fake.drafts[0].draft_id


# Time.


@CLIENT_KINDS
def test_slow_response_advances_the_clock(fake, client_kind):
    start = fake.clock.now()
    fake.faults.add(Fault.slow(7.5))
    assert call(fake, client_kind, timeout=8).draft_id == fake.drafts[0].draft_id
    assert (fake.clock.now() - start).total_seconds() == 7.5


@pytest.mark.parametrize("page_size", [0, "2"])
def test_pages_have_at_least_one_item(page_size):
    with pytest.raises(ValueError, match="page_size"):
        FakeAdService(page_size=page_size)


@CLIENT_KINDS
@pytest.mark.parametrize("seconds", [8, 3600])
def test_response_slower_than_the_timeout_raises(fake, client_kind, seconds):
    start = fake.clock.now()
    fake.faults.add(Fault.slow(seconds))
    with pytest.raises(OutcomeUnknown) as caught:
        call(fake, client_kind, timeout=8)
    assert isinstance(caught.value, CallTimeout)
    assert len(fake.drafts) == 1
    assert (fake.clock.now() - start).total_seconds() == pytest.approx(8, abs=1)


def test_latency_of_the_profile_applies_to_every_response():
    fake = FakeAdService(profile=Profile(latency=2))
    start = fake.clock.now()
    fake.faults.add(Fault.slow(1))
    call(fake, "sync")
    call(fake, "sync")
    assert (fake.clock.now() - start).total_seconds() == 5


def test_timeout_of_an_httpx_client_is_honoured():
    fake = FakeAdService(profile=Profile(latency=2))
    url = f"{fake.base_url}/v1/beta-ads/list-beta-campaigns?account_id=account_b204"
    with httpx.Client(transport=fake.transport) as client:
        assert client.get(url, timeout=None).status_code == 200
        assert client.get(url, timeout=3).status_code == 200
        with pytest.raises(httpx.ReadTimeout):
            client.get(url, timeout=1)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault.refused(), httpx.ConnectError),
        (Fault.dropped(), httpx.RemoteProtocolError),
        (Fault.no_response(), httpx.ReadTimeout),
        (Fault.in_body("cut"), httpx.RemoteProtocolError),
    ],
    ids=["refused", "dropped", "no response", "cut body"],
)
def test_httpx_client_sees_lost_responses_as_its_own_errors(fault, expected):
    fake = FakeAdService()
    fake.faults.add(fault)
    url = f"{fake.base_url}/v1/beta-ads/list-beta-campaigns?account_id=account_b204"
    with httpx.Client(transport=fake.transport) as client, pytest.raises(expected):
        client.get(url)


# Bodies.


@CLIENT_KINDS
@pytest.mark.parametrize(
    ("what", "expected", "said"),
    [
        ("cut", UnexpectedResponse, "dropped"),
        ("stalled", CallTimeout, "no response in time"),
        ("wrong_length", UnexpectedResponse, "expected"),
        ("broken_gzip", UnexpectedResponse, "damaged"),
        ("not_json", UnexpectedResponse, "JSON"),
        ("not_utf8", UnexpectedResponse, "UTF-8"),
        ("wrong_shape", UnexpectedResponse, "draft_id"),
        ("error_object", UnexpectedResponse, "something went wrong"),
        ("duplicate_keys", UnexpectedResponse, "an object has the same name twice"),
    ],
)
def test_corrupt_draft_raises_and_is_staged(fake, client_kind, what, expected, said):
    fake.faults.add(Fault.in_body(what))
    with pytest.raises(OutcomeUnknown, match=said) as caught:
        call(fake, client_kind)
    assert isinstance(caught.value, expected)
    assert statuses(fake) == [201]
    [draft] = fake.drafts
    assert caught.value.draft_id in (None, draft.draft_id)
    if what in ("cut", "wrong_length", "not_utf8"):
        assert caught.value.draft_id == draft.draft_id


@CLIENT_KINDS
@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("cut", ConnectionLost),
        ("stalled", CallTimeout),
        ("wrong_length", ConnectionLost),
        ("broken_gzip", UnexpectedResponse),
        ("not_json", UnexpectedResponse),
        ("not_utf8", UnexpectedResponse),
        ("wrong_shape", UnexpectedResponse),
        ("error_object", UnexpectedResponse),
    ],
)
def test_corrupt_page_raises(fake, client_kind, what, expected):
    fake.faults.add(Fault.in_body(what))
    with pytest.raises(expected) as caught:
        call(fake, client_kind, READ)
    assert not caught.value.outcome_unknown


def test_stalled_body_uses_up_the_timeout(fake):
    start = fake.clock.now()
    fake.faults.add(Fault.in_body("stalled"))
    with pytest.raises(CallTimeout):
        call(fake, "sync", READ, timeout=9)
    assert (fake.clock.now() - start).total_seconds() == pytest.approx(9, abs=1)


@CLIENT_KINDS
def test_slow_body_advances_the_clock(fake, client_kind):
    start = fake.clock.now()
    fake.faults.add(Fault.slow_body(7.5))
    assert call(fake, client_kind, timeout=8).draft_id == fake.drafts[0].draft_id
    assert (fake.clock.now() - start).total_seconds() == 7.5


@CLIENT_KINDS
def test_slow_body_is_cut_at_the_timeout(fake, client_kind):
    start = fake.clock.now()
    fake.faults.add(Fault.slow_body(40))
    with pytest.raises(OutcomeUnknown) as caught:
        call(fake, client_kind, timeout=30)
    assert isinstance(caught.value, CallTimeout)
    assert caught.value.status == 201
    assert caught.value.draft_id == fake.drafts[0].draft_id
    assert (fake.clock.now() - start).total_seconds() == pytest.approx(30, abs=1)


def test_latency_and_slow_body_add_up():
    fake = FakeAdService(profile=Profile(latency=2))
    start = fake.clock.now()
    fake.faults.add(Fault.slow_body(5))
    call(fake, "sync", timeout=8)
    assert (fake.clock.now() - start).total_seconds() == 7
    fake.faults.add(Fault.slow_body(7))
    with pytest.raises(CallTimeout):
        call(fake, "sync", READ, timeout=8)


@CLIENT_KINDS
@pytest.mark.parametrize(
    ("what", "operation"),
    [
        ("wrong_content_type", READ),
        ("wrong_content_type", WRITE),
        ("huge", READ),
        ("huge", WRITE),
        ("duplicate_keys", READ),
    ],
)
def test_harmless_body_faults_are_accepted(fake, client_kind, what, operation):
    expected = call(FakeAdService(), client_kind, operation)
    fake.faults.add(Fault.in_body(what))
    found = call(fake, client_kind, operation)
    if operation == WRITE:
        assert (found.draft_id, found.diff) == (expected.draft_id, expected.diff)
    else:
        assert found == expected


def test_body_fault_leaves_errors_alone(fake):
    fake.faults.add(Fault.in_body("not_json"))
    with pytest.raises(APIError) as caught:
        fake.client().beta.list_campaigns(account_id="account_0000")
    assert caught.value.code == "account_not_found"


# Pages.


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
        call(fake, client_kind, "gamma.list_ads")
    assert len(fake.requests) == asked


def test_page_without_its_envelope_may_have_unknown_keys():
    fake = FakeAdService(profile=Profile(extras=True))
    fake.faults.add(Fault.in_page("page_missing"))
    with pytest.raises(UnexpectedResponse, match=r"\$\.page"):
        fake.client().beta.list_campaigns(account_id="account_b204")


@CLIENT_KINDS
@pytest.mark.parametrize(
    ("what", "kept"),
    [
        ("empty_page", [*range(50), *range(100, 126)]),
        ("duplicates", [*range(50), *range(49, 99), *range(100, 126)]),
        ("shrinking_list", [*range(50), *range(51, 101), *range(100, 126)]),
    ],
)
def test_page_fault_changes_the_items(fake, client_kind, what, kept):
    whole = call(fake, client_kind, "gamma.list_ads")
    fake.faults.add(Fault.in_page(what), call=2)
    found = call(fake, client_kind, "gamma.list_ads")
    assert found == [whole[place] for place in kept]


def test_page_fault_skips_writes(fake):
    fake.faults.add(Fault.in_page("data_null"))
    assert call(fake, "sync").status == "pending_approval"
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


def test_a_fault_waits_for_its_operation_and_call(fake):
    fake.faults.add(Fault.status(422), operation=WRITE, call=2)
    call(fake, "sync", READ)
    call(fake, "sync")
    call(fake, "sync", READ)
    with pytest.raises(APIError):
        call(fake, "sync")
    call(fake, "sync")
    assert [status for status in statuses(fake) if status != 200] == [201, 422, 201]


def test_fault_without_times_never_ends(fake):
    fake.faults.add(Fault.status(422), times=None)
    for _ in range(5):
        with pytest.raises(APIError):
            call(fake, "sync")
    fake.faults.clear()
    assert call(fake, "sync").draft_id
    assert fake.faults.pending == 0


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


@CLIENT_KINDS
def test_client_retries_what_is_retryable(fake, client_kind):
    fake.faults.add(Fault.in_body("cut"))
    fake.faults.add(Fault.status(502))
    fake.faults.add(Fault.refused())
    assert len(call(fake, client_kind, "alpha.explain_objectives", retry=AT_ONCE)) == 7
    assert statuses(fake) == [200, 502, 200]


@pytest.mark.parametrize(
    ("add", "said"),
    [
        (lambda faults: faults.add(Fault.refused(), times=0), "times"),
        (lambda faults: faults.add(Fault.refused(), call=0), "call"),
        (lambda faults: faults.add(Fault.refused(), operation="beta.pause"), "no operation"),
        (lambda faults: faults.at_random(Fault.refused(), share=1.1), "share"),
        (lambda faults: faults.at_random(Fault.refused(), share=-0.1), "share"),
        (lambda faults: faults.add(Fault.in_page("data_null"), operation=WRITE), "no pages"),
        (lambda _: Fault.status(199), "status"),
        (lambda _: Fault.status(600), "status"),
        (lambda _: Fault.response("", status=100), "status"),
        (lambda _: Fault.other_status(0), "status"),
        (lambda _: Fault.redirect(status=200), "status"),
        (lambda _: Fault.slow(-1), "seconds"),
        (lambda _: Fault.slow_body(-1), "seconds"),
        (lambda _: Fault.slow(float("nan")), "seconds"),
        (lambda _: Fault.slow_body(float("inf")), "seconds"),
        (lambda _: Fault.in_body("tired"), "what must be one of 'cut'"),
        (lambda _: Fault.in_page("tired"), "what must be one of 'same_next'"),
    ],
)
def test_invalid_faults_are_refused(fake, add, said):
    with pytest.raises(ValueError, match=said):
        add(fake.faults)


def test_page_fault_can_be_limited_to_one_listing(fake):
    fake.faults.add(Fault.in_page("data_null"), operation=READ)
    assert call(fake, "sync", "gamma.list_ads")
    with pytest.raises(UnexpectedResponse):
        call(fake, "sync", READ)


def test_foreign_continuation_is_not_followed(fake):
    fake.faults.add(Fault.in_page("foreign_next"))
    page = fake.client().gamma.list_ads(account_id="account_c3d8")
    assert urlsplit(page.next).hostname == "elsewhere.example"
    assert dict(parse_qsl(urlsplit(page.next).query)) == {"cursor": "1"}


@pytest.mark.parametrize("number", [0, 1.5, True, "2"])
def test_calls_and_times_are_whole_numbers(fake, number):
    for name in ("call", "times"):
        with pytest.raises(ValueError, match=f"{name} must be a whole number, 1 or more"):
            fake.faults.add(Fault.refused(), **{name: number})
    assert fake.faults.pending == 0


def test_fault_is_unmet_until_a_request_meets_it(fake):
    first, late = Fault.status(500), Fault.status(502)
    fake.faults.add(first, times=None)
    fake.faults.add(late, operation=WRITE, call=2)
    fake.faults.at_random(Fault.refused(), share=0)
    assert fake.faults.unmet == (first, late)
    with pytest.raises(ServerError):
        call(fake, "sync", READ)
    assert fake.faults.unmet == (late,)
    fake.faults.clear()
    assert fake.faults.unmet == ()
