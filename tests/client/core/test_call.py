import pytest
from cases import each_case
from core_helpers import (
    DELETE,
    DRAFT,
    KEYED,
    LISTED,
    LISTING,
    LOST,
    NO_SLOT,
    READ,
    REFUSED,
    STAGED,
    TIMED_OUT,
    WRITE,
    Timed,
    assert_one_line,
    drive,
    options_of,
    reply,
)
from hypothesis import example, given, strategies as st

from adclient.errors import (
    APIError,
    CallTimeout,
    ConnectionFailed,
    ConnectionLost,
    OutcomeUnknown,
    RateLimited,
    ServerError,
    UnexpectedResponse,
)
from adclient.models import Campaign, Draft
from adclient.options import RetryPolicy

RETRIED_STATUSES = [408, 429, 500, 502, 503, 504]
FINAL_STATUSES = [301, 302, 307, 400, 401, 403, 404, 405, 409, 410, 418, 422, 451]
CUT = reply(200, b'{"data": [', broken=LOST)
CUT_BY_TIME = reply(200, b'{"data": [', broken=TIMED_OUT)


def name_of(outcome):
    return str(getattr(outcome, "status", getattr(outcome, "reason", outcome)))


class TestReads:
    @each_case(
        "outcome",
        [REFUSED, LOST, TIMED_OUT, CUT, CUT_BY_TIME, *map(reply, RETRIED_STATUSES)],
    )
    def test_read_is_retried_after_a_retryable_failure(self, outcome):
        run = drive(READ, outcome, LISTED)
        assert [send.attempt for send in run.sends] == [1, 2]
        assert run.value.data == (Campaign(id="campaign_57a7", name="Spring", status="ENABLED"),)
        assert run.value.response.attempts == 2

    @each_case("status", [*FINAL_STATUSES, 501, 505])
    def test_read_is_not_retried_after_other_statuses(self, status):
        run = drive(READ, reply(status), LISTED)
        assert len(run.sends) == 1
        assert isinstance(run.error, APIError)
        assert run.error.status == status

    @each_case(
        ("outcome", "expected"),
        [
            (REFUSED, ConnectionFailed),
            (LOST, ConnectionLost),
            (TIMED_OUT, CallTimeout),
            (NO_SLOT, CallTimeout),
            (CUT, ConnectionLost),
            (reply(200, b"{", broken=REFUSED), ConnectionLost),
            (CUT_BY_TIME, CallTimeout),
            (reply(429), RateLimited),
            (reply(503), ServerError),
            (reply(200, b"not JSON"), UnexpectedResponse),
            (reply(200, LISTING, defect="its compressed data is damaged"), UnexpectedResponse),
        ],
    )
    def test_error_of_a_read_never_has_an_unknown_outcome(self, outcome, expected):
        error = drive(READ, *[outcome] * 3).error
        assert isinstance(error, expected)
        assert not isinstance(error, OutcomeUnknown)
        assert error.outcome_unknown is False
        assert "draft" not in str(error)

    def test_error_class_follows_from_the_last_outcome(self):
        run = drive(READ, LOST, reply(503), REFUSED)
        assert isinstance(run.error, ConnectionFailed)
        assert run.error.attempts == 3


