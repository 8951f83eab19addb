import gzip
import tracemalloc

import pytest
from cases import each_case
from hypothesis import given, strategies as st

from adclient._core import body as module
from adclient._core.body import LONGEST_BODY, LONGEST_ERROR_BODY, Body

TEXT = b'{"data": [], "page": {"next": null}}' * 20
MIB = 1024 * 1024


def read(chunks, *, status=200, coding=""):
    body = Body(status, coding)
    for chunk in chunks:
        body.feed(chunk)
    body.finish()
    return body


def pieces(data, size):
    return [data[start : start + size] for start in range(0, len(data), size)]


@each_case(
    ("coding", "packed"),
    [
        ("", TEXT),
        ("identity", TEXT),
        ("gzip", gzip.compress(TEXT)),
        ("x-gzip", gzip.compress(TEXT)),
        (" GZip ", gzip.compress(TEXT)),
        ("gzip", gzip.compress(TEXT) + b"\0\0"),
    ],
)
@each_case("size", [1, 7, 10_000])
def test_supported_content_codings_are_decoded(coding, packed, size):
    body = read(pieces(packed, size), coding=coding)
    assert (body.content, body.defect, body.is_enough) == (TEXT, None, False)


@given(st.binary(max_size=500), st.integers(1, 40), st.integers(1, 60))
def test_content_is_independent_of_its_pieces(data, piece, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PIECE", piece)
        for coding, packed in (("gzip", gzip.compress(data)), ("", data)):
            body = read(pieces(packed, size), coding=coding)
            assert (body.content, body.defect) == (data, None)


@each_case("coding", ["br", "deflate", "gzip, gzip", "é\n"])
def test_unsupported_coding_is_a_defect(coding):
    body = read([b"not brotli, and not gzip either"], coding=coding)
    assert body.is_enough
    assert body.content == b""
    assert body.defect == f"its content coding {coding.strip()!r} was not requested"


@each_case(
    ("packed", "defect"),
    [
        (b"not compressed at all", "damaged"),
        (gzip.compress(TEXT)[:-8] + b"\0" * 8, "damaged"),
        *[(gzip.compress(TEXT)[:length], "truncated") for length in (0, 1, 10, 30)],
    ],
)
def test_invalid_compressed_data_is_a_defect(packed, defect):
    body = read([packed], coding="gzip")
    assert body.defect == f"its compressed data is {defect}"
    assert body.is_enough


def test_content_before_the_damage_is_kept():
    packed = gzip.compress(b'{"draft_id": "draft_1"}' + bytes(range(256)) * 50)
    body = read([packed[:-200]], coding="gzip")
    assert body.content.startswith(b'{"draft_id": "draft_1"}')
    assert body.defect is not None


def test_body_beyond_the_limit_is_a_defect_and_keeps_its_beginning():
    assert (LONGEST_BODY, LONGEST_ERROR_BODY) == (64 * MIB, 64 * 1024)
    assert read([bytes(LONGEST_BODY)]).defect is None
    body = read([b'{"draft_id": "draft_1"', b" " * LONGEST_BODY, b"more"])
    assert body.defect == "it is larger than 64 MiB"
    assert body.content.startswith(b'{"draft_id": "draft_1" ')
    assert len(body.content) == MIB


@each_case(("status", "longest"), [(200, 4 * MIB), (500, LONGEST_ERROR_BODY)])
def test_compression_bomb_is_stopped_while_decompressing(status, longest):
    bomb = gzip.compress(bytes(32 * MIB), 1)
    tracemalloc.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LONGEST_BODY", longest)
        body = read([bomb], status=status, coding="gzip")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert body.is_enough
    assert (body.defect is None) is (status == 500)
    assert len(body.content) == (MIB if status == 200 else longest)
    assert peak < 3 * longest + MIB


@each_case("status", [400, 404, 500, 599])
def test_error_body_is_truncated_without_a_defect(status):
    body = read([b"x" * LONGEST_ERROR_BODY + b"y" * 1000], status=status)
    assert (body.content, body.defect) == (b"x" * LONGEST_ERROR_BODY, None)
    assert body.is_enough
