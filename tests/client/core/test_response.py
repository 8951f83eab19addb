import json
from unittest.mock import ANY

import pytest
from cases import each_case
from core_helpers import reply
from hypothesis import given, strategies as st

from adclient._core.redact import Redactor
from adclient._core.response import Failure, draft_id_in, problem_of, redacted, request_id_of

FASTAPI = [
    {"type": "missing", "loc": ["body", "daily_budget"], "msg": "Field required"},
    {"type": "missing", "loc": ["body", "campaign_id"], "msg": "Field required too"},
]

SHAPES = {
    "object error": (
        {"error": {"message": "No such campaign", "code": "not_found", "details": [{"id": "c"}]}},
        ("No such campaign", "not_found", [{"id": "c"}]),
    ),
    "object error with a type": (
        {"type": "error", "error": {"type": "not_found_error", "message": "No such campaign"}},
        ("No such campaign", "not_found_error", None),
    ),
    "text error": ({"error": "No such campaign"}, ("No such campaign", None, None)),
    "text error with a code": (
        {"error": "No such campaign", "code": "not_found"},
        ("No such campaign", "not_found", None),
    ),
    "problem+json": (
        {
            "type": "https://ads.example.com/problems/budget",
            "title": "Budget too low",
            "status": 422,
            "detail": "The budget is below 1.00",
            "errors": [{"pointer": "#/daily_budget"}],
        },
        (
            "The budget is below 1.00",
            "https://ads.example.com/problems/budget",
            [{"pointer": "#/daily_budget"}],
        ),
    ),
    "problem+json with a title only": (
        {"title": "Budget too low", "status": 422},
        ("Budget too low", None, None),
    ),
    "detail text": ({"detail": "Not authenticated"}, ("Not authenticated", None, None)),
    "detail list": ({"detail": FASTAPI}, ("Field required", ANY, FASTAPI)),
    "detail object": (
        {"detail": {"message": "No such campaign", "code": "not_found"}},
        (
            "No such campaign",
            "not_found",
            {"message": "No such campaign", "code": "not_found"},
        ),
    ),
    "message": ({"message": "Forbidden"}, ("Forbidden", None, None)),
    "message with a code": (
        {"message": "Forbidden", "error_code": "E7"},
        ("Forbidden", "E7", None),
    ),
    "errors": (
        {"errors": [{"message": "Too low", "code": "budget"}, {"message": "Too long"}]},
        (
            "Too low",
            "budget",
            [{"message": "Too low", "code": "budget"}, {"message": "Too long"}],
        ),
    ),
    "errors of texts": (
        {"errors": ["Too low", "Too long"]},
        ("Too low", None, ["Too low", "Too long"]),
    ),
    "JSON:API": (
        {"errors": [{"status": "422", "code": "low", "title": "Invalid", "detail": "Too low"}]},
        (
            "Too low",
            "low",
            [{"status": "422", "code": "low", "title": "Invalid", "detail": "Too low"}],
        ),
    ),
    "nested": ({"error": {"errors": [{"message": "Deep"}]}}, ("Deep", None, [{"message": "Deep"}])),
    "error beside an empty message": (
        {"message": "", "error": "No such campaign"},
        ("No such campaign", None, None),
    ),
    "error that is null": (
        {"error": None, "message": "No such campaign"},
        ("No such campaign", None, None),
    ),
}


@each_case("shape", SHAPES)
def test_error_body_of_each_known_shape_is_parsed(shape):
    body, expected = SHAPES[shape]
    problem = problem_of(reply(400, body))
    assert (problem.message, problem.code, problem.details) == expected


@each_case(
    ("body", "message"),
    [
        (b"upstream connect error", "upstream connect error"),
        (
            b"<html><head><title>502 Bad\nGateway</title></head><body>x</body></html>",
            "502 Bad Gateway",
        ),
        (b"<HTML><TITLE lang='en'>Oops</TITLE>", "Oops"),
        (b'{"error": {"message": "cut of', '{"error": {"message": "cut of'),
        (b"\xff\xfe no text", "\ufffd\ufffd no text"),
        (b'{"a": NaN}', '{"a": NaN}'),
    ],
)
def test_body_that_is_not_json_is_the_message(body, message):
    problem = problem_of(reply(502, body))
    assert (problem.message, problem.code, problem.details) == (message, None, None)


@pytest.mark.parametrize(
    "body",
    [
        {"fault": "No such campaign"},
        {"errors": {"daily_budget": ["is too low"]}},
        {"outer": {"inner": "No such campaign"}},
        17,
    ],
)
def test_json_body_of_an_unknown_shape_is_the_message(body):
    message = problem_of(reply(400, body)).message
    assert message == json.dumps(body)


