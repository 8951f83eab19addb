import logging
import subprocess
import sys
from enum import Enum

import pytest
from cases import each_case
from core_helpers import (
    BASE_URL,
    DRAFT,
    KEYED,
    LISTED,
    LOST,
    READ,
    REFUSED,
    STAGED,
    WRITE,
    Timed,
    assert_one_line,
    call_of,
    drive,
    exchange_of,
    options_of,
    reply,
)

from adclient._core import operations, reporter
from adclient._core.call import ACQUIRE, SEND
from adclient._core.events import reporter_for
from adclient._core.retry import RateLimitGate
from adclient.errors import OutcomeUnknown, PaginationError
from adclient.hooks import DraftEvent, Hooks, RequestEvent, ResponseEvent, RetryEvent

BUSY = reply(503, headers={"x-request-id": "r1"})
CUT = reply(200, b'{"data": [', broken=LOST)
ELSEWHERE = call_of(
    operations.LIST_BETA_CAMPAIGNS, cursor="https://elsewhere.example.com/?cursor=2"
)
DAMAGED = reply(200, b"?", defect="its compressed data is damaged")


def all_hooks(hook):
    return Hooks(on_request=hook, on_response=hook, on_retry=hook, on_draft=hook)


def watched(call, *outcomes, tracer=None, **settings):
    """What the hooks of one call are told."""
    told = []
    options = options_of(hooks=(all_hooks(told.append),), **settings)
    run = drive(call, *outcomes, options=options, random=0.5, tracer=tracer)
    return told, run


def kinds(told):
    return [type(event).__name__.removesuffix("Event") for event in told]


class Spy:
    """A tracer and its only span."""

    def __init__(self):
        self.calls, self.told, self.ended = [], [], []

    def __call__(self, call, url):
        self.calls.append((call, url))
        return self

    def add(self, event):
        self.told.append(event)

    def end(self, error):
        self.ended.append(error)


