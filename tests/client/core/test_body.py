"""Bodies as they are received: decompressed, limited, and with their defects."""

import gzip

from cases import each_case

from adclient._http import send as module
from adclient._http.send import LONGEST_BODY, LONGEST_ERROR_BODY, Body

TEXT = b'{"data": [], "page": {"next": null}}' * 20
PACKED = gzip.compress(TEXT)
MIB = 1024 * 1024


def read(chunks, *, status=200, coding=""):
    body = Body(status, coding)
    for chunk in chunks:
        body.feed(chunk)
    body.finish()
    return body


@each_case(
    ("coding", "packed"),
    *[("", TEXT), ("identity", TEXT)],
    *[("gzip", PACKED + rest) for rest in (b"\0\0", b"\r\n" + PACKED)],
    *[(coding, PACKED) for coding in ("gzip", "x-gzip", " GZip ")],
)
@each_case("size", 1, 7, 10_000)
@each_case("piece", 1, 37, module._PIECE)
def test_supported_content_codings_are_decoded(coding, packed, size, piece, monkeypatch):
    monkeypatch.setattr(module, "_PIECE", piece)
    pieces = [packed[start : start + size] for start in range(0, len(packed), size)]
    body = read(pieces, coding=coding)
    assert (body.content, body.defect, body.is_enough) == (TEXT, None, False)


@each_case("coding", "br", "deflate", "gzip, gzip", "é\n")
def test_unsupported_coding_is_a_defect(coding):
    body = read([b"not brotli, and not gzip either"], coding=coding)
    assert (body.content, body.is_enough) == (b"", True)
    assert body.defect == f"its content coding {coding.strip()!r} was not requested"


@each_case(
    ("packed", "defect"),
    (b"not compressed at all", "damaged"),
    (PACKED[:-8] + b"\0" * 8, "damaged"),
    *[(PACKED[:length], "truncated") for length in (1, 10, 30)],
    (b"", "truncated"),
)
def test_invalid_compressed_data_is_a_defect_and_keeps_what_is_before_it(packed, defect):
    defect = f"its compressed data is {defect}"
    body = read([packed], coding="gzip")
    assert (body.defect, body.is_enough) == (defect, True)
    assert TEXT.startswith(body.content)


def test_body_beyond_the_limit_is_a_defect(monkeypatch):
    assert (LONGEST_BODY, LONGEST_ERROR_BODY) == (64 * MIB, 64 * 1024)
    monkeypatch.setattr(module, "LONGEST_BODY", 2 * MIB)
    assert read([bytes(2 * MIB)]).defect is None
    body = read([b" " * 2 * MIB, b"more"])
    assert (body.defect, len(body.content)) == ("it is larger than 2 MiB", LONGEST_ERROR_BODY)
