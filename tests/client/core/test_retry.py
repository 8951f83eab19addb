"""How long to wait before a retry, the quota of retries, and shared rate limits."""

import logging
import time

import attrs
import core_helpers
import pytest
from cases import each_case
from core_helpers import DRAFT, LISTED, READ, REFUSED, STAGED, WRITE, drive, options_of, reply

from adclient.conventions import Conventions
from adclient.errors import CallTimeout, RateLimited
from adclient.options import RetryPolicy

ONCE = options_of(max_retries=0)
FAR = "Sun, 06 Nov 1994 08:49:37 +9999999999999999"
RECEIVED_AT = 1_000_000_000.0  # Sun, 09 Sep 2001 01:46:40 GMT


def limited(seconds):
    return reply(429, headers={"retry-after": str(seconds)})


# Retry-After.


def seconds_of(text, date=None):
    headers = {"retry-after": text} | ({} if date is None else {"date": date})
    response = reply(429, headers=headers, received_at=RECEIVED_AT)
    return drive(READ, response, options=ONCE).error.retry_after


@pytest.fixture
def far_from_greenwich(monkeypatch):
    set_zone = getattr(time, "tzset", lambda: None)
    monkeypatch.setenv("TZ", "XXX+9")
    set_zone()
    yield
    monkeypatch.undo()
    set_zone()


@pytest.mark.usefixtures("far_from_greenwich")
@each_case(
    ("text", "seconds"),
    *[("0", 0.0), ("7", 7.0), (" 7 ", 7.0), ("0.25", 0.25), ("2.5", 2.5), ("00120", 120.0)],
    *[("9" * 13, 1e12), ("1" + "0" * 5000, 1e12)],
    *[("1000000007", 7.0), ("1000000007500", 7.5), ("999999993", 0.0), ("900000000", 9e8)],
    ("Sun, 09 Sep 2001 01:46:45 GMT", 5.0),
    ("Sunday, 09-Sep-01 01:46:45 GMT", 5.0),
    ("Sun, 09 Sep 2001 01:46:45 -0000", 5.0),
    ("Sun, 09 Sep 2001 01:46:00 GMT", 0.0),
    *[(text, None) for text in ("", " ", ";", "-5", "-0.5", "nan", "NaN", "inf", "Infinity")],
    *[(text, None) for text in ("1e3", "0x10", "٣", "five", "1,5", "5s", "1 2 3", "Mon")],
    *[(text, None) for text in ("Sun, 99 Sep 2001 99:99:99 GMT", "17 June , 2022")],
    *[(f"Friday, {text} 16:14:55 EST", None) for text in ("-Nov-82", "19-Nov-")],
    ("Wed, 3 Apr 2002 12.34.56.78+0800", None),
    (FAR, None),
)
def test_retry_after_is_read_as_seconds_or_none(text, seconds):
    assert seconds_of(text) == seconds


@each_case("date", "Sun, 09 Sep 2001 00:00:00 GMT", "Fri, 20 Nov 2026 00:00:00 GMT")
def test_retry_after_date_counts_from_the_date_of_the_response(date):
    later = date.replace("00:00:00", "00:00:09")
    assert seconds_of(later, date) == 9.0
    assert seconds_of("Sun, 09 Sep 2001 01:46:45 GMT", date=FAR) == 5.0


# Limits by convention.

LIMITS = Conventions(
    rate_limit_errors=[403, "17"],
    retry_after_headers=["Retry-After-Ms", "x-ratelimit-reset", "ratelimit", "retry-after"],
)


@each_case(("headers", "seconds"),
    ({"retry-after-ms": "2500", "retry-after": "3"}, 2.5),
    ({"retry-after-ms": "soon", "retry-after": "3"}, 3.0),
    *[({"retry-after-ms": text}, 30.0) for text in ("1000000030", "1000000030000")],
    *[({"x-ratelimit-reset": text}, 30.0) for text in ("30", "1000000030", "1000000030000")],
    ({"ratelimit": "limit=100, remaining=0, reset=30"}, 30.0),
    ({"ratelimit": '"second";r=0;t=1, "minute";r=0;t=30, "hour";r=7;t=3600'}, 30.0),
    ({"ratelimit": "Limit=100, Reset=30, Remaining=0, Limit=5, Reset=9, Remaining=4"}, 30.0),
    ({"ratelimit": '"a";t=30;r=0, b;r=1;t=60, "c;r=0;t=60";r=0;pk=:abc=:;t=9.5'}, 30.0),
    *[({"ratelimit": text}, None) for text in ('"minute";r=1;t=30', '"a";r=0, "b";t=60')],
    ({"ratelimit": "r=" + "0" * 300_000, "retry-after-ms": "r=0," * 100_000}, None),
    ({}, None),
)  # fmt: skip
def test_headers_of_a_limit_are_set_by_convention(headers, seconds):
    response = reply(429, headers=headers, received_at=RECEIVED_AT)
    options = options_of(conventions=LIMITS, max_retries=0)
    assert drive(READ, response, options=options).error.retry_after == seconds
    down = attrs.evolve(response, status=503)  # which is no limit, so only one header counts
    expected = float(headers["retry-after"]) if "retry-after" in headers else None
    assert drive(READ, down, options=options).error.retry_after == expected


