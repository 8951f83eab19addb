"""Each switch of the profile, and what a client makes of the service that it gives."""

import json

import attrs
import pytest
from cases import each_case
from fake_helpers import ACCOUNTS, CLIENT_KINDS, READS, VALID_WRITES, WRITES, call, refusal, send

from adclient import (
    AdClient,
    APIError,
    BadRequest,
    Conflict,
    Conventions,
    PermissionDenied,
    RateLimited,
    Request,
    Unauthenticated,
    UnexpectedResponse,
    Unprocessable,
)
from adclient.testing import FakeAdService, Profile

DELETE = "delta.remove_auto_search_themes"
DELTA, GAMMA = {"account_id": "account_d118"}, {"account_id": "account_c3d8"}


# Errors.


MESSAGE = "daily_budget: at least 20 USD"


@each_case(
    ("style", "message", "code", "details"),
    [
        ("error_object", MESSAGE, "budget_below_minimum", True),
        ("problem", MESSAGE, "budget_below_minimum", True),
        ("detail", MESSAGE, None, False),
        ("fastapi", MESSAGE, "budget_below_minimum", True),
        ("success_false", MESSAGE, None, False),
        ("errors_list", MESSAGE, "budget_below_minimum", True),
        ("text", MESSAGE, None, False),
        ("html", f"422 {MESSAGE}", None, False),
        ("empty", "no reason given", None, False),
        ("truncated", '{"error":{"code":"budget_below', None, False),
    ],
)
def test_the_client_reads_errors_of_every_shape(style, message, code, details):
    client = FakeAdService(profile=Profile(errors=style)).client()
    with pytest.raises(Unprocessable) as caught:
        client.alpha.update_campaign_budget(
            account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=1
        )
    assert caught.value.message.startswith(message)
    assert caught.value.code == code
    assert bool(caught.value.details) == details
    assert caught.value.request_id.startswith("req_")


@pytest.mark.parametrize(
    ("style", "content_type"),
    [
        ("error_object", "application/json"),
        ("problem", "application/problem+json"),
        ("text", "text/plain; charset=utf-8"),
        ("html", "text/html; charset=utf-8"),
    ],
)
def test_error_bodies_have_the_content_type_of_their_shape(style, content_type):
    fake = FakeAdService(profile=Profile(errors=style))
    reply = fake.handle(Request(method="GET", url=f"{fake.base_url}/v1/nowhere"))
    assert reply.headers["content-type"] == content_type


def test_error_without_a_field_is_readable():
    fake = FakeAdService(profile=Profile(errors="fastapi"))
    status, answer = send(fake, "gamma.list_ads", query={"account_id": "account_0000"})
    assert (status, answer["detail"][0]["loc"]) == (404, ["body"])


# Credentials.


@CLIENT_KINDS
@pytest.mark.parametrize("header", [None, "X-Api-Key"])
def test_token_is_read_from_the_key_header(client_kind, header):
    fake = FakeAdService(token="sesame", profile=Profile(key_header=header))
    assert call(fake, client_kind).draft_id
    sent = fake.requests[0].headers
    if header is None:
        assert sent["authorization"] == "Bearer sesame"
    else:
        assert sent["x-api-key"] == "sesame"
        assert "authorization" not in sent
    with pytest.raises(Unauthenticated):
        AdClient(fake.base_url, token="other", transport=fake.transport).gamma.list_ads(**GAMMA)


@each_case("operation", WRITES)
def test_read_only_token_may_read_but_not_write(operation):
    fake = FakeAdService(token="sesame", profile=Profile(read_only_token="peek"))
    headers = {"authorization": "Bearer peek"}
    body = {"account_id": ACCOUNTS[operation.namespace], **VALID_WRITES[operation.full_name]}
    found = refusal(fake, operation.full_name, body, headers=headers)
    assert found == (403, "insufficient_scope", [])
    assert fake.drafts == ()


