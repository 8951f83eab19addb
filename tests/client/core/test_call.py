"""Which outcomes are retried, and how a call ends: an exchange, driven by a list of outcomes."""

import attrs
import clients
import core_helpers
import pytest
from cases import each_case
from core_helpers import DRAFT, LISTED, LOST, READ, REFUSED, STAGED, WRITE, drive, options_of, reply

from adclient import errors
from adclient.conventions import Conventions
from adclient.options import RetryPolicy

WITH_KEY = options_of(conventions=clients.KEYED)
CALLS = {
    "read": (READ, None, LISTED),
    "write": (WRITE, None, STAGED),
    "delete": (core_helpers.DELETE, None, STAGED),
    "keyed write": (WRITE, WITH_KEY, STAGED),
    "keyed delete": (core_helpers.DELETE, WITH_KEY, STAGED),
}
ALL, READS_AND_KEYED, NONE = {*CALLS}, {"read", "keyed write", "keyed delete"}, set()
FINAL = dict.fromkeys([300, 304, 307, 308, 405, 410, 418, 451, 499], errors.APIError)
FINAL |= {400: errors.BadRequest, 401: errors.Unauthenticated, 403: errors.PermissionDenied}
FINAL |= {404: errors.NotFound, 409: errors.Conflict, 422: errors.Unprocessable}


def cut(status, failure):
    return reply(status, b'{"data": [', broken=failure)


# Of an error, the class; of one that differs for a write, both.
CUT = (errors.ConnectionLost, errors.UnexpectedResponse)


@each_case("call", *CALLS)
@each_case(
    ("outcome", "error", "retried", "is_unknown"),
    (REFUSED, errors.ConnectionFailed, ALL, False),
    (LOST, errors.ConnectionLost, READS_AND_KEYED, True),
    (core_helpers.TIMED_OUT, errors.CallTimeout, READS_AND_KEYED, True),
    *[(cut(200, failure), CUT, READS_AND_KEYED, True) for failure in (LOST, REFUSED)],
    (cut(201, core_helpers.TIMED_OUT), errors.CallTimeout, READS_AND_KEYED, True),
    (cut(400, LOST), errors.BadRequest, NONE, False),
    (reply(429), errors.RateLimited, ALL, False),
    (reply(408), errors.APIError, READS_AND_KEYED, True),
    *[(reply(n), errors.ServerError, READS_AND_KEYED, True) for n in (500, 502, 504, 520, 599)],
    *[(reply(status), errors.ServerError, NONE, True) for status in (501, 505)],
    *[(reply(n), errors.APIError, NONE, True) for n in (0, 99, 199, 301, 302, 303, 600)],
    *[(reply(status), error, NONE, False) for status, error in FINAL.items()],
)
def test_outcome_decides_retries_and_error(call, outcome, error, retried, is_unknown):
    made, options, success = CALLS[call]
    of_read, of_write = error if isinstance(error, tuple) else (error, error)
    attempts = 3 if call in retried else 1
    run = drive(made, *[outcome] * 3, success, options=options)
    assert [send.attempt for send in run.sends] == [1, 2, 3][:attempts]
    assert (run.error.attempts, run.error.status) == (attempts, getattr(outcome, "status", None))
    assert isinstance(run.error, of_read if call == "read" else of_write)
    is_unknown = is_unknown and call != "read"
    assert is_unknown or type(run.error) in (of_read, of_write)
    assert isinstance(run.error, errors.OutcomeUnknown) is run.error.outcome_unknown is is_unknown
    assert ("draft may have been staged" in str(run.error)) is is_unknown
    assert ("dashboard" in str(run.error)) is is_unknown
    if call in retried:
        assert drive(made, outcome, success, options=options).value.response.attempts == 2
    once = attrs.evolve(options or options_of(), retry=RetryPolicy(max_retries=0))
    run = drive(made, outcome, success, options=once)
    assert (len(run.sends), run.sleeps, run.error.attempts) == (1, [], 1)


@each_case(
    "outcome",
    *[reply(201, body) for body in (b"", b"<html>welcome</html>", b'{"draft_id": "draft_7c')],
    *[reply(201, body) for body in ([DRAFT], core_helpers.LISTING, {**DRAFT, "diff": None})],
    *[reply(204), reply(200, DRAFT, defect="its compressed data is damaged")],
)
@each_case("call", "write", "delete", "keyed write")
def test_write_with_an_invalid_body_is_outcome_unknown_without_a_retry(call, outcome):
    made, options, success = CALLS[call]
    run = drive(made, outcome, success, options=options)
    assert len(run.sends) == 1
    assert isinstance(run.error, errors.OutcomeUnknown)
    assert isinstance(run.error, errors.UnexpectedResponse)
    assert run.error.outcome_unknown is True
    assert "dashboard" in str(run.error)


