import attrs
import pytest
from cases import each_case
from core_helpers import LISTED, READ, REFUSED, STAGED, WRITE, Timed, drive, options_of, reply

from adclient._core.retry import RateLimitGate
from adclient.conventions import Conventions
from adclient.errors import CallTimeout
from adclient.options import RetryPolicy

OTHER = attrs.evolve(READ, account_id="account_b204")
ASKED = reply(429, headers={"retry-after": "8"})
IMPATIENT = options_of(timeout=5.0)


def scoped(scope, **settings):
    return options_of(conventions=Conventions(rate_limit_scope=scope), **settings)


def after(outcome, call=READ, options=IMPATIENT):
    """What a call was told that could not wait for it; the clock of each drive starts at 1000."""
    gate = RateLimitGate()
    assert drive(call, outcome, options=options, gate=gate).error is not None
    return gate


@pytest.mark.parametrize(("call", "outcome"), [(READ, LISTED), (WRITE, STAGED)])
def test_a_call_waits_as_another_was_asked_to(call, outcome):
    run = drive(call, outcome, gate=after(ASKED))
    assert run.sleeps == [8.0]
    assert len(run.sends) == 1
    assert run.sends[0].time_left == 22.0
    assert run.value.response.attempts == 1


@pytest.mark.parametrize(("call", "outcome"), [(READ, LISTED), (WRITE, STAGED)])
def test_a_call_that_waits_for_its_turn_learns_of_it_too(call, outcome):
    gate = RateLimitGate()

    def another_is_refused():
        drive(call, ASKED, options=IMPATIENT, gate=gate)

    run = drive(call, outcome, gate=gate, queue=[another_is_refused])
    assert run.sleeps == [8.0]
    assert [send.attempt for send in run.sends] == [1]
    assert run.value.response.attempts == 1


@each_case("random", [0.0, 0.999])
@each_case("timeout", [7.9, 8.0, 8.1, 8.5, 8.8, 8.9])
def test_no_call_is_held_back_without_a_wait(timeout, random):
    gate = RateLimitGate()
    queue = [lambda: drive(READ, ASKED, options=IMPATIENT, gate=gate)]
    options = options_of(timeout=timeout)
    run = drive(READ, LISTED, options=options, gate=gate, queue=queue, random=random)
    assert run.value.response.attempts == 1
    assert len(run.sends) == 1
    assert len(run.sleeps) <= 1


def test_a_call_that_has_no_time_left_is_sent_when_its_turn_comes():
    gate = RateLimitGate()
    queue = [lambda: drive(READ, ASKED, options=IMPATIENT, gate=gate)]
    run = drive(READ, ASKED, options=IMPATIENT, gate=gate, queue=queue)
    assert (run.sleeps, len(run.sends)) == ([], 1)
    assert run.error.status == 429


def test_a_call_with_time_for_the_longest_wait_is_held_back_when_its_turn_comes():
    gate = RateLimitGate()
    queue = [lambda: drive(READ, ASKED, options=IMPATIENT, gate=gate)]
    options = options_of(timeout=9.0)  # the longest wait is 8.8 seconds
    run = drive(READ, LISTED, options=options, gate=gate, queue=queue, random=0.5)
    assert run.sleeps == [8.4]
    assert run.error is None


@pytest.mark.parametrize("random", [0.0, 0.5, 0.99])
def test_calls_do_not_come_back_in_step(random):
    run = drive(READ, LISTED, gate=after(ASKED), random=random)
    assert run.sleeps == [8.0 + random * 0.8]


def test_a_call_that_has_no_time_to_wait_is_sent():
    run = drive(READ, ASKED, options=IMPATIENT, gate=after(ASKED))
    assert run.sleeps == []
    assert run.error.status == 429


def test_the_pause_is_over_when_its_time_is():
    gate = after(ASKED)
    assert drive(READ, Timed(9.0, REFUSED), LISTED, gate=gate).sleeps == [8.0, 0.0]
    assert gate.wait(READ, options_of(), now=1008.0, random=lambda: 0.9) == 0.0


def test_the_longest_pause_counts():
    gate = after(ASKED)
    drive(READ, reply(429, headers={"retry-after": "6"}), options=IMPATIENT, gate=gate)
    assert drive(READ, LISTED, gate=gate).sleeps == [8.0]


def test_a_pause_that_grows_meanwhile_is_waited_for():
    gate = RateLimitGate()
    steps = iter([2.0, 3.0])

    def wait(*_, **__):
        return next(steps, 0.0)

    gate.wait, gate.ends = wait, {"": (0.0, 0.0)}
    assert drive(READ, LISTED, gate=gate).sleeps == [2.0, 3.0]


def test_a_pause_that_takes_all_the_time_sends_nothing():
    run = drive(READ, gate=after(ASKED), overslept=30.0)
    assert (run.sleeps, run.sends) == ([8.0], [])
    assert isinstance(run.error, CallTimeout)
    assert "waiting took all the time" in str(run.error)
    assert (run.error.attempts, run.error.elapsed) == (0, 38.0)


def test_a_call_that_was_asked_itself_does_not_wait_twice():
    assert drive(READ, ASKED, LISTED, random=0.5).sleeps == [8.4]


@pytest.mark.parametrize(
    ("scope", "own", "other"), [("account", [8.0], []), ("client", [8.0], [8.0]), ("call", [], [])]
)
def test_for_whom_it_speaks(scope, own, other):
    gate = after(ASKED, options=scoped(scope, timeout=5.0))
    assert drive(READ, LISTED, options=scoped(scope), gate=gate).sleeps == own
    assert drive(OTHER, LISTED, options=scoped(scope), gate=gate).sleeps == other


@pytest.mark.parametrize(
    "outcome",
    [REFUSED, reply(429), reply(503, headers={"retry-after": "8"})],
    ids=["no answer", "no Retry-After", "no rate limit"],
)
def test_nothing_else_makes_a_pause(outcome):
    once = options_of(max_retries=0)
    assert drive(READ, LISTED, gate=after(outcome, options=once)).sleeps == []


@pytest.mark.parametrize(
    "retry", [RetryPolicy(max_retries=0), RetryPolicy(statuses=frozenset({503}))]
)
def test_who_does_not_try_again_does_not_wait(retry):
    assert drive(READ, LISTED, options=options_of(retry=retry), gate=after(ASKED)).sleeps == []


def test_what_is_over_is_forgotten():
    gate = after(ASKED)
    gate.note(OTHER, options_of(), ASKED, 1008.0)
    assert len(gate.ends) == 1
