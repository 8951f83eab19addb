"""Responses with something wrong in their body, or whose body arrives slowly."""

import gzip
from typing import Literal

import attrs

from adclient._core.response import Failure, Outcome, RawResponse

BodyFault = Literal[
    "cut",
    "stalled",
    "wrong_length",
    "broken_gzip",
    "not_json",
    "not_utf8",
    "wrong_shape",
    "error_object",
    "duplicate_keys",
    "wrong_content_type",
    "huge",
]
DROPPED = Failure(reason="the connection was dropped", sent=True)
STALLED = Failure(reason="no more of the body in time", sent=True, timed_out=True)
NO_RESPONSE = Failure(reason="no response in time", sent=True, timed_out=True)
_HUGE = 5 * 1024 * 1024


def corrupted(response: RawResponse, fault: BodyFault) -> RawResponse:
    """A response with a fault in its body."""
    body, headers = response.body, dict(response.headers)
    broken: Failure | None = None
    match fault:
        case "cut" | "stalled":
            body = body[: len(body) // 2]
            broken = DROPPED if fault == "cut" else STALLED
        case "wrong_length":
            headers["content-length"] = str(len(body) + 10)
            reason = f"received {len(body)} bytes, expected {len(body) + 10}"
            broken = Failure(reason=reason, sent=True)
        case "broken_gzip":
            headers["content-encoding"] = "gzip"
            packed = gzip.compress(body, mtime=0)
            body = packed[:10] + bytes(255 - byte for byte in packed[10:])
        case "not_json":
            headers["content-type"] = "text/html"
            body = b"<html><head><title>Checking your browser</title></head></html>"
        case "not_utf8":
            start, quote, end = body.rpartition(b'"')
            body = start + b"\xff" + quote + end
        case "wrong_shape":
            body = b'{"result":%s}' % body
        case "error_object":
            body = b'{"error":{"code":"internal","message":"something went wrong","details":[]}}'
        case "duplicate_keys":
            first_key, _, rest = body.partition(b":")
            body = first_key + b":null," + first_key[1:] + b":" + rest
        case "wrong_content_type":
            headers["content-type"] = "text/plain"
        case _:  # "huge"
            body = body[:-1] + b',"padding":"%s"}' % (b"x" * _HUGE)
    return attrs.evolve(response, headers=headers, body=body, broken=broken)


@attrs.frozen(kw_only=True)
class SlowBodyResponse(RawResponse):
    """A response whose body takes `seconds` to arrive."""

    seconds: float

    @classmethod
    def of(cls, response: RawResponse, seconds: float) -> "SlowBodyResponse":
        """The same response with a slow body."""
        return cls(**attrs.asdict(response, recurse=False), seconds=seconds)

    def within(self, time_left: float | None) -> "SlowBodyResponse":
        """The part that a client receives within some seconds; all of it for None."""
        if time_left is None or self.seconds < time_left:
            return self
        received = int(len(self.body) * time_left / self.seconds)
        return attrs.evolve(self, body=self.body[:received], broken=STALLED)


def received_within(
    time_left: float | None, outcome: Outcome, seconds: float
) -> tuple[Outcome, float]:
    """The part of an outcome that a client receives within some time, and when."""
    if time_left is not None and seconds >= time_left:
        return NO_RESPONSE, time_left
    if isinstance(outcome, SlowBodyResponse):
        outcome = outcome.within(None if time_left is None else time_left - seconds)
        seconds += outcome.seconds
    failure = outcome if isinstance(outcome, Failure) else outcome.broken
    if time_left is not None and failure is not None and failure.timed_out:
        seconds = time_left  # the client waits for the rest until it times out
    return outcome, seconds