@pytest.mark.parametrize("write", [WRITE, DELETE], ids=["POST", "DELETE"])
class TestWrites:
    @each_case("outcome", [REFUSED, reply(429)])
    @each_case("status", [200, 201, 202])
    def test_write_is_retried_if_it_was_not_processed(self, write, outcome, status):
        run = drive(write, outcome, outcome, reply(status, DRAFT))
        assert len(run.sends) == 3
        assert isinstance(run.value, Draft)
        assert run.value.to_dict() == DRAFT

    @each_case(
        ("outcome", "expected"),
        [(REFUSED, ConnectionFailed), (NO_SLOT, CallTimeout), (reply(429), RateLimited)],
    )
    def test_write_that_was_not_processed_has_a_known_outcome(self, write, outcome, expected):
        error = drive(write, *[outcome] * 3).error
        assert isinstance(error, expected)
        assert not isinstance(error, OutcomeUnknown)
        assert error.outcome_unknown is False

    @each_case("status", [300, 308, 400, 401, 403, 404, 409, 422, 499])
    def test_write_refused_with_a_4xx_has_a_known_outcome(self, write, status):
        run = drive(write, reply(status), STAGED)
        assert len(run.sends) == 1
        assert isinstance(run.error, APIError)
        assert not isinstance(run.error, OutcomeUnknown)

    @each_case(
        ("outcome", "also"),
        [
            (LOST, ConnectionLost),
            (TIMED_OUT, CallTimeout),
            *[(reply(status), ServerError) for status in (500, 501, 503, 504, 599)],
            *[(reply(status), APIError) for status in (99, 199, 301, 303, 408)],
            (reply(201, b""), UnexpectedResponse),
            (reply(204), UnexpectedResponse),
            (reply(201, b"<html>welcome</html>"), UnexpectedResponse),
            (reply(201, b'{"draft_id": "draft_7c'), UnexpectedResponse),
            (reply(201, [DRAFT]), UnexpectedResponse),
            (reply(201, {**DRAFT, "diff": None}), UnexpectedResponse),
            (reply(201, LISTING), UnexpectedResponse),
            (reply(201, DRAFT, defect="its compressed data is damaged"), UnexpectedResponse),
            (reply(201, b'{"draft_id":', broken=LOST), UnexpectedResponse),
            (reply(201, b'{"draft_id":', broken=REFUSED), UnexpectedResponse),
            (reply(201, b'{"draft_id":', broken=TIMED_OUT), CallTimeout),
        ],
    )
    def test_write_that_may_have_been_processed_is_outcome_unknown_without_a_retry(
        self, write, outcome, also
    ):
        run = drive(write, outcome, STAGED)
        assert len(run.sends) == 1
        assert isinstance(run.error, OutcomeUnknown)
        assert isinstance(run.error, also)
        assert run.error.outcome_unknown is True
        assert "draft may have been staged" in str(run.error)
        assert "dashboard" in str(run.error)

    @each_case(
        "outcome",
        [
            reply(201, {"draft_id": "draft_7c2e", "status": 7}),
            reply(201, b'{"draft_id" : "draft_7c2e", "status": "pend'),
            reply(201, b'{"draft_id": "draft_7c2e"', broken=LOST),
            reply(201, b'{"draft_id": "draft_7c2e"', broken=TIMED_OUT),
            reply(201, b'{"draft_id": "draft_7c2e"', defect="its compressed data is truncated"),
            reply(200, b'{"note":"\xff","draft_id":"draft_7c2e"}'),
        ],
    )
    def test_outcome_unknown_keeps_the_draft_id_of_an_invalid_body(self, write, outcome):
        error = drive(write, outcome).error
        assert error.draft_id == "draft_7c2e"
        assert "draft_7c2e" in str(error)

    def test_write_whose_retry_is_lost_is_outcome_unknown(self, write):
        run = drive(write, REFUSED, LOST, STAGED)
        assert len(run.sends) == 2
        assert isinstance(run.error, OutcomeUnknown)
        assert run.error.draft_id is None