class TestHooks:
    def test_are_called_in_the_order_of_what_happens(self):
        told, run = watched(WRITE, REFUSED, reply(429), STAGED)
        attempt = ["Request", "Response"]
        assert kinds(told) == [*attempt, "Retry", *attempt, "Retry", *attempt, "Draft"]
        assert [event.attempt for event in told[:-1]] == [1, 1, 1, 2, 2, 2, 3, 3]
        assert told[-1].draft is run.value

    def test_are_called_before_and_after_what_they_tell_of(self):
        told = []
        options = options_of(hooks=(all_hooks(lambda event: told.append(type(event))),))
        exchange = exchange_of(
            WRITE, options, reporter=reporter_for(WRITE, options, lambda: 0.0, None)
        )
        steps = exchange.steps()
        assert steps.send(None) is ACQUIRE
        assert told == []
        assert steps.send(None) is SEND
        assert told == [RequestEvent]
        steps.send(REFUSED)
        assert told == [RequestEvent, ResponseEvent, RetryEvent]
        assert steps.send(None) is ACQUIRE
        assert steps.send(None) is SEND
        assert told[3:] == [RequestEvent]
        with pytest.raises(StopIteration) as done:
            steps.send(STAGED)
        assert told[4:] == [ResponseEvent]
        exchange.result(done.value.value)
        assert told[5:] == [DraftEvent]

    def test_request_event_waits_for_a_shared_rate_limit(self):
        told = []
        gate = RateLimitGate()
        gate.note(WRITE, options_of(), reply(429, headers={"retry-after": "8"}), 1000.0)
        options = options_of(hooks=(all_hooks(lambda event: told.append(type(event))),))
        run = drive(WRITE, STAGED, options=options, gate=gate)
        assert run.sleeps == [8.0]
        assert told == [RequestEvent, ResponseEvent, DraftEvent]

    def test_are_told_these_facts(self):
        told, _ = watched(WRITE, Timed(1.0, REFUSED), Timed(2.0, reply(429)), max_retries=1)
        about = {
            "call_id": told[0].call_id,
            "operation": "alpha.update_campaign_budget",
            "account_id": "account_a91f",
        }
        url = f"{BASE_URL}/v1/alpha-ads/update-alpha-campaign-budget"
        gone = {"status": None, "failure": "connection refused", "request_id": None}
        busy = {"status": 429, "failure": None, "request_id": None}
        assert told == [
            RequestEvent(**about, attempt=1, method="POST", url=url),
            ResponseEvent(**about, attempt=1, **gone, duration=1.0, elapsed=1.0),
            RetryEvent(**about, attempt=1, reason="connection refused", wait=0.25),
            RequestEvent(**about, attempt=2, method="POST", url=url),
            ResponseEvent(**about, attempt=2, **busy, duration=2.0, elapsed=3.25),
        ]

    @each_case(
        ("outcome", "status", "failure"),
        [
            (LISTED, 200, None),
            (reply(404), 404, None),
            (LOST, None, "connection reset"),
            (CUT, 200, "connection reset"),
            (DAMAGED, 200, "its compressed data is damaged"),
        ],
    )
    def test_are_told_what_came_of_an_attempt(self, outcome, status, failure):
        told, _ = watched(READ, outcome, max_retries=0)
        assert kinds(told) == ["Request", "Response"]
        assert (told[1].status, told[1].failure) == (status, failure)

    def test_are_told_the_request_id(self):
        told, _ = watched(READ, BUSY, LISTED)
        assert told[1].request_id == "r1"
        assert told[4].request_id is None
        told, _ = watched(READ, BUSY, LISTED, conventions=type(KEYED)(request_id_headers=["x"]))
        assert told[1].request_id is None

    def test_see_no_query(self):
        call = call_of(operations.LIST_BETA_CAMPAIGNS, cursor="signed", campaign_id="secret")
        told, run = watched(call, LISTED)
        assert "signed" in run.sends[0].request.url
        assert told[0].url == f"{BASE_URL}/v1/beta-ads/list-beta-campaigns"

    def test_are_told_of_no_draft_that_cannot_be_read(self):
        told, run = watched(WRITE, reply(201, b"{"))
        assert kinds(told) == ["Request", "Response"]
        assert isinstance(run.error, OutcomeUnknown)

    def test_of_one_call_share_its_number(self):
        one, _ = watched(READ, BUSY, LISTED)
        other, _ = watched(READ, LISTED)
        assert len({event.call_id for event in one}) == 1
        assert one[0].call_id < other[0].call_id

    def test_are_not_called_for_what_is_refused_before_it_is_sent(self):
        told, run = watched(ELSEWHERE)
        assert told == []
        assert isinstance(run.error, PaginationError)

    def test_of_several_are_called_in_turn(self):
        told = []
        first, second = (
            all_hooks(lambda event, who=who: told.append((who, type(event)))) for who in "ab"
        )
        drive(READ, LISTED, options=options_of(hooks=(first, Hooks(), second)))
        assert told == [(who, cls) for cls in (RequestEvent, ResponseEvent) for who in "ab"]


def fail(*arguments):
    raise ValueError("a mistake\nof mine")


class TestNothingIsLost:
    def lines(self, caplog):
        return [r.getMessage() for r in caplog.records if r.levelno == logging.ERROR]

    def test_when_a_hook_raises(self, caplog):
        told = []
        options = options_of(hooks=(all_hooks(fail), all_hooks(told.append)))
        run = drive(WRITE, REFUSED, STAGED, options=options)
        assert run.value.draft_id == "draft_7c2e"
        assert len(told) == 6
        lines = self.lines(caplog)
        assert len(lines) == 6
        expected = "alpha.update_campaign_budget: the hook on_draft raised ValueError: a mistake of"
        assert lines[-1] == f"{expected} mine"
        for line in lines:
            assert_one_line(line)
        assert all(record.exc_info is None for record in caplog.records)

    def test_when_the_text_of_what_a_hook_raises_raises(self, caplog):
        class Worse(Exception):
            def __str__(self):
                fail()

        def hook(event):
            raise Worse

        run = drive(WRITE, STAGED, options=options_of(hooks=(Hooks(on_draft=hook),)))
        assert run.value.draft_id == "draft_7c2e"
        assert len(self.lines(caplog)) == 1

    def test_when_the_tracer_raises(self, caplog):
        assert drive(WRITE, STAGED, tracer=fail).value.draft_id == "draft_7c2e"
        [line] = self.lines(caplog)
        assert "the tracer raised ValueError" in line

    @pytest.mark.parametrize("method", ["add", "end"])
    def test_when_a_span_raises(self, caplog, method):
        spy = Spy()
        setattr(spy, method, fail)
        assert drive(WRITE, STAGED, tracer=spy).value.draft_id == "draft_7c2e"
        assert "the span raised ValueError" in self.lines(caplog)[0]

    def test_when_a_filter_of_the_log_raises(self, caplog, monkeypatch):
        caplog.set_level(logging.DEBUG)
        monkeypatch.setattr(logging.getLogger("adclient"), "filters", [fail])
        told, run = watched(WRITE, STAGED, tracer=fail)
        assert run.value.draft_id == "draft_7c2e"
        assert kinds(told) == ["Request", "Response", "Draft"]

    def test_but_what_ends_the_program_passes(self):
        def hook(event):
            raise KeyboardInterrupt

        spy = Spy()
        with pytest.raises(KeyboardInterrupt):
            drive(WRITE, STAGED, options=options_of(hooks=(Hooks(on_draft=hook),)), tracer=spy)
        assert [type(error) for error in spy.ended] == [KeyboardInterrupt]