@each_case(("call", "success"), (READ, LISTED), (WRITE, STAGED))
@each_case(
    ("status", "body"),
    *[(403, b""), (200, {"code": 17}), (400, {"error": {"code": "17"}}), (503, {"code": "17"})],
)
def test_limit_by_convention_is_taken_like_a_429(call, success, status, body):
    limit = reply(status, body, headers={"x-ratelimit-reset": "8"})
    run = drive(call, *[limit] * 3, success, options=options_of(conventions=LIMITS))
    assert (run.sleeps, run.value.response.attempts) == ([8.0] * 3, 4)
    gate, short = core_helpers.Pauses(), options_of(conventions=LIMITS, timeout=5)
    error = drive(call, limit, options=short, gate=gate).error
    assert (type(error), error.status, error.retry_after) == (RateLimited, status, 8.0)
    assert drive(call, success, gate=gate).sleeps == [8.0]


def test_success_that_is_a_limit_is_redacted_and_one_with_a_draft_or_page_is_none():
    options = options_of(conventions=LIMITS)
    for code in ({"code": "17"}, {"errors": [{"code": 17}]}, {"details": {"type": "17"}}):
        assert drive(WRITE, reply(202, DRAFT | code), options=options).value.draft_id
        assert drive(READ, reply(200, core_helpers.LISTING | code), options=options).value.data
    for nested in ({"draft_id": "d"}, {"result": DRAFT}, {"data": DRAFT}, {"padding": "x" * 9999}):
        assert drive(WRITE, reply(200, nested | code), options=options).error.outcome_unknown
    for response in (reply(201, {"code": "17"}), reply(200, b"{")):
        assert drive(WRITE, response, options=options).error.outcome_unknown
    empty = {"data": [], "page": {"next": None}, "draft_id": "", "draft": {"draft_id": None}}
    limit = reply(200, {"code": "17", "message": "canary", **empty})
    error = drive(READ, limit, limit, limit, options=options, tokens=["canary"] * 3).error
    assert (error.status, error.message, "canary" in error.body) == (200, "***", False)


# Backoff.

PATIENT = options_of(timeout=1e9, retry=RetryPolicy(max_retries=1100, quota=None))


