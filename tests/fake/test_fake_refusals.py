"""What the fake always refuses: what the interface rules out, and what the account lacks."""

import pytest
from cases import each_case
from fake_helpers import ACCOUNTS, VALID_WRITES, WRITES, asked, refusal, send

from adclient import Request
from adclient._core.operations import OPERATIONS
from adclient.errors import ServerError
from adclient.testing import FakeAdService

TARGETING, BUDGET = "alpha.update_campaign_targeting", "alpha.update_campaign_budget"
CREATIVE, KEYWORD = "alpha.update_creative", "delta.update_keyword"
VIDEO, DCO_AD = "beta.create_video_campaign", "gamma.create_dco_ad"
PAUSE, LIST, SEARCH = "beta.pause_campaign", "beta.list_campaigns", "gamma.search_targeting"
LEADS = {"campaign_id": "campaign_4c10"}
JACKET = {"keywords": ["outdoor jacket"]}


@pytest.fixture
def fake():
    return FakeAdService()


def valid(operation):
    given = VALID_WRITES.get(operation.full_name, {})
    return {"account_id": ACCOUNTS[operation.namespace], **given}


@each_case("operation", OPERATIONS)
def test_parameters_are_checked_against_the_interface(fake, operation):
    name, given = operation.full_name, valid(operation)
    for parameter in operation.parameters:
        expected = f"422 invalid_parameter {parameter.name}"
        without = {k: v for k, v in given.items() if k != parameter.name}
        if parameter.required:
            sent = {"body" if operation.is_write else "query": without}
            assert refusal(send(fake, name, **sent)) == expected
        if operation.is_write:
            assert refusal(asked(fake, name, {**without, parameter.name: True})) == expected
    unknown = {**given, "unheard_of": "1"}
    assert refusal(asked(fake, name, unknown)) == "422 invalid_parameter unheard_of"
    assert fake.drafts == ()


@each_case("operation", OPERATIONS)
def test_account_must_accept_the_operation(fake, operation):
    def found(account_id):
        return asked(fake, operation.full_name, {**valid(operation), "account_id": account_id})

    assert refusal(found("account_0000")) == "404 account_not_found"
    assert refusal(found("account_f403")) == "403 account_disconnected"
    other = ACCOUNTS["delta" if operation.namespace != "delta" else "alpha"]
    assert refusal(found(other)) == "422 platform_mismatch account_id"
    for namespace, account_id, expected in (
        ("delta", "account_5a5a", "403 account_read_only"),
        ("alpha", "account_5a5b", "503 drafting_paused"),
    ):
        if operation.namespace == namespace and operation.is_write:
            assert refusal(found(account_id)) == expected
        elif operation.namespace == namespace:
            assert found(account_id)[0] == 200


def test_paused_drafting_has_a_retry_after(fake):
    with pytest.raises(ServerError) as caught:
        fake.client().alpha.update_creative(account_id="account_5a5b", fields={"a": 1})
    assert caught.value.retry_after == 900


def test_unknown_path_and_wrong_method_are_refused(fake):
    reply = fake.handle(Request(method="GET", url=f"{fake.base_url}/v1/elsewhere"))
    assert (reply.status, fake.requests[0].operation) == (404, None)
    for operation in OPERATIONS:
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - {operation.method}:
            reply = fake.handle(Request(method=method, url=fake.base_url + operation.path))
            assert (reply.status, reply.headers["allow"]) == (405, operation.method)


def test_parameters_in_the_wrong_place_are_refused(fake):
    for operation in WRITES:
        answer = asked(fake, operation.full_name, valid(operation), query={"account_id": "a"})
        assert refusal(answer) == "400 unexpected_query"
    assert refusal(asked(fake, LIST, {}, body={"account_id": "a"})) == "400 unexpected_body"


@each_case("body", [None, b"", b"[1]", b"{", b"NaN", b"\xff"])
def test_body_that_is_not_an_object_is_refused(fake, body):
    assert refusal(send(fake, PAUSE, body)) == "400 invalid_json"
    assert fake.requests[-1].account_id is None


def test_too_large_request_is_refused(fake):
    body = b'{"account_id":"' + b"x" * 1024 * 1024 + b'"}'
    assert refusal(send(fake, PAUSE, body)).startswith("413 request_too_large")


@each_case(
    ("query", "field"),
    [
        ("account_id=account_c3d8&account_id=account_c3d8", "account_id"),
        ("account_id=account_c3d8&targeting=%7B", "targeting"),
        ("account_id=account_c3d8&targeting=1", "targeting"),
        ("account_id=account_c3d8&targeting[type]=X", "targeting[type]"),
        ("account_id=", "account_id"),
    ],
)
def test_malformed_query_is_refused(fake, query, field):
    assert refusal(send(fake, SEARCH, query=query)) == f"422 invalid_parameter {field}"


@each_case(
    ("operation", "given", "expected"),
    [
        # Entities of another account.
        (BUDGET, {"campaign_id": "campaign_57a7"}, "404 campaign_not_found campaign_id"),
        (PAUSE, LEADS, "404 campaign_not_found campaign_id"),
        (LIST, LEADS, "404 campaign_not_found campaign_id"),
        (VIDEO, {"campaign_id": "x", "fields": {}}, "404 campaign_not_found campaign_id"),
        (CREATIVE, {"creative_id": "campaign_4c10"}, "404 creative_not_found creative_id"),
        (DCO_AD, {"ad_id": "x", "fields": {}}, "404 ad_not_found ad_id"),
        (
            "beta.detect_creative_fatigue",
            {"creative_id": "creative_2f70"},
            "404 creative_not_found creative_id",
        ),
        (
            KEYWORD,
            {"keywords": ["zither"], "fields": {"action": "PAUSE"}},
            "404 keyword_not_found keywords",
        ),
        # An id cannot be set or changed.
        (TARGETING, {**LEADS, "fields": {"id": "x"}}, "422 immutable_field id"),
        (CREATIVE, {"fields": {"id": "x"}}, "422 immutable_field id"),
        (KEYWORD, {**JACKET, "fields": {"id": "x"}}, "422 immutable_field id"),
        (KEYWORD, {**JACKET, "fields": {"action": "PAUSE", "id": "x"}}, "422 immutable_field id"),
    ],
)
def test_arguments_that_the_service_cannot_act_on_are_refused(fake, operation, given, expected):
    assert refusal(asked(fake, operation, given)) == expected
    assert fake.drafts == ()