class TestIdempotencyKey:
    OPTIONS = options_of(conventions=KEYED)

    @each_case(
        "outcome",
        [REFUSED, LOST, TIMED_OUT, reply(201, b"{", broken=LOST), *map(reply, RETRIED_STATUSES)],
    )
    def test_write_with_a_key_is_retried_like_a_read(self, outcome):
        run = drive(WRITE, outcome, outcome, STAGED, options=self.OPTIONS)
        assert run.value.draft_id == "draft_7c2e"
        assert len(run.sends) == 3
        for send in run.sends:
            assert send.request.headers["idempotency-key"] == "key-1"
            assert send.request == run.sends[0].request
            assert send.request.body is run.sends[0].request.body

    def test_idempotency_key_is_not_sent_with_a_read(self):
        run = drive(READ, LISTED, options=self.OPTIONS)
        assert "idempotency-key" not in run.sends[0].request.headers

    def test_error_has_the_idempotency_key(self):
        run = drive(WRITE, *[LOST] * 3, options=self.OPTIONS)
        assert run.error.idempotency_key == run.sends[2].request.headers["idempotency-key"]
        assert drive(WRITE, LOST).error.idempotency_key is None

    @pytest.mark.parametrize(
        ("last", "also"),
        [(REFUSED, OutcomeUnknown), (reply(429), APIError), (reply(400), APIError)],
        ids=name_of,
    )
    def test_unknown_outcome_stays_unknown_after_failed_retries(self, last, also):
        error = drive(WRITE, LOST, last, last, options=self.OPTIONS).error
        assert isinstance(error, OutcomeUnknown)
        assert isinstance(error, also)
        assert error.outcome_unknown is True
        assert error.status == getattr(last, "status", None)
        assert "draft may have been staged" in str(error)

    def test_write_with_a_key_that_was_never_sent_has_a_known_outcome(self):
        error = drive(WRITE, *[REFUSED] * 3, options=self.OPTIONS).error
        assert isinstance(error, ConnectionFailed)
        assert not isinstance(error, OutcomeUnknown)

    def test_write_with_a_key_is_not_retried_after_an_invalid_body(self):
        run = drive(WRITE, reply(201, b"?"), STAGED, options=self.OPTIONS)
        assert len(run.sends) == 1
        assert isinstance(run.error, OutcomeUnknown)


class TestAttempts:
    @each_case("call", [READ, WRITE, DELETE])
    @each_case("outcome", [REFUSED, LOST, reply(429), reply(503)])
    @each_case("keyed", [False, True])
    def test_call_without_retries_has_one_attempt(self, call, outcome, keyed):
        conventions = {"conventions": KEYED} if keyed else {}
        run = drive(call, outcome, STAGED, options=options_of(max_retries=0, **conventions))
        assert (len(run.sends), run.sleeps) == (1, [])
        assert run.error.attempts == 1

    def test_retried_statuses_are_those_of_the_policy(self):
        options = options_of(retry=RetryPolicy(statuses=frozenset({418})))
        assert drive(READ, reply(418), LISTED, options=options).value is not None
        assert drive(READ, reply(503), LISTED, options=options).error.status == 503


class TestTime:
    def test_each_attempt_gets_the_time_that_is_left(self):
        run = drive(
            READ,
            Timed(4.0, LOST),
            Timed(3.0, LOST),
            LISTED,
            options=options_of(timeout=10.0),
            random=0.5,
        )
        assert run.sleeps == [0.25, 0.5]
        assert [send.time_left for send in run.sends] == [10.0, 5.75, 2.25]

    def test_attempt_that_uses_all_the_time_is_not_retried(self):
        run = drive(READ, Timed(10.0, TIMED_OUT), options=options_of(timeout=10.0))
        assert (len(run.sends), run.sleeps) == (1, [])
        assert isinstance(run.error, CallTimeout)
        assert run.error.elapsed == 10.0

    @each_case("outcome", [TIMED_OUT, CUT_BY_TIME])
    def test_advice_names_the_limit_that_ended_the_last_attempt(self, outcome):
        retry = RetryPolicy(attempt_timeout=4.0)
        run = drive(READ, *[Timed(4.0, outcome)] * 3, options=options_of(retry=retry))
        assert "allow a longer RetryPolicy(attempt_timeout=…)" in str(run.error)
        outcomes = [Timed(4.0, outcome), Timed(4.0, outcome), Timed(2.0, outcome)]
        run = drive(READ, *outcomes, options=options_of(retry=retry, timeout=10.0))
        assert "allow a longer timeout" in str(run.error)

    @each_case("call", [READ, WRITE])
    def test_error_is_the_last_response_if_no_slot_is_free_for_a_retry(self, call):
        limited = reply(429, headers={"retry-after": "1", "x-request-id": "id"})
        run = drive(call, limited, NO_SLOT)
        assert type(run.error) is RateLimited
        assert (run.error.request_id, run.error.attempts) == ("id", 1)

    @each_case("call", [READ, WRITE])
    @each_case("overslept", [0.5, 1.0, 60.0])
    def test_retry_is_not_sent_if_its_sleep_overran_the_timeout(self, call, overslept):
        options = options_of(timeout=2.0)
        limited = reply(429, headers={"retry-after": "1.5"})
        run = drive(call, limited, STAGED, options=options, overslept=overslept)
        assert len(run.sends) == 1
        assert isinstance(run.error, RateLimited)
        assert not isinstance(run.error, OutcomeUnknown)

    @example(timeout=1.9, seconds=[0.0] * 6 + [1.9, 0.0], random=0.0, retry_after=None)
    @given(
        timeout=st.floats(0.01, 100),
        seconds=st.lists(st.floats(0, 30), min_size=8, max_size=8),
        random=st.floats(0, 1, exclude_max=True),
        retry_after=st.none() | st.integers(0, 200),
    )
    def test_waits_never_exceed_the_timeout(self, timeout, seconds, random, retry_after):
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        outcomes = [Timed(duration, reply(503, headers=headers)) for duration in seconds]
        options = options_of(timeout=timeout, max_retries=7)
        run = drive(READ, *outcomes, options=options, random=random)
        assert sum(run.sleeps) < timeout
        assert all(send.time_left > 0 for send in run.sends)
        assert all(wait >= (retry_after or 0) for wait in run.sleeps)


