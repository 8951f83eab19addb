"""The events of a call: hooks, the log, and the span of a tracer."""

import json
import logging
import pickle

import attrs
import core_helpers
import pytest
from cases import each_case
from core_helpers import READ, REFUSED, STAGED, WRITE, assert_one_line, drive, options_of, reply

from adclient.errors import ConfigurationError, PaginationError
from adclient.hooks import CallEvent, DraftEvent, Hooks, RequestEvent, ResponseEvent, RetryEvent

CUT = reply(200, b'{"data": [', broken=core_helpers.LOST)
CAMPAIGNS, THEMES = READ.operation, core_helpers.DELETE.operation
NAMES = ["on_request", "on_response", "on_retry", "on_draft"]


def all_hooks(hook):
    return Hooks(**dict.fromkeys(NAMES, hook))


def observed(call, *outcomes, tracer=None, **settings):
    """Return the events that the hooks of one call receive, and its run."""
    events = []
    options = options_of(hooks=(all_hooks(events.append),), **settings)
    run = drive(call, *outcomes, options=options, random=0.5, tracer=tracer)
    return events, run


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


# Hooks.


async def an_async_function(event):
    pytest.fail("never called")


@each_case("name", *NAMES)
@each_case(
    ("hook", "problem"),
    (an_async_function, "a plain function"),
    *[(hook, "a function, not") for hook in (7, "print", [print], False)],
)
def test_hook_that_is_async_or_not_callable_is_refused(name, hook, problem):
    with pytest.raises(ConfigurationError, match=f"{name} must be {problem}") as caught:
        Hooks(**{name: hook})
    assert caught.value.argument == name
    assert_one_line(str(caught.value))


def test_events_have_exactly_these_fields():
    late = core_helpers.Timed(1.0, REFUSED), core_helpers.Timed(2.0, reply(429))
    events, _ = observed(WRITE, *late, max_retries=1)
    about = {"operation": "alpha.update_campaign_budget", "account_id": "account_a91f"}
    about["call_id"] = events[0].call_id
    url = f"{core_helpers.BASE_URL}/v1/alpha-ads/update-alpha-campaign-budget"
    gone = {"status": None, "failure": "connection refused", "request_id": None}
    busy = {"status": 429, "failure": None, "request_id": None}
    assert events == [
        RequestEvent(**about, attempt=1, method="POST", url=url),
        ResponseEvent(**about, attempt=1, **gone, duration=1.0, elapsed=1.0),
        RetryEvent(**about, attempt=1, reason="connection refused", wait=0.25),
        RequestEvent(**about, attempt=2, method="POST", url=url),
        ResponseEvent(**about, attempt=2, **busy, duration=2.0, elapsed=3.25),
    ]
    calm = core_helpers.call_of(THEMES, account_id=core_helpers.Mood.CALM)
    enum, _ = observed(calm, reply(201, core_helpers.DRAFT))
    assert type(enum[0].account_id) is str
    assert str(enum[0].account_id) == "calm"
    (sent, received), _ = observed(core_helpers.call_of(CAMPAIGNS, cursor="x"), CUT, max_retries=0)
    assert sent.url == f"{core_helpers.BASE_URL}/v1/beta-ads/list-beta-campaigns"  # no query
    assert (received.status, received.failure) == (200, "connection reset")


def test_headers_of_events_errors_and_results_are_found_in_any_case_and_without_cookies():
    headers = {"retry-after": "9", "set-cookie": "id=1"}
    events, run = observed(READ, reply(429, headers=headers), max_retries=0)
    for found in (events[1].headers, pickle.loads(pickle.dumps(run.error)).headers):
        assert ({**found}, found["Retry-After"], len(found)) == ({"retry-after": "9"}, "9", 1)
    assert drive(READ, REFUSED, options=options_of(max_retries=0)).error.headers == {}
    listed = drive(READ, attrs.evolve(core_helpers.LISTED, headers=headers)).value
    found = listed.response.headers
    assert (found["Retry-After"], "Retry-After" in found, 5 in found) == ("9", True, False)
    assert (found.get("RETRY-AFTER"), found.get("x", "-"), found.get(5)) == ("9", "-", None)
    assert (found, found | {"x": "y"}) == (headers, {**headers, "x": "y"})
    assert json.loads(json.dumps(found)) == attrs.asdict(listed.response)["headers"] == headers


