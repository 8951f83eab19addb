import time

import pytest
from cases import each_case
from core_helpers import LISTED, READ, REFUSED, RetryQuota, drive, options_of, reply
from hypothesis import given, strategies as st

from adclient.options import RetryPolicy

RECEIVED_AT = 1_000_000_000.0  # Sun, 09 Sep 2001 01:46:40 GMT


def seconds_of(text, date=None):
    headers = {"retry-after": text} | ({} if date is None else {"date": date})
    limited = reply(429, headers=headers, received_at=RECEIVED_AT)
    return drive(READ, limited, options=options_of(max_retries=0)).error.retry_after


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
    [
        ("0", 0.0),
        ("7", 7.0),
        (" 7 ", 7.0),
        ("0.25", 0.25),
        ("2.5", 2.5),
        ("00120", 120.0),
        ("9" * 13, 1e12),
        ("1" + "0" * 5000, 1e12),
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
        *["Friday, -Nov-82 16:14:55 EST", "Friday, 19-Nov- 16:14:55 EST"],
        *["17 June , 2022", "Wed, 3 Apr 2002 12.34.56.78+0800"],
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


@pytest.mark.parametrize("date", ["Sun, 09 Sep 2001 00:00:00 GMT", "Fri, 20 Nov 2026 00:00:00 GMT"])
def test_retry_after_date_counts_from_the_date_of_the_response(date):
    later = date.replace("00:00:00", "00:00:09")
    assert seconds_of(later, date) == 9.0


@given(st.text(max_size=40), st.none() | st.text(max_size=40))
def test_retry_after_never_raises(text, date):
    seconds = seconds_of(text, date)
    assert seconds is None or seconds >= 0


def test_backoff_of_a_late_attempt_is_bounded():
    options = options_of(retry=RetryPolicy(max_retries=1100), timeout=1e9)
    assert drive(READ, *[REFUSED] * 1101, options=options, random=0.5).sleeps[-1] == 4.0


DOWN = reply(503, headers={"retry-after": "1"})
LIMITED = reply(429, headers={"retry-after": "1"})


def allowing(quota):
    return options_of(retry=RetryPolicy(quota=quota))


@each_case(
    ("outcomes", "sends", "used"),
    [
        ([REFUSED, REFUSED], 2, 5),
        ([DOWN, DOWN], 2, 5),
        ([reply(429), reply(429)], 2, 5),
        ([DOWN, LISTED], 2, 4),
        ([LISTED], 1, 3),
        ([reply(400)], 1, 4),
        ([LIMITED, LIMITED, LISTED], 3, 3),  # the service says when to come back
    ],
)
def test_quota_limits_the_retries_of_all_calls(outcomes, sends, used):
    quota = RetryQuota()
    quota.used = 4
    run = drive(READ, *outcomes, options=allowing(5), quota=quota)
    assert (len(run.sends), quota.used) == (sends, used)


def test_call_without_quota_raises_at_once_and_says_so():
    run = drive(READ, DOWN, options=allowing(0))
    assert run.sleeps == []
    assert ", no retry, as the quota is used up, " in str(run.error)


def test_retries_without_a_quota_are_not_counted():
    quota = RetryQuota()
    assert len(drive(READ, DOWN, DOWN, DOWN, options=allowing(None), quota=quota).sends) == 3
    assert quota.used == 0
