"""Builders for the core tests: values, calls, responses, and an exchange driven by a list."""

import enum
import json
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import attrs
import pytest
from clients import DRAFT
from hypothesis import strategies as st

from adclient import Page
from adclient._core import decode
from adclient._core.auth import bearer
from adclient._core.call import Call, validated
from adclient._core.events import Tracer, reporter_for
from adclient._core.exchange import ACQUIRE, SEND, Exchange
from adclient._core.operations import BY_NAME, Operation
from adclient._core.request import Request, RequestBuilder
from adclient._core.response import Failure, RawResponse
from adclient._core.retry import Pauses, RetryQuota
from adclient._values import jsontext
from adclient.conventions import Conventions, of_read
from adclient.errors import AdClientError
from adclient.models import ResponseInfo
from adclient.options import Options, RetryPolicy

# Text that UTF-8 can encode; numbers that are whole or that a float represents exactly.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBER = st.integers(-(10**40), 10**40) | st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUE = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=15,
)

BASE_URL = "https://ads.example.com"
ACCOUNT = "account_a91f"

ITEM = {"id": "a", "name": "b", "status": "c"}
CAMPAIGN = {"id": "campaign_57a7", "name": "Spring", "status": "ENABLED"}
LISTING = {"data": [CAMPAIGN], "page": {"next": None}}


class Status(enum.StrEnum):
    ENABLED = "ENABLED"


class Mood(str, enum.Enum):  # noqa: UP042  the older way to write it
    CALM = "calm"


class Level(enum.IntEnum):
    HIGH = 3


class Shade(enum.Enum):
    DARK = "dark"


class Int64:
    """A whole number as numpy makes them: not an int."""

    def __init__(self, value):
        self.value = value

    def __int__(self):
        return self.value


Integral.register(Int64)


class Array:
    """An array as numpy and pandas make them: it cannot be compared, and has no truth."""

    def __init__(self, *values):
        self.values = values

    def compare(self, *_):
        raise AssertionError("it was compared")

    def tolist(self):
        return [*self.values]

    __array__, __hash__, __bool__ = tolist, None, compare
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = compare


ARRAY = Array(7, None)


class Float64(float):
    """A float as numpy makes them: its `repr` is not only its digits."""

    def __repr__(self):
        return f"Float64({float(self)!r})"


def structure(value: Any, cls: type[Any]) -> Any:
    """Decode the body that a value is, as the response to an operation with this result."""
    operation = next(each for each in BY_NAME.values() if each.result is cls)
    call = Call(operation, ACCOUNT, None, {}, {})
    return decode.result_of(call, reply(200, value), ResponseInfo(), Page)


def problem_with(value: Any, cls: type[Any]) -> str:
    """Return the error message for a value that cannot be decoded."""
    with pytest.raises(jsontext.JSONError) as caught:
        structure(value, cls)
    return str(caught.value)


def call_of(operation: Operation, *, cursor: Any = None, **arguments: Any) -> Call:
    """A validated call with an account, the given arguments, and None for all others."""
    unset = dict.fromkeys(parameter.name for parameter in operation.parameters)
    return validated(operation, {**unset, "account_id": ACCOUNT, **arguments}, cursor)


READ = call_of(BY_NAME["beta.list_campaigns"])
BUDGET = BY_NAME["alpha.update_campaign_budget"]
WRITE = call_of(BUDGET, campaign_id="campaign_57a7", daily_budget=120)
DELETE = call_of(BY_NAME["delta.remove_auto_search_themes"])