def test_call_refused_before_sending_has_no_events_and_no_span():
    spy = Spy()
    call = core_helpers.call_of(CAMPAIGNS, cursor="https://elsewhere.example.com/?cursor=2")
    events, run = observed(call, tracer=spy)
    assert (events, spy.calls) == ([], [])
    assert isinstance(run.error, PaginationError)


# What is raised by hooks, tracers and spans.


def fail(*arguments):
    raise ValueError("a mistake\nof mine")


def lines(caplog):
    return [r.getMessage() for r in caplog.records if r.levelno == logging.ERROR]


def test_hook_that_raises_is_logged_and_does_not_fail_the_call(caplog):
    events = []
    options = options_of(hooks=(all_hooks(fail), all_hooks(events.append)))
    run = drive(WRITE, REFUSED, STAGED, options=options)
    assert run.value.draft_id == "draft_7c2e"
    assert len(events) == len(lines(caplog)) == 6
    expected = "alpha.update_campaign_budget: the hook on_draft raised ValueError: a mistake of"
    assert lines(caplog)[-1] == f"{expected} mine"
    for line in lines(caplog):
        assert_one_line(line)
    assert all(record.exc_info is None for record in caplog.records)


@each_case("method", "add", "end")
def test_span_or_tracer_that_raises_is_logged_and_does_not_fail_the_call(caplog, method):
    spy = Spy()
    setattr(spy, method, fail)
    for tracer, name in ((spy, "span"), (fail, "tracer")):
        caplog.clear()
        assert drive(WRITE, STAGED, tracer=tracer).value.draft_id == "draft_7c2e"
        assert f"the {name} raised ValueError" in lines(caplog)[0]


def test_keyboard_interrupt_in_a_hook_propagates_and_ends_the_span():
    def hook(event):
        raise KeyboardInterrupt

    spy = Spy()
    with pytest.raises(KeyboardInterrupt):
        drive(WRITE, STAGED, options=options_of(hooks=(Hooks(on_draft=hook),)), tracer=spy)
    assert [type(error) for error in spy.ended] == [KeyboardInterrupt]


# Spans and the log.


def test_span_and_log_receive_the_events_of_the_hooks(caplog):
    caplog.set_level(logging.DEBUG, "adclient")
    spy = Spy()
    events, run = observed(WRITE, REFUSED, STAGED, tracer=spy)
    assert spy.events == events
    assert spy.calls == [(WRITE, events[0].url)]
    assert spy.ended == [None]
    assert run.value is not None
    assert caplog.messages == [*map(str, events)]
    levels = {type(event): r.levelname for event, r in zip(events, caplog.records, strict=True)}
    debug = dict.fromkeys((RequestEvent, ResponseEvent, DraftEvent), "DEBUG")
    assert levels == {**debug, RetryEvent: "INFO"}


@each_case("hostile", "a\nb", "a\x1b[2Jb", "x" * 9999)
def test_str_of_any_event_is_one_line(hostile):
    answer = reply(201, {**core_helpers.DRAFT, "draft_id": hostile})
    events, _ = observed(WRITE, attrs.evolve(answer, headers={"x-request-id": hostile}))
    assert [type(event) for event in events] == [RequestEvent, ResponseEvent, DraftEvent]
    for event in events:
        assert_one_line(str(event))
    assert str(CallEvent(call_id=3, operation="a.b", account_id="c")) == "a.b #3"
