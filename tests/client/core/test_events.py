import logging
from enum import Enum

import pytest
from cases import each_case
from core_helpers import (
    BASE_URL,
    DRAFT,
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
from adclient._core.events import reporter_for
from adclient._core.exchange import ACQUIRE, SEND
from adclient.errors import PaginationError
from adclient.hooks import DraftEvent, Hooks, RequestEvent, ResponseEvent, RetryEvent

BUSY = reply(503, headers={"x-request-id": "r1"})
CUT = reply(200, b'{"data": [', broken=LOST)
ELSEWHERE = call_of(
    operations.LIST_BETA_CAMPAIGNS, cursor="https://elsewhere.example.com/?cursor=2"
)
DAMAGED = reply(200, b"?", defect="its compressed data is damaged")


def all_hooks(hook):
    return Hooks(on_request=hook, on_response=hook, on_retry=hook, on_draft=hook)


def observed(call, *outcomes, tracer=None, **settings):
    """Return the events that the hooks of one call receive, and its run."""
    events = []
    options = options_of(hooks=(all_hooks(events.append),), **settings)
    run = drive(call, *outcomes, options=options, random=0.5, tracer=tracer)
    return events, run


def kinds(events):
    return [type(event).__name__.removesuffix("Event") for event in events]


class Spy:
    """A tracer and its only span."""

    def __init__(self):
        self.calls, self.events, self.ended = [], [], []

    def __call__(self, call, url):
        self.calls.append((call, url))
        return self

    def add(self, event):
        self.events.append(event)

    def end(self, error):
        self.ended.append(error)


class TestHooks:
    def test_hooks_are_called_before_each_send_and_after_each_response(self):
        events = []
        options = options_of(hooks=(all_hooks(lambda event: events.append(type(event))),))
        exchange = exchange_of(
            WRITE, options, reporter=reporter_for(WRITE, options, lambda: 0.0, None)
        )
        steps = exchange.steps()
        assert steps.send(None) is ACQUIRE
        assert events == []
        assert steps.send(None) is SEND
        assert events == [RequestEvent]
        steps.send(REFUSED)
        assert events == [RequestEvent, ResponseEvent, RetryEvent]
        assert steps.send(None) is ACQUIRE
        assert steps.send(None) is SEND
        assert events[3:] == [RequestEvent]
        with pytest.raises(StopIteration) as done:
            steps.send(STAGED)
        assert events[4:] == [ResponseEvent]
        exchange.result(done.value.value)
        assert events[5:] == [DraftEvent]

    def test_events_have_exactly_these_fields(self):
        events, _ = observed(WRITE, Timed(1.0, REFUSED), Timed(2.0, reply(429)), max_retries=1)
        about = {
            "call_id": events[0].call_id,
            "operation": "alpha.update_campaign_budget",
            "account_id": "account_a91f",
        }
        url = f"{BASE_URL}/v1/alpha-ads/update-alpha-campaign-budget"
        gone = {"status": None, "failure": "connection refused", "request_id": None}
        busy = {"status": 429, "failure": None, "request_id": None}
        assert events == [
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
    def test_response_event_has_the_status_and_the_failure(self, outcome, status, failure):
        events, _ = observed(READ, outcome, max_retries=0)
        assert kinds(events) == ["Request", "Response"]
        assert (events[1].status, events[1].failure) == (status, failure)

    def test_request_event_has_a_url_without_query(self):
        call = call_of(operations.LIST_BETA_CAMPAIGNS, cursor="signed", campaign_id="secret")
        events, run = observed(call, LISTED)
        assert "signed" in run.sends[0].request.url
        assert events[0].url == f"{BASE_URL}/v1/beta-ads/list-beta-campaigns"

    def test_hooks_are_not_called_for_a_call_refused_before_sending(self):
        events, run = observed(ELSEWHERE)
        assert events == []
        assert isinstance(run.error, PaginationError)


def fail(*arguments):
    raise ValueError("a mistake\nof mine")


class TestErrors:
    def lines(self, caplog):
        return [r.getMessage() for r in caplog.records if r.levelno == logging.ERROR]

    def test_hook_that_raises_is_logged_and_does_not_fail_the_call(self, caplog):
        events = []
        options = options_of(hooks=(all_hooks(fail), all_hooks(events.append)))
        run = drive(WRITE, REFUSED, STAGED, options=options)
        assert run.value.draft_id == "draft_7c2e"
        assert len(events) == 6
        lines = self.lines(caplog)
        assert len(lines) == 6
        expected = "alpha.update_campaign_budget: the hook on_draft raised ValueError: a mistake of"
        assert lines[-1] == f"{expected} mine"
        for line in lines:
            assert_one_line(line)
        assert all(record.exc_info is None for record in caplog.records)

    def test_tracer_that_raises_is_logged_and_does_not_fail_the_call(self, caplog):
        assert drive(WRITE, STAGED, tracer=fail).value.draft_id == "draft_7c2e"
        [line] = self.lines(caplog)
        assert "the tracer raised ValueError" in line

    @pytest.mark.parametrize("method", ["add", "end"])
    def test_span_that_raises_is_logged_and_does_not_fail_the_call(self, caplog, method):
        spy = Spy()
        setattr(spy, method, fail)
        assert drive(WRITE, STAGED, tracer=spy).value.draft_id == "draft_7c2e"
        assert "the span raised ValueError" in self.lines(caplog)[0]

    def test_keyboard_interrupt_in_a_hook_propagates_and_ends_the_span(self):
        def hook(event):
            raise KeyboardInterrupt

        spy = Spy()
        with pytest.raises(KeyboardInterrupt):
            drive(WRITE, STAGED, options=options_of(hooks=(Hooks(on_draft=hook),)), tracer=spy)
        assert [type(error) for error in spy.ended] == [KeyboardInterrupt]


class TestSpan:
    def test_call_has_one_span_that_receives_the_events_of_the_hooks(self):
        spy = Spy()
        events, run = observed(WRITE, REFUSED, STAGED, tracer=spy)
        assert spy.events == events
        assert [(call, url) for call, url in spy.calls] == [(WRITE, events[0].url)]
        assert spy.ended == [None]
        assert run.value is not None

    @pytest.mark.parametrize("error", [KeyboardInterrupt(), GeneratorExit(), ValueError()])
    def test_span_ends_with_the_exception_that_stops_the_call(self, error):
        spy = Spy()
        with pytest.raises(type(error)):
            drive(READ, error, tracer=spy)
        assert spy.ended == [error]

    def test_call_refused_before_sending_has_no_span(self):
        spy = Spy()
        drive(ELSEWHERE, tracer=spy)
        assert spy.calls == []


class TestLog:
    def test_log_has_a_line_for_each_event(self, caplog):
        caplog.set_level(logging.DEBUG, "adclient")
        events, _ = observed(WRITE, REFUSED, STAGED)
        assert [record.getMessage() for record in caplog.records] == [*map(str, events)]
        levels = {type(event): r.levelname for event, r in zip(events, caplog.records, strict=True)}
        assert levels == {
            RequestEvent: "DEBUG",
            ResponseEvent: "DEBUG",
            RetryEvent: "INFO",
            DraftEvent: "DEBUG",
        }

    def test_no_reporter_is_created_if_nothing_observes_the_call(self, monkeypatch):
        monkeypatch.setattr(logging.getLogger("adclient"), "level", logging.WARNING)
        monkeypatch.setattr(reporter, "Reporter", pytest.fail)
        assert drive(WRITE, REFUSED, STAGED).value is not None

    def test_events_are_not_formatted_for_hooks(self, monkeypatch):
        monkeypatch.setattr(logging.getLogger("adclient"), "level", logging.WARNING)
        for cls in (RequestEvent, ResponseEvent, RetryEvent, DraftEvent):
            monkeypatch.setattr(cls, "__str__", pytest.fail)
        events, _ = observed(WRITE, REFUSED, STAGED)
        assert len(events) == 6


def test_account_id_of_an_event_is_plain_text_for_a_text_enum():
    class Account(str, Enum):  # noqa: UP042  what callers have
        MINE = "account_a91f"

    events, run = observed(call_of(operations.REMOVE_DELTA_AUTO_SEARCH_THEMES), reply(201, DRAFT))
    assert run.value is not None
    enum, _ = observed(
        call_of(operations.REMOVE_DELTA_AUTO_SEARCH_THEMES, account_id=Account.MINE),
        reply(201, DRAFT),
    )
    assert type(enum[0].account_id) is str
    assert enum[0].account_id == events[0].account_id