@each_case("outcome", reply(200, b"not JSON"), reply(200, core_helpers.LISTING, defect="damaged"))
def test_read_with_an_invalid_body_is_an_error_without_a_retry(outcome):
    run = drive(READ, outcome, LISTED)
    assert type(run.error) is errors.UnexpectedResponse
    assert (len(run.sends), run.error.outcome_unknown) == (1, False)
    assert "draft" not in str(run.error)


@each_case(
    "outcome",
    reply(201, {"draft_id": "draft_7c2e", "status": 7}),
    reply(201, {"draft_id": "draft_7c2e"}, broken=LOST),
    reply(201, {"draft_id": "draft_7c2e"}, broken=core_helpers.TIMED_OUT),
    reply(500, {"draft_id": "draft_7c2e"}),
)
def test_outcome_unknown_keeps_the_draft_id_of_an_invalid_body(outcome):
    for write in (WRITE, core_helpers.DELETE):
        error = drive(write, outcome).error
        assert error.draft_id == "draft_7c2e"
        assert "draft_7c2e" in str(error)


def test_error_follows_from_the_last_outcome():
    error = drive(READ, LOST, reply(503), REFUSED).error
    assert type(error) is errors.ConnectionFailed
    assert error.attempts == 3
    run = drive(WRITE, REFUSED, LOST, STAGED)
    assert len(run.sends) == 2
    assert isinstance(run.error, errors.OutcomeUnknown)


ENDS = [(REFUSED, Exception), (reply(429), errors.APIError), (reply(400), errors.APIError)]


@each_case(("last", "family"), *ENDS)
def test_unknown_outcome_stays_unknown_after_failed_retries(last, family):
    error = drive(WRITE, LOST, last, last, options=WITH_KEY).error
    assert isinstance(error, errors.OutcomeUnknown)
    assert isinstance(error, family)
    assert (error.outcome_unknown, error.status) == (True, getattr(last, "status", None))
    assert "draft may have been staged" in str(error)


def test_retried_statuses_are_those_of_the_policy():
    options = options_of(retry=RetryPolicy(statuses=frozenset({418})))
    assert drive(READ, reply(418), LISTED, options=options).value is not None
    assert drive(READ, reply(503), LISTED, options=options).error.status == 503


# Time.


def test_each_attempt_gets_the_time_that_is_left():
    options = options_of(timeout=10.0)
    slow = [core_helpers.Timed(seconds, LOST) for seconds in (4.0, 3.0)]
    run = drive(READ, *slow, LISTED, options=options, random=0.5)
    assert run.sleeps == [0.25, 0.5]
    assert [send.time_left for send in run.sends] == [10.0, 5.75, 2.25]


@each_case("outcome", core_helpers.TIMED_OUT, cut(200, core_helpers.TIMED_OUT))
@each_case(
    ("seconds", "timeout", "retry", "advice"),
    ([4.0] * 3, 30.0, {"attempt_timeout": 4.0}, "a longer RetryPolicy(attempt_timeout=…)"),
    ([4.0, 4.0, 2.0], 10.0, {"attempt_timeout": 4.0}, "Call again, or allow a longer timeout"),
    ([4.0], 30.0, {"attempt_timeout": 4.0, "max_retries": 0}, "RetryPolicy(attempt_timeout=…)"),
    ([10.0], 10.0, {}, "The first attempt took the whole timeout, so there was no retry; "),
)
def test_advice_names_the_limit_that_ended_the_attempts(outcome, seconds, timeout, retry, advice):
    options = options_of(retry=RetryPolicy(**retry), timeout=timeout)
    run = drive(READ, *[core_helpers.Timed(each, outcome) for each in seconds], options=options)
    assert advice in str(run.error)
    assert len(run.sends) == len(seconds)


@each_case("call", READ, WRITE)
def test_error_is_the_last_response_if_no_slot_is_free_for_a_retry(call):
    limited = reply(429, headers={"retry-after": "1", "x-request-id": "id"})
    run = drive(call, limited, core_helpers.NO_SLOT)
    assert type(run.error) is errors.RateLimited
    assert (run.error.request_id, run.error.attempts) == ("id", 1)


@each_case("call", READ, WRITE)
@each_case("overslept", 0.5, 1.0, 60.0)
def test_retry_is_not_sent_if_its_sleep_overran_the_timeout(call, overslept):
    limited = reply(429, headers={"retry-after": "1.5"})
    options, queue = options_of(timeout=2.0), [lambda: None, pytest.fail]  # it queues only once
    run = drive(call, limited, STAGED, options=options, overslept=overslept, queue=queue)
    assert len(run.sends) == 1
    assert type(run.error) is errors.RateLimited


# What a result has of its response.


def test_request_id_headers_are_set_by_convention():
    options = options_of(conventions=Conventions(request_id_headers=["X-Trace"]))
    listed = reply(200, core_helpers.LISTING, headers={"x-trace": "t", "x-request-id": "no"})
    assert drive(READ, listed, options=options).value.response.request_id == "t"
