"""What the fake always refuses: what the interface rules out, and what the account lacks."""

from cases import each_case
from fake_helpers import ACCOUNTS, PATHS, VALID_WRITES, asked, refusal, send

from adclient import Conventions
from adclient._core.operations import OPERATIONS
from adclient.testing import FakeAdService

TARGETING, BUDGET = "alpha.update_campaign_targeting", "alpha.update_campaign_budget"
CREATIVE, KEYWORD = "alpha.update_creative", "delta.update_keyword"
DCO_AD = "gamma.create_dco_ad"
PAUSE, LIST, SEARCH = "beta.pause_campaign", "beta.list_campaigns", "gamma.search_targeting"
LEADS = {"campaign_id": "campaign_4c10"}
JACKET = {"keywords": ["outdoor jacket"]}


def valid(operation):
    given = VALID_WRITES.get(operation.full_name, {})
    return {"account_id": ACCOUNTS[operation.namespace], **given}


@each_case("operation", *OPERATIONS)
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


@each_case("operation", *[PATHS[name] for name in (TARGETING, PAUSE, LIST, SEARCH, KEYWORD)])
def test_account_must_be_there_and_of_the_platform(fake, operation):
    other = ACCOUNTS["delta" if operation.namespace != "delta" else "alpha"]
    for account_id, expected in (
        ("account_0000", "404 account_not_found"),
        ("account_f403", "403 account_disconnected"),
        (other, "422 platform_mismatch account_id"),
    ):
        given = {**valid(operation), "account_id": account_id}
        assert refusal(asked(fake, operation.full_name, given)) == expected


def test_account_that_takes_no_drafts_can_be_read(fake):
    read_only, paused = {"account_id": "account_5a5a"}, {"account_id": "account_5a5b"}
    assert refusal(asked(fake, KEYWORD, {**JACKET, **read_only})) == "403 account_read_only"
    assert asked(fake, "delta.analyze_wasted_spend", read_only)[0] == 200
    assert refusal(asked(fake, CREATIVE, {"fields": {}, **paused})) == "503 drafting_paused"
    assert asked(fake, "alpha.explain_objectives", paused)[0] == 200


def test_wrong_method_is_refused(fake):
    assert refusal(send(fake, PAUSE, method="GET")) == "405 method_not_allowed"


def test_parameters_in_the_wrong_place_are_refused(fake):
    answer = asked(fake, PAUSE, valid(PATHS[PAUSE]), query={"account_id": "a"})
    assert refusal(answer) == "400 unexpected_query"
    assert refusal(asked(fake, LIST, {}, body={"account_id": "a"})) == "400 unexpected_body"


def test_body_that_is_no_object_or_too_large_is_refused(fake):
    for body in (None, b"", b"[1]", b"{", b"NaN", b"\xff"):
        assert refusal(send(fake, PAUSE, body)) == "400 invalid_json"
        assert fake.requests[-1].account_id is None
    body = b'{"account_id":"' + b"x" * 1024 * 1024 + b'"}'
    assert refusal(send(fake, PAUSE, body)).startswith("413 request_too_large")


@each_case(
    ("query", "field"),
    ("&account_id=account_c3d8", "account_id"),
    ("&targeting=%7B", "targeting"),
    ("&targeting[type]=X", "targeting[type]"),
)
def test_malformed_query_is_refused(fake, query, field):
    answer = send(fake, SEARCH, query=f"account_id=account_c3d8{query}")
    assert refusal(answer) == f"422 invalid_parameter {field}"
    assert refusal(send(fake, SEARCH, query="account_id=")) == "422 invalid_parameter account_id"
    deep = FakeAdService(conventions=Conventions(object_style="deep_object"))
    query = "account_id=account_c3d8&targeting[a]=1&targeting[a][b]=2"
    assert refusal(send(deep, SEARCH, query=query)) == "422 invalid_parameter targeting"


CAMPAIGN, CREATIVES = "404 campaign_not_found campaign_id", "404 creative_not_found creative_id"
KEYWORDS, IMMUTABLE = "404 keyword_not_found keywords", "422 immutable_field id"
ID = {"fields": {"id": "x"}}


@each_case(
    ("operation", "given", "expected"),
    # Entities of another account.
    (BUDGET, {"campaign_id": "campaign_57a7"}, CAMPAIGN),
    (LIST, LEADS, CAMPAIGN),
    (CREATIVE, {"creative_id": "campaign_4c10"}, CREATIVES),
    (DCO_AD, {"ad_id": "x", "fields": {}}, "404 ad_not_found ad_id"),
    ("beta.detect_creative_fatigue", {"creative_id": "creative_2f70"}, CREATIVES),
    # An id cannot be set or changed.
    (TARGETING, {**LEADS, **ID}, IMMUTABLE),
    (CREATIVE, ID, IMMUTABLE),
    (KEYWORD, {"keywords": ["zither"], "fields": {"action": "PAUSE"}}, KEYWORDS),
)
def test_arguments_that_the_service_cannot_act_on_are_refused(fake, operation, given, expected):
    assert refusal(asked(fake, operation, given)) == expected
    assert fake.drafts == ()