class TestSpan:
    def test_is_one_for_each_call_and_is_told_what_the_hooks_are(self):
        spy = Spy()
        told, run = watched(WRITE, REFUSED, STAGED, tracer=spy)
        assert spy.told == told
        assert [(call, url) for call, url in spy.calls] == [(WRITE, told[0].url)]
        assert spy.ended == [None]
        assert run.value is not None

    def test_ends_with_the_error_of_the_call(self):
        spy = Spy()
        run = drive(WRITE, LOST, tracer=spy)
        assert spy.ended == [run.error]

    @pytest.mark.parametrize("error", [KeyboardInterrupt(), GeneratorExit(), ValueError()])
    def test_ends_when_the_call_is_stopped(self, error):
        spy = Spy()
        with pytest.raises(type(error)):
            drive(READ, error, tracer=spy)
        assert spy.ended == [error]

    def test_may_be_none(self):
        assert drive(READ, LISTED, tracer=lambda call, url: None).value is not None

    def test_is_none_for_what_is_refused_before_it_is_sent(self):
        spy = Spy()
        drive(ELSEWHERE, tracer=spy)
        assert spy.calls == []


class TestLog:
    def test_has_a_line_for_each_record(self, caplog):
        caplog.set_level(logging.DEBUG, "adclient")
        told, _ = watched(WRITE, REFUSED, STAGED)
        assert [record.getMessage() for record in caplog.records] == [*map(str, told)]
        levels = {type(event): r.levelname for event, r in zip(told, caplog.records, strict=True)}
        assert levels == {
            RequestEvent: "DEBUG",
            ResponseEvent: "DEBUG",
            RetryEvent: "INFO",
            DraftEvent: "DEBUG",
        }

    def test_nothing_is_created_that_nobody_reads(self, monkeypatch):
        monkeypatch.setattr(logging.getLogger("adclient"), "level", logging.WARNING)
        monkeypatch.setattr(reporter, "Reporter", pytest.fail)
        assert drive(WRITE, REFUSED, STAGED).value is not None

    def test_is_not_worded_for_hooks(self, monkeypatch):
        monkeypatch.setattr(logging.getLogger("adclient"), "level", logging.WARNING)
        for cls in (RequestEvent, ResponseEvent, RetryEvent, DraftEvent):
            monkeypatch.setattr(cls, "__str__", pytest.fail)
        told, _ = watched(WRITE, REFUSED, STAGED)
        assert len(told) == 6

    def test_is_not_printed_unless_the_program_asks_for_it(self):
        code = """
from adclient import Hooks
from adclient.testing import FakeAdService
hooks = Hooks(on_request=lambda event: 1 / 0)
FakeAdService().client(hooks=hooks).alpha.explain_objectives(account_id="account_a91f")
"""
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert run.stderr == b""


def test_the_account_of_a_text_enum_is_its_text():
    class Account(str, Enum):  # noqa: UP042  what callers have
        MINE = "account_a91f"

    told, run = watched(call_of(operations.REMOVE_DELTA_AUTO_SEARCH_THEMES), reply(201, DRAFT))
    assert run.value is not None
    enum, _ = watched(
        call_of(operations.REMOVE_DELTA_AUTO_SEARCH_THEMES, account_id=Account.MINE),
        reply(201, DRAFT),
    )
    assert type(enum[0].account_id) is str
    assert enum[0].account_id == told[0].account_id