def test_client_with_read_only_token_cannot_write():
    fake = FakeAdService(token="sesame", profile=Profile(read_only_token="peek"))
    client = AdClient(fake.base_url, token="peek", transport=fake.transport)
    assert client.gamma.list_ads(**GAMMA).data
    with pytest.raises(PermissionDenied) as caught:
        client.delta.remove_auto_search_themes(**DELTA)
    assert caught.value.code == "insufficient_scope"
    assert "peek" not in repr(fake) + repr(Profile(read_only_token="peek"))


def test_read_only_token_without_token_is_refused():
    with pytest.raises(ValueError, match="read_only_token"):
        FakeAdService(profile=Profile(read_only_token="peek"))


# Where parameters travel.


@each_case("place", ["query", "body"])
@each_case("operation", READS)
def test_reads_are_accepted_in_query_or_body(operation, place):
    fake = FakeAdService(
        conventions=Conventions(read_parameters=place), profile=Profile(read_parameters="either")
    )
    assert call(fake, "sync", operation.full_name) == call(
        FakeAdService(), "sync", operation.full_name
    )


@CLIENT_KINDS
def test_client_with_wrong_convention_gets_an_error(client_kind):
    fake = FakeAdService(profile=Profile(read_parameters="body"))
    with pytest.raises(BadRequest) as caught:
        call(fake, client_kind, "gamma.list_ads")
    assert caught.value.code == "invalid_json"
    fake = FakeAdService(
        conventions=Conventions(read_parameters="body"), profile=Profile(read_parameters="query")
    )
    with pytest.raises(BadRequest) as caught:
        call(fake, client_kind, "gamma.list_ads")
    assert caught.value.code == "unexpected_body"


def test_delete_parameters_are_read_from_the_place_in_the_profile():
    for place, in_query, in_body in [
        ("body", "invalid_json", None),
        ("query", None, "unexpected_body"),
        ("either", None, None),
    ]:
        fake = FakeAdService(profile=Profile(delete_parameters=place))
        for expected, how in [(in_query, {"query": DELTA}), (in_body, {"body": DELTA})]:
            if expected is None:
                assert send(fake, DELETE, **how)[0] == 201
            else:
                assert refusal(fake, DELETE, **how) == (400, expected, [])


@CLIENT_KINDS
def test_delete_of_the_client_works_with_either(client_kind):
    fake = FakeAdService(profile=Profile(delete_parameters="either"))
    assert call(fake, client_kind, DELETE).diff.after == []


# Continuations.


@CLIENT_KINDS
def test_continuation_none_returns_everything_on_one_page(client_kind):
    fake = FakeAdService(profile=Profile(continuation="none"))
    assert call(fake, client_kind, "gamma.list_ads") == call(
        FakeAdService(), client_kind, "gamma.list_ads"
    )
    assert len(fake.requests) == 1
    assert fake.client().gamma.list_ads(account_id="account_e000").next is None


def test_an_absolute_url_is_followed():
    fake = FakeAdService(profile=Profile(continuation="absolute_url"))
    page = fake.client().gamma.list_ads(**GAMMA)
    assert page.next.startswith(f"{fake.base_url}/v1/gamma-ads/list-gamma-ads?cursor=")
    assert len(list(page)) == 126


@each_case("continuation", ["text", "number", "url", "absolute_url", "object"])
def test_continuation_expires_after_its_life(continuation):
    fake = FakeAdService(profile=Profile(continuation=continuation, continuation_life=600))
    fake.clock.advance(86_400)
    client = fake.client()
    page = client.gamma.list_ads(**GAMMA)
    fake.clock.advance(599)
    assert client.gamma.list_ads(**GAMMA, cursor=page.next).data
    fake.clock.advance(1)
    with pytest.raises(APIError) as caught:
        client.gamma.list_ads(**GAMMA, cursor=page.next)
    assert (caught.value.status, caught.value.code) == (410, "page_expired")


