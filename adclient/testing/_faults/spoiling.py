"""What can go wrong with the body of an answer on its way."""

import gzip
from collections.abc import Callable
from typing import Literal

import attrs

from adclient._core.response import Failure, RawResponse

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
_HUGE = 5 * 1024 * 1024


def spoilt(reply: RawResponse, fault: BodyFault) -> RawResponse:
    """An answer with something wrong in its body."""
    return _SPOILERS[fault](reply)


def _cut(reply: RawResponse) -> RawResponse:
    broken = Failure(reason="the connection was dropped", sent=True)
    return attrs.evolve(reply, body=_half(reply), broken=broken)


def _stalled(reply: RawResponse) -> RawResponse:
    broken = Failure(reason="no more of the body in time", sent=True, timed_out=True)
    return attrs.evolve(reply, body=_half(reply), broken=broken)


def _wrong_length(reply: RawResponse) -> RawResponse:
    length = len(reply.body)
    broken = Failure(reason=f"received {length} bytes, expected {length + 10}", sent=True)
    return attrs.evolve(_with_header(reply, "content-length", str(length + 10)), broken=broken)


def _broken_gzip(reply: RawResponse) -> RawResponse:
    packed = gzip.compress(reply.body, mtime=0)
    damaged = packed[:10] + bytes(255 - byte for byte in packed[10:])
    return attrs.evolve(_with_header(reply, "content-encoding", "gzip"), body=damaged)


def _not_json(reply: RawResponse) -> RawResponse:
    page = b"<html><head><title>Checking your browser</title></head></html>"
    return attrs.evolve(_with_header(reply, "content-type", "text/html"), body=page)


def _not_utf8(reply: RawResponse) -> RawResponse:
    start, quote, end = reply.body.rpartition(b'"')
    return attrs.evolve(reply, body=start + b"\xff" + quote + end)


def _wrong_shape(reply: RawResponse) -> RawResponse:
    return attrs.evolve(reply, body=b'{"result":%s}' % reply.body)


def _error_object(reply: RawResponse) -> RawResponse:
    error = b'{"error":{"code":"internal","message":"something went wrong","details":[]}}'
    return attrs.evolve(reply, body=error)


def _duplicate_keys(reply: RawResponse) -> RawResponse:
    first_key, _, rest = reply.body.partition(b":")
    return attrs.evolve(reply, body=first_key + b":null," + first_key[1:] + b":" + rest)


def _wrong_content_type(reply: RawResponse) -> RawResponse:
    return _with_header(reply, "content-type", "text/plain")


def _huge(reply: RawResponse) -> RawResponse:
    padding = b',"padding":"%s"}' % (b"x" * _HUGE)
    return attrs.evolve(reply, body=reply.body[:-1] + padding)


def _half(reply: RawResponse) -> bytes:
    return reply.body[: len(reply.body) // 2]


def _with_header(reply: RawResponse, name: str, value: str) -> RawResponse:
    return attrs.evolve(reply, headers={**reply.headers, name: value})


_SPOILERS: dict[BodyFault, Callable[[RawResponse], RawResponse]] = {
    "cut": _cut,
    "stalled": _stalled,
    "wrong_length": _wrong_length,
    "broken_gzip": _broken_gzip,
    "not_json": _not_json,
    "not_utf8": _not_utf8,
    "wrong_shape": _wrong_shape,
    "error_object": _error_object,
    "duplicate_keys": _duplicate_keys,
    "wrong_content_type": _wrong_content_type,
    "huge": _huge,
}
