"""The arithmetic of a shared gate, on a model of its database."""

import attrs
import pytest
from hypothesis import given, strategies as st

from adclient._core.caps import BURST, SLACK, Caps, Place, Seen


@attrs.define
class Database:
    """The rows of one key, and its clock."""

    now: float = 1000.0
    paused_at: float = 0.0
    paused_until: float = 0.0
    next_at: float = 0.0
    places: dict[str, Place] = attrs.field(factory=dict)
    arrived: dict[str, float] = attrs.field(factory=dict)

    def alive(self, *, is_sent: bool) -> list[tuple[str, Place]]:
        found = self.places.items()
        return [
            it for it in found if it[1].is_sent is is_sent and it[1].at <= self.now < it[1].until
        ]

    def ask(self, caps: Caps, name: str = "a", longest: float = 30.0, random: float = 0.5):
        """Ask for a call, and keep what is decided."""
        arrived_at = self.arrived.setdefault(name, self.now)
        ahead = sum(place.at < arrived_at for _, place in self.alive(is_sent=False))
        under_way = sum(other != name for other, _ in self.alive(is_sent=True))
        state = (self.paused_at, self.paused_until, self.next_at)
        seen = Seen(self.now, *state, ahead, under_way)
        decision = caps.decide(seen, arrived_at, longest=longest, lease=10.0, random=random)
        self.places.pop(name, None)
        if decision.place is not None:
            self.places[name] = decision.place
        if decision.next_at is not None:
            self.next_at = decision.next_at
        if not decision.wait:
            del self.arrived[name]
        return decision


def test_without_caps_and_pauses_nothing_waits_or_is_kept() -> None:
    database = Database()
    assert [database.ask(Caps()).wait for _ in range(3)] == [0, 0, 0]
    assert (database.places, database.next_at) == ({}, 0.0)


@pytest.mark.parametrize(("now", "wait"), [(999.9, 0), (1000, 5.25), (1004, 1.25), (1005, 0)])
def test_pause_counts_from_its_begin_to_its_end_with_jitter(now, wait) -> None:
    """Before it began, the clock was set back."""
    database = Database(now, paused_at=1000, paused_until=1005)
    assert database.ask(Caps()).wait == wait
    assert database.ask(Caps(per_second=1, at_once=1)).wait == wait


def test_wait_that_does_not_fit_is_refused_and_keeps_nothing() -> None:
    paused = Database(paused_at=1000, paused_until=1060)
    refused = paused.ask(Caps(), longest=60)
    assert refused.reason == "the service asked for a pause, of which 60.5 s are left"
    assert refused.is_known
    slow, rare = Database(), Caps(per_second=0.1)
    assert slow.ask(rare).wait == 0
    refused = slow.ask(rare, "b", longest=9.8)
    assert refused.reason == "0.1 requests per second: 9.9 s to wait"
    assert refused.is_known
    full, one = Database(), Caps(at_once=1)
    full.ask(one)
    refused = full.ask(one, "b", longest=0.02)
    assert refused.reason == "no place free in time (1 at once)"
    assert not refused.is_known
    assert "b" not in slow.places.keys() | full.places.keys()


def test_rate_lets_a_tenth_of_a_second_through_at_once() -> None:
    database, caps = Database(), Caps(per_second=50)
    assert [database.ask(caps).wait for _ in range(6)] == [0] * 6
    assert database.ask(caps).wait == pytest.approx(0.02)


def test_waiting_calls_are_sent_in_their_order_even_if_the_first_is_late() -> None:
    database, caps = Database(), Caps(per_second=1)
    database.ask(caps)
    for name in ("first", "second"):
        database.now += 0.001
        database.ask(caps, name)
    database.now = 1001.5
    assert database.ask(caps, "second").wait == pytest.approx(0.9)
    assert database.ask(caps, "first").wait == 0
    database.now = 1002.41
    assert database.ask(caps, "second").wait == 0


def test_call_that_does_not_return_loses_its_turn() -> None:
    database, caps = Database(), Caps(per_second=1)
    database.ask(caps)
    database.now += 0.1
    wait = database.ask(caps, "vanishes").wait
    database.now += wait + SLACK - 0.001
    assert database.ask(caps, "b").wait > 0
    database.now += 0.001
    assert database.ask(caps, "b").wait == 0


def test_state_of_a_slower_rate_or_of_a_clock_that_was_set_back_is_not_waited_for() -> None:
    database = Database(next_at=10_000)
    assert database.ask(Caps(per_second=10)).wait == pytest.approx(0.1)


def test_lease_ends_and_free_places_are_looked_for_less_often_further_back() -> None:
    database, caps = Database(), Caps(at_once=2)
    assert [database.ask(caps, name).wait for name in "ab"] == [0, 0]
    for number in range(40):
        database.now += 0.0001
        wait = database.ask(caps, f"w{number}").wait
        assert wait == pytest.approx(min(0.02 * (1 + number), 0.5))
    assert database.ask(caps, "hurried", longest=0.1).wait == pytest.approx(0.05)
    del database.places["a"]
    assert database.ask(caps, "w1").wait > 0
    assert database.ask(caps, "w0").wait == 0
    database.now = 1011
    assert database.alive(is_sent=True) == []


@given(
    st.none() | st.floats(0.5, 200),
    st.none() | st.integers(1, 5),
    st.lists(st.tuples(st.floats(0, 0.3), st.floats(0, 0.5)), max_size=40),
)
def test_caps_hold_and_all_calls_are_sent(per_second, at_once, calls) -> None:
    """Calls arrive, return up to 50 ms late from each wait, and are under way for a while."""
    caps, database, sent, ends = Caps(per_second, at_once), Database(), [], {}
    arrival, due = 0.0, {}
    for number, (gap, duration) in enumerate(calls):
        arrival += gap
        due[f"{number}"] = (1000 + arrival, duration)
    while due:
        name = min(due, key=due.get)
        database.now, duration = due.pop(name)
        for other in [other for other, end in ends.items() if end <= database.now]:
            database.places.pop(other, None)
            del ends[other]
        wait = database.ask(caps, name, longest=1e6).wait
        if wait:
            due[name] = (database.now + wait + duration / 10, duration)
            continue
        sent.append(database.now)
        ends[name] = database.now + duration
        assert at_once is None or len(ends) <= at_once
    assert len(sent) == len(calls)
    for first, at in enumerate(sent if per_second else ()):
        for count, other in enumerate(sent[first:], start=1):
            assert count <= per_second * (other - at + BURST) + 1 + 1e-6
