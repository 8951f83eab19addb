import gzip
import tracemalloc
import zlib

import pytest
from cases import each_case
from hypothesis import given, strategies as st

from adclient._core import body as module
from adclient._core.body import LONGEST_BODY, LONGEST_ERROR_BODY, Body

TEXT = b'{"data": [], "page": {"next": null}}' * 20


def raw_deflate(data):
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def read(chunks, *, status=200, coding=None):
    body = Body(status, coding or "")
    for chunk in chunks:
        body.feed(chunk)
        if body.is_enough:
            break
    body.finish()
    return body


# A stored block, in which the unused bits of the first byte look like a zlib header.
STORED = (
    b"\x08" + len(TEXT).to_bytes(2, "little") + (len(TEXT) ^ 0xFFFF).to_bytes(2, "little") + TEXT
)
LAST_BLOCK = b"\x01\x00\x00\xff\xff"


@each_case(
    ("coding", "packed"),
    [
        (None, TEXT),
        ("", TEXT),
        ("identity", TEXT),
        ("gzip", gzip.compress(TEXT)),
        ("x-gzip", gzip.compress(TEXT)),
        (" GZip ", gzip.compress(TEXT)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", raw_deflate(TEXT)),
        ("deflate", STORED + LAST_BLOCK),
    ],
)
@each_case("size", [1, 7, 10_000])
def test_supported_content_codings_are_decoded(coding, packed, size):
    body = read([packed[i : i + size] for i in range(0, len(packed), size)], coding=coding)
    assert body.content == TEXT
    assert body.defect is None
    assert not body.is_enough


@given(st.binary(max_size=500), st.lists(st.integers(1, 50), max_size=10))
def test_body_is_independent_of_its_chunks(data, sizes):
    packed, chunks = gzip.compress(data), []
    for size in sizes:
        chunks.append(packed[:size])
        packed = packed[size:]
    assert read([*chunks, packed], coding="gzip").content == data
    assert read([data[:3], b"", data[3:]]).content == data


@each_case("coding", ["br", "zstd", "gzip, gzip", "deflate, gzip", "x" * 10_000, "é\n"])
def test_unsupported_coding_is_a_defect(coding):
    body = Body(200, coding)
    assert body.is_enough
    assert "was not requested" in body.defect
    assert body.defect.isprintable()
    assert len(body.defect) < 100


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_damaged_compressed_data_is_a_defect(coding):
    packed = gzip.compress(TEXT) if coding == "gzip" else zlib.compress(TEXT)
    for damaged in (b"not compressed at all", packed[:-8] + b"\x00" * 8):
        body = read([damaged], coding=coding)
        assert body.defect == "its compressed data is damaged"
        assert body.is_enough


@pytest.mark.parametrize("length", [0, 1, 10, 30])
def test_truncated_compressed_data_is_a_defect(length):
    body = read([gzip.compress(TEXT)[:length]], coding="gzip")
    assert body.defect == "its compressed data is truncated"


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=5), st.integers(1, 50))
def test_gzip_with_several_members_is_decoded(parts, size):
    packed = b"".join(map(gzip.compress, parts))
    body = read([packed[i : i + size] for i in range(0, len(packed), size)], coding="gzip")
    assert (body.content, body.defect) == (b"".join(parts), None)


def test_truncated_last_gzip_member_is_a_defect():
    body = read([gzip.compress(b"a") + gzip.compress(b"b")[:-1]], coding="gzip")
    assert body.defect == "its compressed data is truncated"


def test_data_after_the_last_gzip_member_is_dropped():
    body = Body(200, "gzip")
    body.feed(gzip.compress(TEXT) + b"\0\0")
    tracemalloc.start()
    for _ in range(100):
        body.feed(bytes(100_000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    body.finish()
    assert (body.content, body.defect) == (TEXT, None)
    assert peak < 1_000_000


def test_first_defect_is_reported():
    body = Body(200, "br")
    body.feed(b"no brotli, and no gzip either")
    assert body.defect == "its content coding 'br' was not requested"


def test_content_before_the_damage_is_kept():
    packed = gzip.compress(b'{"draft_id": "draft_1"}' + bytes(range(256)) * 50)
    body = read([packed[:-200]], coding="gzip")
    assert body.content.startswith(b'{"draft_id": "draft_1"}')
    assert body.defect is not None


def test_plain_body_beyond_the_limit_is_a_defect(monkeypatch):
    monkeypatch.setattr(module, "LONGEST_BODY", 1024 * 1024)
    body = read([b"x" * 1024 * 1024])
    assert body.defect is None
    body = read([b"x" * 1024 * 1024, b"y", b"z"])
    assert body.defect == "it is larger than 1 MiB"
    assert body.is_enough


def test_size_limits_are_64_mib_and_64_kib():
    assert LONGEST_BODY == 64 * 1024 * 1024
    assert LONGEST_ERROR_BODY == 64 * 1024


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_compression_bomb_is_stopped_while_decompressing(monkeypatch, coding):
    monkeypatch.setattr(module, "LONGEST_BODY", 1024 * 1024)
    zeros = bytes(32 * 1024 * 1024)
    bomb = gzip.compress(zeros, 1) if coding == "gzip" else zlib.compress(zeros, 1)
    tracemalloc.start()
    body = read([bomb], coding=coding)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert body.defect == "it is larger than 1 MiB"
    assert peak < 8 * 1024 * 1024


@given(st.lists(st.binary(max_size=100), max_size=3), st.integers(1, 40), st.integers(1, 60))
def test_content_is_independent_of_the_pieces_that_it_is_decompressed_in(members, piece, size):
    packed = b"".join(map(gzip.compress, members)) or gzip.compress(b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PIECE", piece)
        chunks = [packed[i : i + size] for i in range(0, len(packed), size)]
        body = read(chunks, coding="gzip")
    assert body.content == b"".join(members)
    assert body.defect is None


def test_beginning_of_a_body_that_is_too_large_is_kept():
    body = read([b'{"draft_id": "draft_1"', b" " * (LONGEST_BODY + 1)])
    assert body.content.startswith(b'{"draft_id": "draft_1" ')
    assert len(body.content) == 1024 * 1024


def test_compression_bomb_stays_bounded_if_feeding_continues():
    bomb = gzip.compress(bytes(32 * 1024 * 1024), 1)
    body = Body(500, "gzip")
    tracemalloc.start()
    for start in range(0, len(bomb), 16 * 1024):
        body.feed(bomb[start : start + 16 * 1024])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(body.content) == LONGEST_ERROR_BODY
    assert peak < 1024 * 1024


@each_case("status", [400, 404, 500, 599])
@each_case("coding", [None, "gzip"])
def test_error_body_is_truncated_without_a_defect(status, coding):
    text = b"x" * LONGEST_ERROR_BODY + b"y" * 1000
    body = read([gzip.compress(text) if coding else text], status=status, coding=coding)
    assert body.content == b"x" * LONGEST_ERROR_BODY
    assert body.is_enough
    assert body.defect is None


@each_case(
    ("chunks", "coding"), [([], None), ([b"\x03\x00"], "deflate"), ([b"\x03", b"\x00"], "deflate")]
)
def test_empty_body_has_no_defect(chunks, coding):
    body = read(chunks, coding=coding)
    assert body.content == b""
    assert body.defect is None