@each_case("body", [b"", b"  \n", b"<title> </title>", b'""'])
def test_empty_body_has_no_message(body):
    assert problem_of(reply(500, body)) == (None, None, None, None)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "m", "request_id": "req_1"}},
        {"error": {"message": "m"}, "request_id": "req_1"},
        {"message": "m", "request_id": "req_1"},
    ],
)
def test_request_id_in_a_body_is_found(body):
    assert problem_of(reply(500, body)).request_id == "req_1"


def test_type_about_blank_is_not_a_code():
    problem = problem_of(reply(404, {"type": "about:blank", "title": "Not Found"}))
    assert (problem.message, problem.code) == ("Not Found", None)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["error", "errors", "message", "detail", "details", "code", "type", "title"]
            )
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(JSON_VALUES)
def test_message_and_code_of_any_json_body_are_text_or_none(body):
    problem = problem_of(reply(400, body))
    assert problem.message is None or isinstance(problem.message, str)
    assert problem.code is None or isinstance(problem.code, str)


@each_case(
    ("body", "draft_id"),
    [
        (b'{"draft_id":"draft_1"}', "draft_1"),
        (b'{"draft_id" :\n "draft_1", "status', "draft_1"),
        ('{"draft_id": "draft_é"'.encode(), "draft_é"),
        (b'{"draft_id": "\xff"', "\ufffd"),
        (b'{"draft_id": "draft_1", "deep": ' + b"[" * 100_000, "draft_1"),
        (b'{"supersedes": {"draft_id": "draft_0"}, "draft_id": "draft_1"}', "draft_1"),
        (b'{"draft_id": "draft_1", "supersedes": {"draft_id": "dra', "draft_1"),
        (b'{"status": "x", "draft_id": "draft_1", "diff": {"fie', "draft_1"),
        (b'{"supersedes": {"draft_id": "draft_0"}, "draft_id": "dra', None),
        (b'{"supersedes": {"draft_id": "draft_0", "x', None),
        (b'{"note": "\\"draft_id\\": \\"draft_0\\""}', None),
        (b'{"draft_id": "draft_0", "draft_id": "draft_1"}', None),
        (b'[{"draft_id": "draft_0"}]', None),
        (b'{7: 7, "draft_id": "draft_0"}', None),
        (b'{"draft_id": ""}', None),
        (b'{"draft_id": 7}', None),
        (b'{"draft_id": "draft_1', None),
        (b'{"draft_id": "a\nb"}', None),
        (b'{"draft_id": "' + b"x" * 201 + b'"}', None),
        (b"", None),
    ],
)
def test_draft_id_is_found_in_an_invalid_body(body, draft_id):
    assert draft_id_in(body) == draft_id


@pytest.mark.parametrize("status", [200, 500])
def test_failure_of_a_truncated_response_is_redacted(status):
    broken = Failure(reason="reset by t0ken-1234", sent=True)
    shown = redacted(reply(status, b"{", broken=broken), Redactor(("t0ken-1234",)))
    assert shown.broken == Failure(reason="reset by ***", sent=True)


@each_case(
    ("header", "body"), [("x", "x"), ("t0ken-1234", "x"), ("x", "t0ken-1234"), ("t0ken-1234",) * 2]
)
def test_error_response_is_redacted_wherever_the_secret_is(header, body):
    response = reply(404, body.encode(), headers={"x-echo": header})
    shown = redacted(response, Redactor(("t0ken-1234",)))
    assert shown.headers == {"x-echo": header.replace("t0ken-1234", "***")}
    assert shown.body == body.replace("t0ken-1234", "***").encode()


def test_reason_is_redacted_before_it_is_shortened():
    reason = f"{'x' * 190}t0ken-1234 and more"
    shown = redacted(Failure(reason=reason, sent=True), Redactor(("t0ken-1234",)))
    assert shown.reason.startswith("x" * 190 + "***")
    assert len(shown.reason) <= 200


def test_request_id_header_names_are_case_insensitive():
    response = reply(200, headers={"x-trace": "t"})
    assert request_id_of(response, ("X-Trace",)) == "t"
    assert request_id_of(response, ()) is None


@each_case(
    ("status", "is_success"), [(199, False), (200, True), (204, True), (299, True), (300, False)]
)
def test_success_is_a_status_from_200_to_299(status, is_success):
    assert reply(status).is_success is is_success


def test_repr_shows_neither_headers_nor_body():
    shown = repr(reply(200, b"canary", headers={"set-cookie": "canary"}))
    assert "canary" not in shown
