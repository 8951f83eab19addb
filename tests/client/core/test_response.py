"""What is read from an error response or a broken body, and its redaction."""

import json
from unittest.mock import ANY

from cases import each_case
from core_helpers import reply

from adclient._core.response import Failure, draft_id_in, problem_of, redacted
from adclient._values.redact import Redactor

FASTAPI = [{"loc": ["body", field], "msg": f"No {field}"} for field in ("a", "b")]
PROBLEM = {"title": "Low", "status": 422, "detail": "Below 1.00", "errors": [{"pointer": "#/d"}]}
ERRORS = [{"message": "Too low", "code": "budget"}, {"message": "Too long"}]
JSON_API = [{"status": "422", "code": "low", "title": "Invalid", "detail": "Too low"}]
NO = {"message": "No", "code": "not_found"}


@each_case(
    ("body", "message", "code", "details"),
    ({"error": {**NO, "details": [{"id": "c"}]}}, "No", "not_found", [{"id": "c"}]),
    ({"error": "No"}, "No", None, None),
    ({"type": "https://h/low", **PROBLEM}, "Below 1.00", "https://h/low", [{"pointer": "#/d"}]),
    ({"type": "about:blank", "title": "Not Found"}, "Not Found", None, None),
    ({"detail": "Not authenticated"}, "Not authenticated", None, None),
    ({"detail": FASTAPI}, "No a", ANY, FASTAPI),
    ({"message": "Forbidden", "error_code": "E7"}, "Forbidden", "E7", None),
    ({"errors": ERRORS}, "Too low", "budget", ERRORS),
    ({"errors": ["Too low", "Too long"]}, "Too low", None, ["Too low", "Too long"]),
    ({"errors": JSON_API}, "Too low", "low", JSON_API),
    ({"error": {"errors": [{"message": "Deep"}]}}, "Deep", None, [{"message": "Deep"}]),
    ({"message": "", "error": "No"}, "No", None, None),
)
def test_error_body_of_each_known_shape_is_parsed(body, message, code, details):
    problem = problem_of(reply(400, body))
    assert (problem.message, problem.code, problem.details) == (message, code, details)


@each_case(
    ("body", "message"),
    (b"upstream connect error", "upstream connect error"),
    (b"<html><head><title>502 Bad\nGateway</title></head><body>x</body>", "502 Bad Gateway"),
    (b'{"error": {"message": "cut of', '{"error": {"message": "cut of'),
    (b"\xff\xfe no text", "\ufffd\ufffd no text"),
    *[(body, None) for body in (b"", b"  \n", b"<title> </title>", b'""')],
)
def test_body_that_is_not_json_is_the_message(body, message):
    assert problem_of(reply(502, body)) == (message, None, None, None)


@each_case(
    "body",
    *[{"fault": "No such campaign"}, {"errors": {"daily_budget": ["is too low"]}}, 17],
    {"outer": {"inner": "No such campaign"}},
)
def test_json_body_of_an_unknown_shape_is_the_message(body):
    assert problem_of(reply(400, body)).message == json.dumps(body)
    assert problem_of(reply(200, {"fault": "x"})).message is None


@each_case(
    ("draft_id", "bodies"),
    ("draft_1", [b'{"supersedes": {"draft_id": "draft_0"}, "draft_id": "draft_1"}']),
    ("x" * 200, [b'{"draft_id": "' + b"x" * 200 + b'"}']),
    (None, [b'{"draft_id": "' + b"x" * 201 + b'"}', b'{"draft_id": ""}', b'{"draft_id": 7}']),
    (None, [b'{"draft_id": "draft_0", "draft_id": "draft_1"}', b'{"draft_id": "draft_1", "di']),
    (None, [b'[{"draft_id": "draft_0"}]', b'{"supersedes": {"draft_id": "draft_0"}}', b""]),
)
def test_draft_id_is_found_in_an_invalid_body_if_it_is_certain(draft_id, bodies):
    for body in bodies:
        assert draft_id_in(body) == draft_id


# Redaction.

SECRET = "t0ken-1234"
REDACTOR = Redactor((SECRET,))


@each_case("status", 200, 500)
def test_failure_of_a_truncated_response_is_redacted_before_it_is_shortened(status):
    broken = Failure(reason=f"{'x' * 190}{SECRET} and more", sent=True)
    shown = redacted(reply(status, SECRET.encode(), broken=broken), REDACTOR)
    assert shown.broken.reason.startswith("x" * 190 + "***")
    assert len(shown.broken.reason) <= 200
    assert (shown.body, str(redacted(broken, REDACTOR))) == (b"***", str(shown.broken))