def test_continuation_without_life_never_expires():
    fake = FakeAdService()
    page = fake.client().gamma.list_ads(**GAMMA)
    fake.clock.advance(10**8)
    assert len(fake.client().gamma.list_ads(**GAMMA, cursor=page.next).data) == 50


# More than the interface names.


@CLIENT_KINDS
@pytest.mark.parametrize("operation", [o for o in READS if o.full_name != "gamma.list_ads"],
                         ids=lambda operation: operation.full_name)  # fmt: skip
def test_items_keep_unknown_fields_and_statuses(client_kind, operation):
    plain = call(FakeAdService(), client_kind, operation.full_name)
    found = call(FakeAdService(profile=Profile(extras=True)), client_kind, operation.full_name)
    assert [(item.id, item.name) for item in found] == [(item.id, item.name) for item in plain]
    assert all(item.extra["x_labels"] == [{"text": "new", "weight": None}] for item in found)
    assert {item.status for item in found[2::3]} == {"UNDER_POLICY_REVIEW"}
    assert [i.status for i in found[::3]] == [i.status for i in plain[::3]]


@CLIENT_KINDS
def test_an_ad_without_a_name_is_named_by_the_client(client_kind):
    fake = FakeAdService(profile=Profile(extras=True))
    with pytest.raises(UnexpectedResponse, match=r"\$\.data\[1\]\.name"):
        call(fake, client_kind, "gamma.list_ads")


@CLIENT_KINDS
@pytest.mark.parametrize("operation", WRITES, ids=lambda operation: operation.full_name)
def test_drafts_keep_unknown_fields(client_kind, operation):
    fake = FakeAdService(profile=Profile(extras=True))
    draft = call(fake, client_kind, operation.full_name)
    assert draft.extra == {"reviewers": ["ads-team"]}
    assert draft.diff.extra == {"note": None}
    plain = call(FakeAdService(), client_kind, operation.full_name)
    assert attrs.evolve(draft, extra={}, diff=plain.diff) == plain


def test_extras_reorder_the_page():
    fake = FakeAdService(profile=Profile(extras=True))
    _, answer = send(fake, "beta.list_campaigns", query={"account_id": "account_b204"})
    assert list(answer) == ["meta", "page", "data"]
    assert list(answer["page"]) == ["total", "next"]
    assert list(answer["data"][0])[-2:] == ["id", "x_labels"]


@pytest.mark.parametrize("begin", [0, 0.5, 0.9996])
def test_continuation_is_valid_for_all_of_its_life(begin):
    fake = FakeAdService(profile=Profile(continuation_life=60), page_size=50)
    fake.clock.advance(begin)
    page = fake.client().gamma.list_ads(**GAMMA)
    fake.clock.advance(59.99)
    assert fake.client().gamma.list_ads(**GAMMA, cursor=page.next).data
    fake.clock.advance(0.02)
    with pytest.raises(APIError, match="too old"):
        fake.client().gamma.list_ads(**GAMMA, cursor=page.next)


# Date ranges and drafts that are the same.


def test_unknown_date_range_can_be_ignored():
    client = FakeAdService(profile=Profile(unknown_date_ranges="ignore")).client()
    plain = client.gamma.list_ads(**GAMMA)
    assert client.gamma.list_ads(**GAMMA, date_range="EVER").data == plain.data
    assert client.gamma.list_ads(**GAMMA, date_range="TODAY").data != plain.data


def stage(fake, daily_budget):
    return (
        fake.client()
        .alpha.update_campaign_budget(
            account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=daily_budget
        )
        .draft_id
    )


def test_dedupe_returns_the_open_draft_of_the_same_change():
    fake = FakeAdService(profile=Profile(dedupe=True))
    first = stage(fake, 120)
    assert stage(fake, 120) == first != stage(fake, 130)
    fake.dashboard.reject(first, reviewer="Ines")
    assert stage(fake, 120) != first
    assert len(fake.drafts) == 3


