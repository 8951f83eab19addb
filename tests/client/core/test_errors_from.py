import attrs
from cases import each_case
from core_helpers import (
    DELETE,
    DRAFT,
    LISTING,
    LOST,
    READ,
    REFUSED,
    TIMED_OUT,
    WRITE,
    assert_one_line,
    drive,
    options_of,
    reply,
)
from hypothesis import given, strategies as st

from adclient._core.response import Failure

ONCE = options_of(max_retries=0)


def error_of(call, outcome):
    error = drive(call, outcome, options=ONCE).error
    assert_one_line(str(error))
    return error


@each_case(
    ("outcome", "expected"),
    [
        (REFUSED, "Nothing was sent; check base_url and the network"),
        (
            attrs.evolve(REFUSED, is_permanent=True),
            "Check verify= and the certificates",
        ),
        (TIMED_OUT, "longer timeout"),
        (LOST, "Call again"),
        (reply(401), "Check token= or auth="),
        (reply(403), "Check what the credentials and the account allow"),
        (reply(404), "Check the ids, and base_url"),
        (reply(429), "Call again later"),
        (reply(500), "Call again later"),
        (reply(200, b"x"), "body"),
    ],
)
def test_message_ends_with_advice(outcome, expected):
    text = str(error_of(READ, outcome))
    assert expected in text.rpartition("). ")[2]


@each_case("outcome", [TIMED_OUT, LOST, reply(500), reply(408), reply(201, b"x")])
def test_message_of_an_unknown_outcome_points_to_the_dashboard(outcome):
    advice = str(error_of(WRITE, outcome)).rpartition("). ")[2]
    assert "dashboard" in advice
    assert "draft may have been staged" in advice


@each_case("status", [400, 409, 422, 418])
def test_message_without_advice_ends_after_the_details(status):
    assert str(error_of(READ, reply(status))).endswith(")")


@each_case("call", [READ, WRITE, DELETE])
@each_case(
    "outcome",
    [
        REFUSED,
        LOST,
        TIMED_OUT,
        reply(302),
        reply(400, {"message": "no"}),
        reply(502, b"<html><title>Bad Gateway</title>"),
        reply(500),
        reply(200, [1]),
        reply(204),
        reply(200, b"\xff"),
        reply(200, b"{", broken=LOST),
        reply(200, b"{", broken=TIMED_OUT),
        reply(200, LISTING, defect="its compressed data is truncated"),
    ],
)
def test_message_contains_the_operation_endpoint_and_cause(call, outcome):
    error, operation = error_of(call, outcome), call.operation
    text = str(error)
    assert text.startswith(f"{operation.full_name}: ")
    assert f"{operation.method} https://ads.example.com{operation.path}" in text
    if isinstance(outcome, Failure):
        assert outcome.reason in text
    else:
        assert error.status == outcome.status
        assert str(outcome.status) in text
    assert (error.operation, error.method, error.path) == (
        operation.full_name,
        operation.method,
        operation.path,
    )


@each_case("status", [301, 302, 303, 307, 308])
def test_message_of_a_redirect_states_that_none_is_followed(status):
    error = error_of(READ, reply(status, b"moved", headers={"location": "https://evil.example"}))
    assert "redirect" in str(error)
    assert "never followed" in str(error)
    assert "evil.example" not in str(error)


def test_message_contains_the_code_message_and_request_id_of_the_service():
    body = {"error": {"code": "budget_too_low", "message": "At least 1.00"}}
    error = error_of(WRITE, reply(422, body, headers={"x-request-id": "req_9"}))
    assert "422 budget_too_low: At least 1.00" in str(error)
    assert "request id req_9" in str(error)
    assert error.message == "At least 1.00"
    assert error.code == "budget_too_low"


def test_request_id_of_a_header_overrides_the_one_of_the_body():
    body = {"message": "no", "request_id": "from the body"}
    assert error_of(READ, reply(500, body)).request_id == "from the body"
    response = reply(500, body, headers={"x-request-id": "from a header"})
    assert error_of(READ, response).request_id == "from a header"


def test_message_contains_attempts_and_retry_after():
    assert "3 attempts" in str(drive(READ, *[REFUSED] * 3).error)
    text = str(error_of(READ, reply(429, headers={"retry-after": "12"})))
    assert "retry after 12 s" in text
    assert "attempts" not in text


def test_error_body_is_bounded_text():
    error = error_of(READ, reply(500, b"\xff" + b"x" * 100_000))
    assert error.body.startswith("\ufffdxxx")
    assert 1024 <= len(error.body) <= 4096
    assert error_of(READ, REFUSED).body is None


def test_message_of_an_empty_error_body_states_that_no_reason_was_given():
    error = error_of(READ, reply(500))
    assert "500: no reason given" in str(error)
    assert error.body == ""


def test_message_quotes_an_error_body_with_a_success_status():
    error = error_of(READ, reply(200, {"error": {"message": "No such account"}}))
    assert "$.data: missing (its message: No such account)" in str(error)


def test_message_does_not_quote_an_invalid_body_without_an_error():
    text = str(error_of(READ, reply(200, {**LISTING, "data": [{"id": "canary", "name": 7}]})))
    assert "$.data[0].name: expected text, got a number" in text
    assert "canary" not in text


def test_message_has_every_detail_even_if_each_is_long():
    body = {
        "error": {"code": "c" * 50, "message": "m\n\x1b[31m" * 1000},
        "draft_id": "d" * 150,
    }
    headers = {"x-request-id": "r" * 500, "retry-after": "123456789"}
    for status in (400, 408, 503):
        text = str(error_of(DELETE, reply(status, body, headers=headers)))
        assert str(status) in text
        assert "request id rrr" in text
    text = str(error_of(DELETE, reply(201, body, headers=headers)))
    assert "request id rrr" in text
    assert "draft 'ddd" in text


@given(
    status=st.integers(200, 599),
    body=st.binary(max_size=300),
    request_id=st.text(max_size=80),
    call=st.sampled_from([READ, WRITE, DELETE]),
)
def test_message_is_one_printable_line_for_any_response(status, body, request_id, call):
    run = drive(call, reply(status, body, headers={"x-request-id": request_id}), options=ONCE)
    assert_one_line(str(run.error))


def test_error_about_an_invalid_draft_keeps_its_draft_id_and_body():
    error = error_of(WRITE, reply(201, {**DRAFT, "requires": None}))
    assert error.draft_id == "draft_7c2e"
    assert '"draft_7c2e"' in error.body


def test_error_about_an_invalid_draft_has_a_draft_id_behind_a_large_diff():
    diff = {"field": "f", "before": "x" * 100_000, "after": None}
    error = error_of(WRITE, reply(201, {"diff": diff, "draft_id": "draft_7c2e"}))
    assert error.draft_id == "draft_7c2e"
    assert len(error.body) == 2048