def reply(status: int, body: Any = b"", **attributes: Any) -> RawResponse:
    """Build a response; a body that is not bytes is encoded as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return RawResponse(status=status, body=content, **attributes)


REFUSED = Failure(reason="connection refused", sent=False)
NO_SLOT = Failure(reason="no free connection in time", sent=False, timed_out=True)
LOST = Failure(reason="connection reset", sent=True)
TIMED_OUT = Failure(reason="no response in time", sent=True, timed_out=True)
STAGED = reply(201, DRAFT)
LISTED = reply(200, LISTING)


def options_of(*, max_retries: int | None = None, **settings: Any) -> Options:
    """Options of a client, by default for `BASE_URL`."""
    if max_retries is not None:
        settings["retry"] = RetryPolicy(max_retries=max_retries)
    return Options(**{"base_url": BASE_URL, **settings})


def built(operation, *, cursor=None, base_url=BASE_URL, headers=None, conventions=None, **given):
    """The request of a call with arguments, of a client with options."""
    options = options_of(headers=headers or {}, conventions=Conventions(**(conventions or {})))
    options = attrs.evolve(options, base_url=base_url)
    return build(call_of(operation, cursor=cursor, **given), options)


def pairs_of(request: Request) -> list[tuple[str, str]]:
    """The parameters in the URL of a request."""
    return parse_qsl(urlsplit(request.url).query, keep_blank_values=True, strict_parsing=True)


@attrs.frozen
class Timed:
    """An outcome that arrives after some seconds."""

    seconds: float
    outcome: RawResponse | Failure


@attrs.frozen
class Sent:
    """A request as it was sent."""

    request: Request
    attempt: int
    time_left: float


@attrs.define
class Run:
    """The steps of an exchange, and its value or error."""

    sends: list[Sent] = attrs.field(factory=list)
    sleeps: list[float] = attrs.field(factory=list)
    value: Any = None
    error: AdClientError | None = None


def build(call: Call, options: Options) -> Request:
    """The request of a call, whose idempotency key is `key-1` if it has one."""
    return RequestBuilder(options, new_key=lambda: "key-1").build(call)[0]


def drive(
    call: Call,
    *outcomes: RawResponse | Failure | Timed | BaseException,
    options: Options | None = None,
    random: float = 0.0,
    overslept: float = 0.0,
    tracer: Tracer | None = None,
    gate: Pauses | None = None,
    quota: RetryQuota | None = None,
    queue: Iterable[Callable[[], None]] = (),
    tokens: Iterable[str] = (),
) -> Run:
    """Drive an exchange with outcomes until it ends; time passes in sleeps and `Timed` outcomes.

    Every sleep takes `overslept` seconds longer than requested. The functions in `queue` are
    called one at a time while the call waits for a slot. With `tokens`, a function returns one of
    them before each attempt.
    """
    run, waiting, clock = Run(), list(outcomes), [1000.0]
    happenings, fetched = iter(queue), [bearer(token) for token in tokens]
    has_tokens = bool(fetched)
    options, gate = options or options_of(), gate or Pauses()

    def now() -> float:
        return clock[0]

    def perform(exchange: Exchange) -> Any:
        steps, outcome = exchange.steps(), None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                return done.value
            assert len(run.sends) + len(run.sleeps) < 2 * len(outcomes) + 5, "it goes on for ever"
            outcome = None
            if step is ACQUIRE:
                next(happenings, lambda: None)()
                outcome = exchange.authorize(fetched.pop(0)) if has_tokens else None
                if waiting and waiting[0] is NO_SLOT:
                    outcome = waiting.pop(0)
                outcome = outcome or exchange.pause_left(gate)
            elif step is SEND:
                run.sends.append(Sent(exchange.request, exchange.attempts, exchange.time_left))
                assert waiting, f"attempt {exchange.attempts} was not expected"
                outcome = waiting.pop(0)
                if isinstance(outcome, BaseException):
                    raise outcome
                timed = outcome if isinstance(outcome, Timed) else Timed(0.0, outcome)
                clock[0] += timed.seconds
                outcome = exchange.examine(timed.outcome)
                if exchange.pause:
                    gate.begin(exchange.key, now(), exchange.pause)
            else:
                run.sleeps.append(step)
                clock[0] += step + overslept

    try:
        build(call, options)  # whose errors come before a span
        reporter = reporter_for(call, options, now, tracer)
        exchange = Exchange(
            call,
            build(call, options),
            options,
            quota or RetryQuota(),
            Page,
            now=now,
            random=lambda: random,
            may_renew_token=has_tokens,
            reporter=reporter,
            end_of_listing=of_read(options.conventions, call.operation.full_name).end_of_listing,
        )
        try:
            run.value = exchange.result(perform(exchange))
        except BaseException as error:
            if reporter is not None:
                reporter.end(error)
            raise
        if reporter is not None:
            reporter.end(None)
    except AdClientError as error:
        run.error = error
    return run


def assert_one_line(text: str, longest: int = 500) -> None:
    """Check that a text fits in one line of a log or a terminal."""
    assert text.isprintable()
    assert text == text.strip() != ""
    assert len(text) <= longest