class TestBackoff:
    OPTIONS = options_of(timeout=1000.0, max_retries=7)

    def test_backoff_doubles_up_to_backoff_longest(self):
        sleeps = drive(READ, *[REFUSED] * 8, options=self.OPTIONS, random=0.999).sleeps
        longest = [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
        assert sleeps == pytest.approx([0.999 * seconds for seconds in longest])

    @pytest.mark.parametrize(
        ("asked", "random", "most"), [(4.0, 0.0, 0.0), (4.0, 0.999, 0.4), (100.0, 0.999, 1.0)]
    )
    def test_jitter_is_added_to_retry_after(self, asked, random, most):
        limited = reply(429, headers={"retry-after": str(asked)})
        (waited,) = drive(READ, limited, LISTED, options=self.OPTIONS, random=random).sleeps
        assert waited == pytest.approx(asked + most, abs=0.01)
        assert waited >= asked


class TestRetryAfter:
    @each_case("call", [READ, WRITE])
    @each_case(
        "retry_after", ["30", "31", "3600", "999999999999", "9999999999999", "1" + "0" * 400]
    )
    def test_retry_after_beyond_the_timeout_raises_at_once(self, call, retry_after):
        run = drive(call, reply(429, headers={"retry-after": retry_after}), STAGED)
        assert (len(run.sends), run.sleeps) == (1, [])
        assert isinstance(run.error, RateLimited)
        assert run.error.retry_after >= 30
        assert run.error.attempts == 1
        assert_one_line(str(run.error))


class TestDetails:
    def test_draft_has_the_details_of_its_response(self):
        staged = reply(201, DRAFT, headers={"x-request-id": "req_2", "content-language": "en"})
        run = drive(WRITE, Timed(1.0, REFUSED), Timed(2.0, staged), random=0.5)
        response = run.value.response
        assert response.status == 201
        assert response.attempts == 2
        assert response.elapsed == pytest.approx(3.25)
        assert response.request_id == "req_2"
        assert response.headers["content-language"] == "en"

    @pytest.mark.parametrize(
        ("headers", "expected"),
        [
            ({"x-request-id": "a", "request-id": "b"}, "a"),
            ({"request-id": "b"}, "b"),
            ({"x-request-id": "", "request-id": "b"}, "b"),
            ({"x-amzn-requestid": "c"}, None),
        ],
    )
    def test_request_id_comes_from_the_first_header_that_is_not_empty(self, headers, expected):
        assert (
            drive(WRITE, reply(201, DRAFT, headers=headers)).value.response.request_id == expected
        )
        assert drive(WRITE, reply(500, headers=headers)).error.request_id == expected

    def test_request_id_headers_are_set_by_convention(self):
        conventions = type(KEYED)(request_id_headers=["X-Trace"])
        options = options_of(conventions=conventions)
        listed = reply(200, LISTING, headers={"x-trace": "t", "x-request-id": "no"})
        assert drive(READ, listed, options=options).value.response.request_id == "t"
