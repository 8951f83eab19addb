import attrs
import pytest
from core_helpers import (
    LISTED,
    READ,
    REFUSED,
    STAGED,
    WRITE,
    RateLimitGate,
    drive,
    options_of,
    reply,
)

from adclient.conventions import Conventions
from adclient.errors import CallTimeout
from adclient.options import RetryPolicy

OTHER = attrs.evolve(READ, account_id="account_b204")
LIMITED = reply(429, headers={"retry-after": "8"})
SHORT_TIMEOUT = options_of(timeout=5.0)


def scoped(scope, **settings):
    return options_of(conventions=Conventions(rate_limit_scope=scope), **settings)


def after(outcome, call=READ, options=SHORT_TIMEOUT):
    """Return a gate that noted one failed call; the clock of each drive starts at 1000."""
    gate = RateLimitGate()
    assert drive(call, outcome, options=options, gate=gate).error is not None
    return gate


@pytest.mark.parametrize(("call", "outcome"), [(READ, LISTED), (WRITE, STAGED)])
def test_call_waits_for_the_rate_limit_of_another_call(call, outcome):
    run = drive(call, outcome, gate=after(LIMITED))
    assert run.sleeps == [8.0]
    assert len(run.sends) == 1
    assert run.sends[0].time_left == 22.0
    assert run.value.response.attempts == 1


@pytest.mark.parametrize(("call", "outcome"), [(READ, LISTED), (WRITE, STAGED)])
def test_queued_call_waits_for_a_rate_limit_noted_meanwhile(call, outcome):
    gate = RateLimitGate()

    def limit_another_call():
        drive(call, LIMITED, options=SHORT_TIMEOUT, gate=gate)

    run = drive(call, outcome, gate=gate, queue=[limit_another_call])
    assert run.sleeps == [8.0]
    assert [send.attempt for send in run.sends] == [1]
    assert run.value.response.attempts == 1


def test_queued_call_with_time_for_the_longest_wait_waits():
    gate = RateLimitGate()
    queue = [lambda: drive(READ, LIMITED, options=SHORT_TIMEOUT, gate=gate)]
    options = options_of(timeout=9.0)  # the longest wait is 8.8 seconds
    run = drive(READ, LISTED, options=options, gate=gate, queue=queue, random=0.5)
    assert run.sleeps == [8.4]
    assert run.error is None


def test_call_whose_timeout_is_below_the_wait_is_sent_at_once():
    run = drive(READ, LIMITED, options=SHORT_TIMEOUT, gate=after(LIMITED))
    assert run.sleeps == []
    assert run.error.status == 429


def test_longest_of_several_rate_limits_is_waited_for():
    gate = after(LIMITED)
    drive(READ, reply(429, headers={"retry-after": "6"}), options=SHORT_TIMEOUT, gate=gate)
    assert drive(READ, LISTED, gate=gate).sleeps == [8.0]


def test_nothing_is_sent_if_the_wait_used_all_the_time():
    run = drive(READ, gate=after(LIMITED), overslept=30.0)
    assert (run.sleeps, run.sends) == ([8.0], [])
    assert isinstance(run.error, CallTimeout)
    assert "waiting took the whole timeout" in str(run.error)
    assert (run.error.attempts, run.error.elapsed) == (0, 38.0)


@pytest.mark.parametrize(
    ("scope", "own", "other"), [("account", [8.0], []), ("client", [8.0], [8.0]), ("call", [], [])]
)
def test_rate_limit_scope_decides_which_calls_wait(scope, own, other):
    gate = after(LIMITED, options=scoped(scope, timeout=5.0))
    assert drive(READ, LISTED, options=scoped(scope), gate=gate).sleeps == own
    assert drive(OTHER, LISTED, options=scoped(scope), gate=gate).sleeps == other


@pytest.mark.parametrize(
    "outcome",
    [REFUSED, reply(429), reply(503, headers={"retry-after": "8"})],
    ids=["no response", "no Retry-After", "no rate limit"],
)
def test_outcome_without_a_rate_limit_pauses_no_call(outcome):
    once = options_of(max_retries=0)
    assert drive(READ, LISTED, gate=after(outcome, options=once)).sleeps == []


@pytest.mark.parametrize(
    "retry", [RetryPolicy(max_retries=0), RetryPolicy(statuses=frozenset({503}))]
)
def test_call_that_does_not_retry_a_429_does_not_wait(retry):
    assert drive(READ, LISTED, options=options_of(retry=retry), gate=after(LIMITED)).sleeps == []


def test_expired_rate_limit_is_removed():
    gate = after(LIMITED)
    gate.note(OTHER, options_of(), LIMITED, 1008.0)
    assert len(gate.ends) == 1
