"""What an error tells: the operation, the endpoint, the cause, advice, and what a body says."""

import json
from unittest.mock import ANY

import attrs
import core_helpers
from cases import each_case
from core_helpers import DELETE, LISTING, LOST, READ, REFUSED, TIMED_OUT, WRITE, drive, reply

from adclient._core.response import Failure, draft_id_in, problem_of, redacted
from adclient._values.redact import Redactor

ONCE = core_helpers.options_of(max_retries=0)


def error_of(call, outcome):
    """The error of an outcome, which always names the call and the cause."""
    error, operation = drive(call, outcome, options=ONCE).error, call.operation
    text = str(error)
    core_helpers.assert_one_line(text)
    assert text.startswith(f"{operation.full_name}: ")
    assert f"{operation.method} https://ads.example.com{operation.path}" in text
    found = (error.operation, error.method, error.path)
    assert found == (operation.full_name, operation.method, operation.path)
    assert error.status == getattr(outcome, "status", None)
    assert (outcome.reason if isinstance(outcome, Failure) else str(outcome.status)) in text
    return error


UNTRUSTED = attrs.evolve(REFUSED, is_permanent=True, advice="Check verify=")
LONGER = "Call again, or allow a longer timeout"
HELD = "The error's body holds what was received"
DASHBOARD = (
    "A draft may have been staged: look for it in the approval dashboard before calling again"
)


@each_case(
    ("call", "outcome", "expected"),
    (READ, REFUSED, "Nothing was sent; check base_url and the network"),
    (READ, UNTRUSTED, "Check verify="),
    *[(READ, each, "Call again") for each in (LOST, reply(200, b"{", broken=LOST))],
    *[(READ, each, LONGER) for each in (TIMED_OUT, reply(200, b"{", broken=TIMED_OUT))],
    (READ, reply(401), "Check token= or auth="),
    (READ, reply(403), "Check what the credentials and the account allow"),
    (READ, reply(404), "Check the ids, and base_url"),
    *[(READ, reply(status), "Call again later") for status in (429, 500)],
    *[(READ, reply(200, body), HELD) for body in (b"x", [1], b"\xff")],
    *[(READ, reply(204), HELD), (READ, reply(200, LISTING, defect="it is truncated"), HELD)],
    *[(READ, reply(status), "") for status in (302, 400, 409, 418, 422)],
    (READ, reply(502, b"<html><title>Bad Gateway</title>"), "Call again later"),
    (DELETE, reply(400, {"message": "no"}), ""),
    *[(WRITE, outcome, DASHBOARD) for outcome in (TIMED_OUT, LOST, reply(500), reply(408))],
    (WRITE, reply(201, b"x"), DASHBOARD),
)
def test_message_ends_with_advice(call, outcome, expected):
    text = str(error_of(call, outcome))
    assert text.endswith(f"). {expected}" if expected else " s)")


def test_message_contains_the_code_message_and_request_id_of_the_service():
    body = {"error": {"code": "budget_too_low", "message": "At least 1.00"}, "request_id": "r"}
    error = error_of(WRITE, reply(422, body, headers={"x-request-id": "req_9"}))
    assert "422 budget_too_low: At least 1.00" in str(error)
    assert "request id req_9" in str(error)
    assert (error.message, error.code) == ("At least 1.00", "budget_too_low")
    # The id of a header overrides that of the body.
    assert error.request_id == "req_9"
    assert error_of(WRITE, reply(422, body)).request_id == "r"


def test_message_quotes_only_an_error_in_a_body_with_a_success_status():
    error = error_of(READ, reply(200, {"error": {"message": "No such account"}}))
    assert "(its message: No such account)" in str(error)
    text = str(error_of(READ, reply(200, {**LISTING, "data": [{"id": "canary", "name": 7}]})))
    assert "$.data[0].name: expected text, got a number" in text
    assert "canary" not in text


def test_message_has_every_detail_even_if_each_is_long():
    error = {"code": "c" * 50, "message": "m\n\x1b[31m" * 1000}
    body = {"error": error, "draft_id": "d" * 150}
    headers = {"x-request-id": "r" * 500, "retry-after": "123456789"}
    for status in (201, 400, 408, 503):
        text = str(error_of(DELETE, reply(status, body, headers=headers)))
        assert str(status) in text
        assert "request id rrr" in text
        assert "draft 'ddd" in text


# Bodies.

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


@each_case("body", {"fault": "No"}, {"errors": {"bid": ["is low"]}}, 17, {"a": {"b": "No such ad"}})
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