def test_dedupe_does_not_return_a_stale_draft():
    fake = FakeAdService(profile=Profile(dedupe=True))
    first = stage(fake, 120)
    fake.change_live("account_a91f", "campaign_4c10", daily_budget=110)
    assert stage(fake, 120) != first
    assert fake.drafts[-1].diff.before == 110


def test_same_change_stages_a_second_draft_by_default():
    fake = FakeAdService()
    assert stage(fake, 120) != stage(fake, 120)
    for draft in fake.drafts:
        assert fake.dashboard.reject(draft.draft_id, reviewer="Ines").status == "rejected"


# Limits.


@CLIENT_KINDS
def test_request_beyond_the_rate_limit_is_refused(client_kind):
    fake = FakeAdService(profile=Profile(requests_a_minute=3))
    fake.clock.advance(3600)
    for _ in range(3):
        call(fake, client_kind, "alpha.explain_objectives")
    fake.clock.advance(12.5)
    with pytest.raises(RateLimited) as caught:
        call(fake, client_kind)
    assert (caught.value.code, caught.value.retry_after) == ("rate_limited", 48)
    assert not caught.value.outcome_unknown
    fake.clock.advance(caught.value.retry_after)
    assert call(fake, client_kind).draft_id


@CLIENT_KINDS
def test_draft_beyond_most_open_drafts_is_refused(client_kind):
    fake = FakeAdService(profile=Profile(most_open_drafts=2))
    first, _ = call(fake, client_kind), call(fake, client_kind)
    with pytest.raises(Conflict) as caught:
        call(fake, client_kind)
    assert caught.value.code == "too_many_open_drafts"
    assert call(fake, client_kind, "gamma.create_dco_ad").draft_id
    fake.dashboard.reject(first.draft_id, reviewer="Ines")
    assert call(fake, client_kind).draft_id
    fake.clock.advance(48 * 3600)
    assert call(fake, client_kind).draft_id


def test_default_limit_is_500_open_drafts():
    fake = FakeAdService()
    body = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
    found = {send(fake, "beta.pause_campaign", body)[0] for _ in range(500)}
    assert found == {201}
    assert refusal(fake, "beta.pause_campaign", body)[:2] == (409, "too_many_open_drafts")


@CLIENT_KINDS
def test_draft_beyond_drafts_a_day_is_refused(client_kind):
    fake = FakeAdService(profile=Profile(drafts_a_day=2))
    for _ in range(2):
        draft = call(fake, client_kind)
        fake.dashboard.reject(draft.draft_id, reviewer="Ines")
    with pytest.raises(Conflict) as caught:
        call(fake, client_kind)
    assert caught.value.code == "envelope_exhausted"
    fake.clock.advance(86_400)
    assert call(fake, client_kind).draft_id


# Switches that cannot be.


@each_case(
    ("name", "values"),
    [
        ("errors", ["xml", None]),
        ("continuation", ["none ", None]),
        ("continuation_life", [0, -1, "1", True, float("inf"), float("nan")]),
        ("read_parameters", ["path"]),
        ("delete_parameters", ["path", None]),
        ("key_header", ["", "a b", "Authorization", "host"]),
        ("read_only_token", ["", 1]),
        ("unknown_date_ranges", ["refused"]),
        ("extras", ["yes", None]),
        ("dedupe", [2]),
        ("two_reviewers", [None]),
        ("latency", [-1, "1", None, float("nan")]),
        ("most_open_drafts", [0, 1.5, True]),
        ("drafts_a_day", [0, "1"]),
        ("requests_a_minute", [-1]),
    ],
)
def test_invalid_profile_is_refused(name, values):
    for value in values:
        with pytest.raises(ValueError, match=f"profile: {name} must be "):
            Profile(**{name: value})


def test_profile_is_immutable_and_comparable():
    assert Profile(errors="text") == Profile(errors="text") != Profile()
    assert json.dumps(attrs.asdict(Profile()))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        Profile().extras = True
