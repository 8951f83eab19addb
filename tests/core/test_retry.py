import email.utils
import time

import pytest
from cases import each_case
from core_helpers import LISTED, LOST, REFUSED, STAGED, TIMED_OUT, reply
from hypothesis import given, strategies as st

from adclient._core.retry import backoff, may_have_reached_server, retry_after
from adclient.options import RetryPolicy

RECEIVED_AT = 1_000_000_000.0  # Sun, 09 Sep 2001 01:46:40 GMT
POLICY = RetryPolicy(max_retries=2)


def seconds_of(text, date=None):
    headers = {"retry-after": text} | ({} if date is None else {"date": date})
    return retry_after(reply(429, headers=headers, received_at=RECEIVED_AT))


@each_case(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("7", 7.0),
        (" 7 ", 7.0),
        ("0.25", 0.25),
        ("2.5", 2.5),
        ("00120", 120.0),
        ("Sun, 09 Sep 2001 01:46:45 GMT", 5.0),
        ("Sunday, 09-Sep-01 01:46:45 GMT", 5.0),
        ("Sun Sep  9 01:46:45 2001", 5.0),
        ("Sun, 09 Sep 2001 01:46:45 -0000", 5.0),
        ("Sun, 09 Sep 2001 03:46:45 +0200", 5.0),
        ("Sun, 09 Sep 2001 01:46:00 GMT", 0.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
    ],
)
def test_retry_after_is_read_as_seconds(text, seconds):
    assert seconds_of(text) == seconds


@each_case(
    "text",
    [
        *["", " ", ";", "-5", "-0.5", "nan", "NaN", "inf", "Infinity", "1e3", "0x10", "٣"],
        *["five", "1,5", "5s", "1 2 3", "Mon", "Sun, 99 Sep 2001 99:99:99 GMT"],
    ],
)
def test_invalid_retry_after_is_none(text):
    assert seconds_of(text) is None


TOO_LARGE = [
    "Sun, 06 Nov 1994 08:49:37 +9999999999999999",
    "Sun, 06 Nov 1994 08:49:37 -9999999999999999",
    "Sun, 06 Nov 99999999999999999999 08:49:37 GMT",
]


@pytest.mark.parametrize("text", TOO_LARGE)
def test_retry_after_with_a_date_out_of_range_is_none(text):
    assert seconds_of(text) is None
    assert seconds_of("Sun, 09 Sep 2001 01:46:45 GMT", date=text) == 5.0
    refused = reply(429, headers={"retry-after": text})
    assert (
        backoff(POLICY, refused, attempt=1, is_idempotent=False, random=1.0) == POLICY.backoff_first
    )


# What the standard library says of a malformed date has changed from one version to the next.
@pytest.mark.parametrize("fault", [ValueError, TypeError, IndexError, OverflowError])
def test_retry_after_is_none_if_the_date_parser_raises(monkeypatch, fault):
    def stumble(_):
        raise fault

    monkeypatch.setattr(email.utils, "parsedate_to_datetime", stumble)
    assert seconds_of("Friday, -Nov-82 16:14:55 EST") is None


@each_case(
    "text",
    [
        *["Friday, -Nov-82 16:14:55 EST", "Friday, Nov--82 16:14:55 EST"],
        *["Friday, 19-Nov- 16:14:55 EST", "17 June , 2022", "Wed, 3 Apr 2002 12.34.56.78+0800"],
    ],
)
def test_retry_after_with_an_incomplete_date_is_none(text):
    assert seconds_of(text) is None


@pytest.mark.parametrize("text", ["9" * 13, "1" + "0" * 400, "1" + "0" * 5000])
def test_retry_after_of_many_digits_stays_large(text):
    assert seconds_of(text) >= 10**12


@pytest.mark.parametrize("date", ["Sun, 09 Sep 2001 00:00:00 GMT", "Fri, 20 Nov 2026 00:00:00 GMT"])
def test_retry_after_date_counts_from_the_date_of_the_response(date):
    later = date.replace("00:00:00", "00:00:09")
    assert seconds_of(later, date) == 9.0


def test_retry_after_date_counts_from_the_receipt_if_the_date_is_invalid():
    assert seconds_of("Sun, 09 Sep 2001 01:46:45 GMT", date="yesterday") == 5.0


@pytest.fixture
def far_from_greenwich(monkeypatch):
    monkeypatch.setenv("TZ", "XXX+9")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone cannot be set here")
@pytest.mark.usefixtures("far_from_greenwich")
def test_retry_after_date_does_not_depend_on_the_local_time_zone():
    assert seconds_of("Sun Sep  9 01:46:45 2001") == 5.0
    assert seconds_of("Sun, 09 Sep 2001 01:46:45 GMT") == 5.0


@given(st.text(max_size=40), st.none() | st.text(max_size=40))
def test_retry_after_never_raises(text, date):
    seconds = seconds_of(text, date)
    assert seconds is None or seconds >= 0


@given(
    st.from_regex(
        r"[A-Z][a-z]{2}, [0-9]{1,3} (Jan|Sep|Dec) [0-9]{1,6} "
        r"[0-9]{1,3}:[0-9]{1,3}:[0-9]{1,3} ([+-][0-9]{1,9}|GMT)",
        fullmatch=True,
    )
)
def test_malformed_retry_after_date_never_raises(text):
    seconds = seconds_of(text, text)
    assert seconds in (None, 0.0)


@pytest.mark.parametrize("attempt", [1, 2])
def test_backoff_is_a_number_while_retries_are_left(attempt):
    assert backoff(POLICY, REFUSED, attempt=attempt, is_idempotent=True, random=0.5) is not None


@pytest.mark.parametrize("attempt", [3, 4, 100])
def test_backoff_is_none_without_retries_left(attempt):
    assert backoff(POLICY, REFUSED, attempt=attempt, is_idempotent=True, random=0.5) is None


def test_backoff_of_a_late_attempt_is_bounded():
    policy = RetryPolicy(max_retries=10**9)
    assert backoff(policy, REFUSED, attempt=10**6, is_idempotent=True, random=1.0) == 8.0


@pytest.mark.parametrize(
    ("first", "longest", "expected"), [(0.0, 8.0, 0.0), (3.0, 2.0, 2.0), (0.1, 8.0, 0.1)]
)
def test_backoff_follows_the_policy(first, longest, expected):
    policy = RetryPolicy(backoff_first=first, backoff_longest=longest)
    assert backoff(policy, REFUSED, attempt=1, is_idempotent=False, random=1.0) == expected


@each_case(
    ("outcome", "may_have_reached"),
    [
        (REFUSED, False),
        (LOST, True),
        (TIMED_OUT, True),
        (STAGED, True),
        (LISTED, True),
        (reply(99), True),
        (reply(199), True),
        (reply(300), False),
        (reply(303), True),
        (reply(308), False),
        (reply(400), False),
        (reply(408), True),
        (reply(499), False),
        (reply(409), False),
        (reply(429), False),
        (reply(500), True),
        (reply(503), True),
        (reply(503, headers={"retry-after": "1"}), True),
    ],
)
def test_request_may_have_reached_the_server_only_after_these_outcomes(outcome, may_have_reached):
    assert may_have_reached_server(outcome) is may_have_reached