def test_backoff_doubles_up_to_backoff_longest():
    sleeps = drive(READ, *[REFUSED] * 1101, options=PATIENT, random=0.999).sleeps
    longest = [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    assert sleeps[:7] == pytest.approx([0.999 * seconds for seconds in longest])
    assert len(sleeps) == 1100
    assert sleeps[-1] == sleeps[6]  # where 2 ** 1100 would be too large for a float
    asked = [limited(0.001)] * 6  # which are no retries
    assert drive(READ, *asked, REFUSED, LISTED, options=PATIENT, random=0.999).sleeps[6] < 0.5


@each_case(
    ("asked", "random", "most"),
    *[(4.0, 0.0, 0.0), (4.0, 0.999, 0.4), (100.0, 0.999, 1.0), (0.0, 0.999, 0.5)],
)
def test_jitter_is_added_to_retry_after(asked, random, most):
    (waited,) = drive(READ, limited(asked), LISTED, options=PATIENT, random=random).sleeps
    assert waited == pytest.approx(asked + most, abs=0.01)
    assert waited >= asked


# A 429 that says when to come back.


@each_case(("call", "outcome"), (READ, LISTED), (WRITE, STAGED))
def test_429_with_retry_after_is_waited_for_and_takes_no_retry(call, outcome):
    options = options_of(timeout=120, retry=RetryPolicy(max_retries=2, quota=2))
    limits = [limited(10)] * 5
    run = drive(call, *limits, REFUSED, reply(429), limited(10), outcome, options=options)
    assert run.sleeps == [10.0] * 5 + [0.0, 0.0, 10.0]
    assert run.value.response.attempts == 9
    error = drive(call, *limits, *[limited(0)] * 3, options=options).error
    assert (type(error), error.attempts, error.elapsed) == (RateLimited, 8, 50.0)
    assert drive(call, limited(10), options=ONCE).error.attempts == 1
    error = drive(call, limited(10), limited(110), options=options).error
    assert (error.attempts, error.retry_after, error.elapsed) == (2, 110.0, 10.0)
    # A service that always asks for a moment gets few requests.
    assert 5 < drive(call, *[limited(0.001)] * 50, random=0.5).error.attempts < 15
    no_backoff = options_of(retry=RetryPolicy(backoff_first=0))
    assert drive(call, *[limited(0.001)] * 200, options=no_backoff).error.attempts < 151


# The quota.

DOWN = reply(503, headers={"retry-after": "1"})
FIVE = options_of(retry=RetryPolicy(quota=5))


@each_case(
    ("outcomes", "sends", "used"),
    *[([outcome] * 2, 2, 5) for outcome in (REFUSED, DOWN, reply(429))],
    *[([DOWN, LISTED], 2, 4), ([LISTED], 1, 3), ([reply(400)], 1, 4)],
)
def test_quota_limits_the_retries_of_all_calls(outcomes, sends, used):
    quota = core_helpers.RetryQuota()
    quota.used = 4
    run = drive(READ, *outcomes, options=FIVE, quota=quota)
    assert (len(run.sends), quota.used) == (sends, used)


def test_call_without_quota_raises_at_once_and_says_so():
    run = drive(READ, DOWN, options=options_of(retry=RetryPolicy(quota=0)))
    assert run.sleeps == []
    assert ", no retry, as the quota is used up, " in str(run.error)
    quota = core_helpers.RetryQuota()  # of a client whose retries are not counted
    options = options_of(retry=RetryPolicy(quota=None))
    assert len(drive(READ, DOWN, DOWN, DOWN, options=options, quota=quota).sends) == 3
    assert quota.used == 0


# Rate limits that calls share.

OTHER = attrs.evolve(READ, account_id="account_b204")
SHORT_TIMEOUT = options_of(timeout=5.0)


def after(outcome, options=SHORT_TIMEOUT):
    """Return a gate that noted one failed call; the clock of each drive starts at 1000."""
    gate = core_helpers.Pauses()
    assert drive(READ, outcome, options=options, gate=gate).error is not None
    return gate


@each_case(("call", "outcome"), (READ, LISTED), (WRITE, STAGED))
@each_case(("timeout", "random", "slept"), (30.0, 0.0, 8.0), (9.0, 0.5, 8.4))
def test_queued_call_waits_for_a_rate_limit_noted_meanwhile(call, outcome, timeout, random, slept):
    """A call waits if the longest wait, of 8.8 seconds, fits its timeout."""
    gate = core_helpers.Pauses()
    queue = [lambda: drive(call, limited(8), options=SHORT_TIMEOUT, gate=gate)]
    options = options_of(timeout=timeout)
    run = drive(call, outcome, options=options, gate=gate, queue=queue, random=random)
    assert run.sleeps == [slept]
    assert [send.attempt for send in run.sends] == [1]
    assert run.value.response.attempts == 1


def test_nothing_is_sent_if_the_wait_used_all_the_time():
    run = drive(READ, gate=after(limited(8)), overslept=30.0)
    assert (run.sleeps, run.sends) == ([8.0], [])
    assert isinstance(run.error, CallTimeout)
    assert "waiting took the whole timeout" in str(run.error)
    assert (run.error.attempts, run.error.elapsed) == (0, 38.0)


@each_case(
    ("outcome", "retry"),
    *[(outcome, RetryPolicy()) for outcome in (REFUSED, reply(429))],
    (reply(503, headers={"retry-after": "8"}), RetryPolicy()),
    # Calls that do not retry a 429 do not wait.
    *[(limited(8), RetryPolicy(max_retries=0)), (limited(8), RetryPolicy(statuses={503}))],
)
def test_outcome_that_is_no_rate_limit_for_a_call_does_not_delay_it(outcome, retry):
    gate = after(outcome, options=ONCE)
    assert drive(READ, LISTED, options=options_of(retry=retry), gate=gate).sleeps == []


def test_longest_rate_limit_counts_and_an_expired_one_is_removed():
    gate = after(limited(8))
    drive(READ, limited(6), options=SHORT_TIMEOUT, gate=gate)
    assert drive(READ, LISTED, gate=gate).sleeps == [8.0]
    for now, pauses in ((1007.0, 2), (1008.0, 1)):
        gate.begin("other", now, 8.0)
        assert len(gate.ends) == pauses


def test_wait_for_others_is_logged(caplog):
    caplog.set_level(logging.INFO, "adclient")
    drive(READ, LISTED, gate=after(limited(8)))
    waits = [text.partition("waits ")[2] for text in caplog.messages if "waits" in text]
    assert waits == ["8.000 s for a shared rate limit"]
