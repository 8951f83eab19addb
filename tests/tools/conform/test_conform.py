"""`adclient.conform`: the fake passes it in every profile, and each deviation fails its checks."""

import json
import math
from collections import Counter

import attrs
import pytest
from cases import each_case
from conform_services import (
    ACCOUNT,
    ARGUMENTS,
    account,
    client_of,
    edited,
    name_of,
    replaced,
    small_fake,
)
from switches import SINGLY

from adclient import (
    AdClient,
    ConfigurationError,
    Conventions,
    Policy,
    Request,
    RetryPolicy,
    SQLiteLedger,
)
from adclient._core.response import RawResponse
from adclient.conform import CHECKS, ConformCheck, ConformInterrupted, ConformResult, conform
from adclient.conform._reads import MOST_PAGES, UNKNOWN_ACCOUNT
from adclient.testing import FakeAdService, Fault, Profile

ADS, BUDGET, PAUSE = "gamma.list_ads", "alpha.update_campaign_budget", "beta.pause_campaign"
CREATE, FATIGUE = "gamma.create_dco_ad", "beta.detect_creative_fatigue"


def checked(client: AdClient, **settings):
    settings = {"stage_drafts": ACCOUNT, "arguments": ARGUMENTS, "timeout": 7200, **settings}
    return conform(client, **settings)


def failed(report) -> set[str]:
    return {str(each.check) for each in report.failed}


def seen(report, name: str) -> str:
    """The verdict on a check and what was seen."""
    (result,) = [each for each in report.results if str(each.check) == name]
    return f"{result.verdict}: {result.seen}"


@each_case("chosen", SINGLY)
def test_fake_of_every_profile_passes(chosen) -> None:
    conventions = {name[1:]: value for name, value in chosen.items() if name.startswith(".")}
    profile = Profile(**{n: value for n, value in chosen.items() if not n.startswith(".")})
    if profile.read_parameters is not None:  # as the doctor finds out
        place = "query" if profile.read_parameters == "either" else profile.read_parameters
        conventions["read_parameters"] = place
    token = "sesame" if profile.key_header is not None else None
    settings = {"conventions": Conventions(**conventions), "profile": profile, "token": token}
    report = checked(small_fake(**settings).client())
    assert failed(report) == set()
    assert report.stopped is None
    counts = Counter(each.verdict for each in report.results)
    if profile.business_rules:
        assert "422" in seen(report, "delta.remove_auto_search_themes: HTTP status")
        assert (counts["open"], report.exit_code) == (1, 3)
    else:
        assert (counts["passed"], report.exit_code) == (len(CHECKS), 0), str(report)


def test_checks_cover_every_operation_and_parameter() -> None:
    assert len({str(check) for check in CHECKS}) == len(CHECKS) == 214
    assert len({check.operation for check in CHECKS}) == 16
    assert all(check.section and check.expected for check in CHECKS)


# What is sent.


def test_only_reads_are_sent_without_a_test_account() -> None:
    fake = small_fake()
    report = conform(fake.client(), account_id=ACCOUNT)
    assert {request.method for request in fake.requests} == {"GET"}
    assert {request.operation for request in fake.requests} == {
        check.operation for check in CHECKS if check.section == "4.2"
    }
    assert len(fake.requests) == report.sent
    assert report.exit_code == 0
    verdict = "not run: no write is sent without 'stage_drafts'".replace("'", "`")
    assert seen(report, f"{PAUSE}: HTTP status") == verdict


def test_drafts_are_staged_in_the_test_account_alone() -> None:
    fake = small_fake(accounts=[account("account_0"), account()])
    given = {PAUSE: {"account_id": "account_0", "campaign_id": "campaign_2"}, **ARGUMENTS}
    report = checked(fake.client(), account_id="account_0", arguments=given)
    assert report.exit_code == 0
    assert {draft.account_id for draft in fake.drafts} == {ACCOUNT}
    assert len(fake.drafts) == 18
    writes = [request for request in fake.requests if request.method != "GET"]
    accounts = [json.loads(request.body)["account_id"] for request in writes]
    assert all(each in (ACCOUNT, [ACCOUNT]) for each in accounts)


def test_each_platform_has_its_account() -> None:
    fake = FakeAdService()
    accounts = ["account_b204", "account_c3d8", "account_a91f", "account_d118"]
    given = {name: {"campaign_id": "campaign_4c10"} for name in ARGUMENTS}
    report = checked(fake.client(), stage_drafts=accounts, arguments=given)
    assert (failed(report), report.exit_code) == (set(), 0)
    # Its ids are not those of creatives, which no read shows.
    assert "open: 404" in seen(report, "beta.detect_creative_fatigue: with creative_id")
    report = checked(fake.client(), stage_drafts=accounts[0], account_id=accounts[1])
    assert (failed(report), report.exit_code) == (set(), 3)
    problem = "not run: no account was accepted: 422 account_b204 is an account of beta"
    assert seen(report, "alpha.explain_objectives: page") == problem
    assert seen(report, f"{CREATE}: diff") == "not run: no test account is one of gamma"


def test_account_with_items_is_preferred() -> None:
    fake = small_fake(accounts=[account("account_0", 0), account()])
    report = conform(fake.client(), account_id=["account_0", ACCOUNT])
    assert seen(report, f"{ADS}: data.id") == "passed: in all 5"


def test_account_that_is_accepted_is_preferred() -> None:
    report = conform(
        small_fake(accounts=[account(count=0)]).client(), account_id=["account_0", ACCOUNT]
    )
    assert seen(report, "beta.list_campaigns: HTTP status") == "passed: 200"


def test_method_that_is_refused_fails_even_where_no_account_is_known() -> None:
    name = "alpha.explain_objectives"
    report = conform(client_of(small_fake(), replaced(name, 405)), account_id=ACCOUNT)
    assert failed(report) == {f"{name}: HTTP status"}


def test_settings_of_the_client_are_used(tmp_path) -> None:
    fake = small_fake(token="sesame-open", conventions=Conventions(idempotency_header="Key"))
    ledger = SQLiteLedger(tmp_path / "drafts.db")
    progress: list[str] = []
    with fake.client(ledger=ledger, policy=Policy(operations=[PAUSE, "beta.*"])) as client:
        report = checked(client, progress=progress.append)
    assert len([entry for entry in ledger.entries() if entry.state == "staged"]) == 4
    assert seen(report, f"{PAUSE}: nothing live") == "passed: changed: nothing"
    assert seen(report, f"{ADS}: page").startswith("not run: gamma.list_ads: ")
    assert len(progress) > report.sent - 10
    assert progress[0] == "GET /v1/beta-ads/list-beta-campaigns"


# Deviations: the operation, what its responses are changed to, and the checks that fail.


def each_item(**fields):
    return lambda body: body["data"][0].update(fields)


def without(name: str, *path: str):
    def remove(body: dict) -> None:
        for step in path:
            body = body[step]
        (body[0] if isinstance(body, list) else body).pop(name)

    return remove


def field(name: str, value: object, *path: str):
    def put(body: dict) -> None:
        for step in path:
            body = body[step]
        body[name] = value

    return put


OF_READS = [
    (replaced(ADS, 206, b'{"data": [], "page": {"next": null}}', old=200), "status date_range"),
    (replaced(ADS, 500), "status"),
    (replaced(ADS, 302), "status"),
    (replaced(ADS, 405), "status"),
    (replaced(ADS, 404), "status"),
    (replaced(ADS, 200, b"<html><title>Login</title></html>"), "body without"),
    (edited(ADS, lambda body: body["data"]), "body"),
    (edited(ADS, without("data")), "data date_range"),
    (edited(ADS, field("data", None)), "data date_range"),
    (edited(ADS, lambda body: body["data"].append("ad_9")), "data"),
    (edited(ADS, without("id", "data")), "id"),
    (edited(ADS, each_item(id=7), call=1), "id"),
    (edited(ADS, each_item(id="")), "id"),
    (edited(ADS, without("name", "data")), "name"),
    (edited(ADS, each_item(name=None)), "name"),
    (edited(ADS, each_item(status=True)), "status_field"),
    (edited(ADS, each_item(status="ENABLED", id="same")), "distinct"),
    (edited(ADS, without("page")), "page"),
    (edited(ADS, field("page", [])), "page"),
    (edited(ADS, without("next", "page"), call=3), "next"),
    (edited(ADS, field("next", "", "page"), call=3), "next"),
    (edited(ADS, field("next", False, "page"), call=3), "next"),
]
NAMES = {
    "status": "HTTP status",
    "date_range": "with date_range",
    "id": "data.id",
    "name": "data.name",
    "status_field": "data.status",
    "distinct": "distinct ids",
    "next": "page.next",
    "without": "without account_id",
}


@each_case(("change", "expected"), OF_READS)
def test_deviation_of_a_read_fails_its_checks(change, expected) -> None:
    report = conform(client_of(small_fake(), change, max_retries=0), account_id=ACCOUNT)
    assert failed(report) == {f"{ADS}: {NAMES.get(name, name)}" for name in expected.split()}
    assert report.exit_code == 1


def asked(**arguments):
    """A change of what the service takes the arguments of a read for."""

    def change(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
        if name_of(request) != ADS or response.is_success:
            return response
        url = f"{request.url.partition('?')[0]}?account_id={ACCOUNT}"
        return fake.handle(attrs.evolve(request, url=url))

    return change


def test_read_without_or_of_an_unknown_account_must_be_refused() -> None:
    report = conform(client_of(small_fake(), asked()), account_id=ACCOUNT)
    assert failed(report) == {f"{ADS}: without account_id", f"{ADS}: unknown account_id"}


@each_case(
    ("status", "body", "verdict"),
    [
        (200, b'{"data": [], "page": {"next": null}}', "passed: no items"),
        (200, b"{}", "open: 200"),
        (404, b'{"error": {"message": "no such account"}}', "passed: 404 no such account"),
        (404, b"<title>Not here</title>", "passed: 404 Not here"),
        (500, b"", "open: 500"),
        (307, b"", "open: 307 to nowhere"),
    ],
)
def test_refusal_of_an_unknown_account_can_have_any_shape(status, body, verdict) -> None:
    def change(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
        is_unknown = UNKNOWN_ACCOUNT in request.url
        return attrs.evolve(response, status=status, body=body) if is_unknown else response

    report = conform(client_of(small_fake(), change, max_retries=0), account_id=ACCOUNT)
    assert (failed(report), report.exit_code) == (set(), 0)
    assert seen(report, f"{ADS}: unknown account_id") == verdict


# Continuations. The listing has three pages, and the third is the last.


def page_three(*, leads_to: str) -> object:
    """A change of the last page, which leads to another one."""
    cursors: list[str] = []

    def edit(body: dict) -> None:
        cursors.append(body["page"]["next"] or "")
        if len(cursors) == 3:
            body["page"]["next"] = {"second": cursors[0], "third": cursors[1]}[leads_to]

    return edited(ADS, edit)


def again(number: int):
    """A change by which a page comes twice, each time with another continuation."""
    bodies: list[dict] = []

    def edit(body: dict) -> dict:
        bodies.append(body)
        return bodies[number - 1] | {"page": body["page"]} if len(bodies) == number + 1 else body

    return edited(ADS, edit)


HOW = "the interface does not show how `page.next` is passed back: `adclient doctor` finds it out"


@each_case(
    ("change", "verdict", "fails"),
    [
        (page_three(leads_to="second"), "failed: page 3 leads back to an earlier page", ["next"]),
        (page_three(leads_to="third"), "failed: page 3 leads back to an earlier page", ["next"]),
        (again(2), "passed: null", ["distinct"]),
        (again(1), f"open: page 2 is the first page again; {HOW}", []),
        (
            edited(ADS, field("next", "https://other.example/v1/ads?cursor=2", "page")),
            "open: page 2: gamma.list_ads: the continuation 'https://other.example/v1/ads?…' "
            "points to another endpoint, so nothing was sent",
            [],
        ),
        (edited(ADS, field("next", "x", "page"), call=1), "open: page 2: 400 ", []),
        (
            edited(ADS, field("next", "\ud800", "page"), call=1),
            "open: page 2: page.next: contains a lone surrogate",
            [],
        ),
        (edited(ADS, field("next", {"after": 7}, "page"), call=1), "open: page 2: 400 ", []),
    ],
)
def test_continuation_is_judged_as_far_as_the_interface_shows_it(change, verdict, fails) -> None:
    report = conform(client_of(small_fake(), change), account_id=ACCOUNT)
    assert failed(report) == {f"{ADS}: {NAMES[name]}" for name in fails}
    assert seen(report, f"{ADS}: page.next").startswith(verdict)


def test_page_with_an_error_fails_the_listing() -> None:
    calls: list[Request] = []

    def change(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
        is_second = name_of(request) == ADS and "cursor=" in request.url
        calls.extend([request] * is_second)
        return attrs.evolve(response, status=503) if is_second else response

    report = conform(client_of(small_fake(), change), account_id=ACCOUNT)
    assert failed(report) == {f"{ADS}: page.next"}
    assert len(calls) == 3  # as the client retries


def test_listing_that_is_very_long_is_not_read_to_its_end() -> None:
    fake = small_fake(accounts=[account(count=MOST_PAGES + 5)], page_size=1)
    report = conform(fake.client(), account_id=ACCOUNT)
    assert report.exit_code == 0
    assert seen(report, f"{ADS}: page.next") == "not run: not read to its end, but 100 pages"
    assert seen(report, f"{ADS}: data.id") == "passed: in all 100"


def test_service_that_ignores_the_continuation_fails_nothing() -> None:
    fake = small_fake(conventions=Conventions(cursor_parameter="after"))

    def change(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
        return fake.handle(attrs.evolve(request, url=request.url.partition("&cursor=")[0]))

    client = client_of(fake, change, conventions=Conventions())
    report = conform(client, account_id=ACCOUNT)
    assert failed(report) == set()
    verdict = f"open: page 2 is the first page again; {HOW}"
    assert seen(report, f"{ADS}: page.next") == verdict
    assert seen(report, f"{ADS}: distinct ids") == "passed: ad_1: 1 of 2 items"


@each_case(
    "edit", [lambda body, n: body["data"][0].update(age=n), lambda body, n: body.update(data=[])]
)
def test_first_page_that_comes_again_fails_nothing_if_its_items_age_or_none_are_there(edit) -> None:
    fake, calls = small_fake(), []

    def change(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
        if name_of(request) != ADS:
            return response
        calls.append(request)
        first = fake.handle(attrs.evolve(request, url=request.url.partition("&cursor=")[0]))
        return edited(ADS, lambda body: edit(body, len(calls)))(fake, request, first)

    report = conform(client_of(fake, change), account_id=ACCOUNT)
    assert failed(report) == set()
    assert seen(report, f"{ADS}: page.next").startswith("open: page 2 is the first page again; ")


def test_item_whose_id_cannot_be_sent_ends_no_run() -> None:
    listing = "beta.list_campaigns"
    report = conform(
        client_of(small_fake(), edited(listing, each_item(id="\ud800"), call=1)),
        account_id=ACCOUNT,
    )
    assert (failed(report), report.exit_code) == (set(), 0)
    reason = "not run: campaign_id: contains a lone surrogate"
    assert seen(report, f"{listing}: with campaign_id") == reason


def test_empty_listing_judges_no_item() -> None:
    report = conform(small_fake(accounts=[account(count=0)]).client(), account_id=ACCOUNT)
    assert (failed(report), report.exit_code) == (set(), 0)
    for name in ("data.id", "data.name", "data.status", "distinct ids"):
        assert seen(report, f"{ADS}: {name}") == "not run: there are no items"
    assert seen(report, "beta.list_campaigns: with campaign_id") == "not run: there are no items"
    assert seen(report, f"{ADS}: data").startswith("passed")


# Deviations of writes.


def drafted(name: str):
    """A change by which a refused request of an operation gets a draft."""
    body = {
        "draft_id": "draft_x",
        "status": "pending_approval",
        "diff": {"field": "x", "before": 1, "after": 2},
        "requires": "human_two_step_approve",
    }

    def change(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
        if name_of(request) != name or response.status < 400:
            return response
        return attrs.evolve(response, status=201, body=json.dumps(body).encode())

    return change


def at_once(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
    """A change by which the drafts of pauses and creations take effect at once."""
    if response.status == 201 and name_of(request) in (PAUSE, CREATE):
        draft_id = json.loads(response.body)["draft_id"]
        fake.dashboard.arm(draft_id, reviewer="kim")
        fake.dashboard.confirm(draft_id, reviewer="kim")
    return response


def budget_at_once(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
    """A change by which a new budget, which no read needs to show, takes effect at once."""
    if response.status == 201 and name_of(request) == BUDGET:
        fake.change_live(ACCOUNT, "campaign_1", daily_budget=123)
    return response


REFUSED = [f"{name} of another type" for name in ("account_id", "campaign_id", "daily_budget")]
REFUSED += ["fields of another type", "without campaign_id", "by GET"]


@each_case(
    ("change", "expected"),
    [
        (replaced(BUDGET, 201, b"null", old=201), ["body"]),
        (edited(BUDGET, without("draft_id")), ["draft_id"]),
        (edited(BUDGET, field("draft_id", 7)), ["draft_id"]),
        (edited(BUDGET, field("draft_id", "draft_")), ["draft_id"]),
        (edited(BUDGET, field("draft_id", "d-7")), ["draft_id"]),
        (edited(BUDGET, without("status")), ["status"]),
        (edited(BUDGET, field("status", "approved")), ["status"]),
        (edited(BUDGET, without("requires")), ["requires"]),
        (edited(BUDGET, field("requires", "nobody")), ["requires"]),
        (edited(BUDGET, without("diff")), ["diff"]),
        (edited(BUDGET, field("diff", [])), ["diff"]),
        (edited(BUDGET, without("field", "diff")), ["diff.field"]),
        (edited(BUDGET, field("field", "", "diff")), ["diff.field"]),
        (edited(BUDGET, without("before", "diff")), ["diff.before"]),
        (edited(BUDGET, without("after", "diff")), ["diff.after"]),
        (edited(BUDGET, field("after", 124, "diff")), ["diff.after"]),
        (edited(BUDGET, field("after", "124.00 USD", "diff")), []),
        (edited(BUDGET, field("before", 7, "diff"), call=2), ["nothing live"]),
        (budget_at_once, ["nothing live"]),
        (drafted(BUDGET), REFUSED),
        (replaced(BUDGET, 405), ["HTTP status"]),
        (replaced(BUDGET, 500), ["HTTP status"]),
        (replaced(BUDGET, 303), ["HTTP status"]),
        (replaced(BUDGET, 200, old=422), REFUSED[:-1]),
        (replaced(BUDGET, 400, b'{"draft_id": "draft_7"}', old=422), REFUSED[:-1]),
    ],
)
def test_deviation_of_a_write_fails_its_checks(change, expected) -> None:
    report = checked(client_of(small_fake(), change))
    assert failed(report) == {f"{BUDGET}: {name}" for name in expected}
    assert report.exit_code == (1 if expected else 0)


def test_success_of_another_kind_fails_the_status_alone() -> None:
    report = checked(client_of(small_fake(), replaced_status(BUDGET, 201, 200)))
    assert failed(report) == {f"{BUDGET}: HTTP status"}
    assert seen(report, f"{BUDGET}: diff.after") == "passed: 123"


def replaced_status(name: str, old: int, new: int):
    def change(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
        is_meant = name_of(request) == name and response.status == old
        return attrs.evolve(response, status=new) if is_meant else response

    return change


def test_draft_that_takes_effect_at_once_fails() -> None:
    report = checked(client_of(small_fake(), at_once))
    assert failed(report) == {f"{PAUSE}: nothing live", f"{CREATE}: nothing live"}
    changed = "failed: changed: the `before` of the next draft, campaign_2"
    assert seen(report, f"{PAUSE}: nothing live") == changed


def test_value_before_a_pause_must_be_that_of_the_listing() -> None:
    report = checked(client_of(small_fake(), edited(PAUSE, field("before", "ON", "diff"))))
    assert failed(report) == {f"{PAUSE}: diff.before"}


def test_value_before_a_pause_may_be_a_number() -> None:
    report = checked(client_of(small_fake(), edited(PAUSE, field("before", 1, "diff"))))
    assert failed(report) == set()


def test_draft_id_of_another_change_fails() -> None:
    changes = (
        edited(BUDGET, field("draft_id", "draft_1")),
        edited(CREATE, field("draft_id", "draft_1")),
    )

    def change(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
        for each in changes:
            response = each(fake, request, response)
        return response

    report = checked(client_of(small_fake(), change))
    assert failed(report) == {f"{CREATE}: draft_id"}
    assert seen(report, f"{CREATE}: draft_id") == 'failed: "draft_1"'


def test_write_that_is_refused_is_open_unless_its_arguments_are_given() -> None:
    refusing = replaced(CREATE, 422, b'{"message": "fields.page is missing"}')
    report = checked(client_of(small_fake(), refusing))
    assert (failed(report), report.exit_code) == (set(), 3)
    verdict = "open: 422 fields.page is missing; pass valid `arguments`"
    assert seen(report, f"{CREATE}: HTTP status") == verdict
    assert seen(report, f"{CREATE}: by GET").startswith("not run")
    given = {CREATE: {"fields": {"page": 1}}, **ARGUMENTS}
    report = checked(client_of(small_fake(), refusing), arguments=given)
    assert failed(report) == {f"{CREATE}: HTTP status"}


def test_second_draft_that_is_refused_leaves_the_listing_as_evidence() -> None:
    calls: Counter[str] = Counter()

    def change(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
        if response.status != 201:
            return response
        calls[name_of(request)] += 1
        is_first = calls[name_of(request)] == 1
        return response if is_first else RawResponse(status=409, body=b"{}")

    report = checked(client_of(small_fake(), change))
    assert (failed(report), report.exit_code) == (set(), 0)
    assert seen(report, f"{PAUSE}: nothing live") == "passed: changed: nothing"
    assert seen(report, f"{BUDGET}: nothing live").startswith("not run")


def test_listing_that_cannot_be_read_to_its_end_shows_no_change() -> None:
    calls: Counter[str] = Counter()

    def change(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
        calls[name_of(request)] += 1
        is_later = name_of(request) == ADS and calls[CREATE] > 0 and "cursor=" in request.url
        return attrs.evolve(response, status=400) if is_later else response

    report = checked(client_of(small_fake(), change))
    assert failed(report) == set()
    assert seen(report, f"{CREATE}: nothing live") == "passed: changed: nothing"


def test_write_without_a_known_target_is_not_run() -> None:
    report = checked(small_fake().client(), arguments=None)
    assert (failed(report), report.exit_code) == (set(), 3)
    reason = "not run: no read shows a campaign_id: pass one in `arguments`"
    assert seen(report, f"{BUDGET}: HTTP status") == reason


# A run that ends early.


def test_dead_service_ends_the_run() -> None:
    fake = small_fake()
    fake.faults.add(Fault.refused(), times=None)
    report = conform(fake.client(max_retries=0), account_id=ACCOUNT)
    assert report.sent == 2
    assert (report.stopped, report.exit_code) == ("no whole response to 2 calls in a row", 1)
    assert failed(report) == {
        "beta.list_campaigns: HTTP status",
        "gamma.search_targeting: HTTP status",
    }
    assert seen(report, f"{ADS}: page") == "not run: no whole response to 2 calls in a row"
    assert "ended early: no whole response" in str(report)


@each_case(
    "fault",
    [
        Fault.no_response(),
        Fault.in_body("cut"),
        Fault.in_body("broken_gzip"),
        Fault.dropped(taken=True),
    ],
)
def test_failure_of_single_calls_fails_their_checks(fault) -> None:
    fake = small_fake()
    names = ("gamma.search_targeting", ADS)  # between them, others succeed
    for name in names:
        fake.faults.add(fault, operation=name, times=1)
    report = conform(fake.client(max_retries=0), account_id=ACCOUNT)
    assert failed(report) == {f"{name}: HTTP status" for name in names}
    assert report.stopped is None


def test_rate_limit_is_waited_for_while_there_is_time() -> None:
    limited = Profile(requests_a_minute=10)
    report = conform(small_fake(profile=limited).client(), account_id=ACCOUNT)
    assert report.exit_code == 0
    report = conform(small_fake(profile=limited).client(), account_id=ACCOUNT, timeout=30)
    assert (report.sent, report.exit_code) == (11, 1)
    assert report.stopped.startswith("429 ")
    assert report.stopped.endswith("; run it again later")


def test_check_after_the_end_of_a_run_shows_that_as_the_reason() -> None:
    fake = small_fake(accounts=[account(count=0)])
    fake.faults.add(Fault.refused(), times=None, operation="beta.list_campaigns", call=2)
    report = conform(fake.client(max_retries=0), account_id=ACCOUNT)
    reason = "not run: no whole response to 2 calls in a row"
    assert seen(report, "beta.list_campaigns: unknown account_id") == reason


def test_time_limit_ends_the_run() -> None:
    fake = small_fake(profile=Profile(latency=2))
    report = conform(fake.client(), account_id=ACCOUNT, timeout=9)
    assert (report.sent, report.stopped) == (5, "the time was over; allow more: `--timeout`")


def test_attempt_takes_no_longer_than_a_call_of_the_client() -> None:
    fake = small_fake(profile=Profile(latency=5))
    retry = RetryPolicy(max_retries=0, attempt_timeout=4)
    for settings in ({"timeout": 4, "max_retries": 0}, {"retry": retry}):
        report = conform(fake.client(**settings), account_id=ACCOUNT)
        assert seen(report, "beta.list_campaigns: HTTP status") == "failed: no response in time"


def test_interrupt_leaves_a_report() -> None:
    def change(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
        if name_of(request) == ADS:
            raise KeyboardInterrupt
        return response

    with pytest.raises(ConformInterrupted) as caught:
        conform(client_of(small_fake(), change), account_id=ACCOUNT)
    report = caught.value.report
    assert (report.stopped, report.exit_code) == ("interrupted", 1)
    assert seen(report, "beta.list_campaigns: distinct ids").startswith("passed")
    assert seen(report, f"{ADS}: HTTP status") == "not run: interrupted"


# Secrets and texts of the service.


@each_case(
    "settings",
    [
        {"token": "hunter2-s3cret"},
        {"auth": lambda request: {"X-Api-Key": "hunter2-s3cret"}},
        {"token": lambda: "hunter2-s3cret"},
    ],
)
def test_report_contains_no_credentials(settings) -> None:
    def change(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
        echo = "hunter2-s3cret" in str(request.headers.values())
        text = f"no {'hunter2-s3cret' if echo else 'token'}"
        if name_of(request) in (ADS, FATIGUE):
            mark = "?" if name_of(request) == ADS else "#"
            return RawResponse(status=302, headers={"location": f"/{text}{mark}session=7"})
        if response.status == 201:
            body = json.loads(response.body) | {"status": text}
            return attrs.evolve(response, body=json.dumps(body).encode())
        body = json.dumps({"message": text}).encode()
        return response if response.is_success else attrs.evolve(response, body=body)

    report = checked(client_of(small_fake(), change, **settings))
    for name in (ADS, FATIGUE):
        assert seen(report, f"{name}: HTTP status") == "failed: 302 to /no ***"
    assert seen(report, f"{BUDGET}: status") == 'failed: "no ***"'
    told = str(report) + report.markdown() + json.dumps(report.to_dict()) + repr(report)
    assert "hunter2" not in told
    assert "passed: 422 no ***" in seen(report, f"{BUDGET}: without campaign_id")


def test_secret_at_the_cut_of_a_long_message_is_hidden() -> None:
    def change(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
        return RawResponse(status=500, body=b"x" * 190 + b" hunter2-s3cret")

    client = client_of(small_fake(), change, token="hunter2-s3cret", max_retries=0)
    report = conform(client, account_id=ACCOUNT)
    assert seen(report, f"{ADS}: HTTP status").endswith(" ***")
    assert "hunter" not in str(report)


def test_report_is_shown_as_text_json_and_markdown() -> None:
    report = conform(
        client_of(small_fake(), edited(ADS, each_item(id="`a`|b", name=7))), account_id=ACCOUNT
    )
    text = str(report).splitlines()
    assert text[0] == "https://fake.adclient.test: 40 requests, no write"
    assert text[1] == "2 failed, 0 open, 132 not run, 80 passed"
    assert text[3].startswith(
        "  failed   gamma.list_ads: data.name: expected a string in each item"
    )
    assert text[-1].startswith("  not run  132 checks of 9 operations: no write is sent")
    assert max(map(len, text)) <= 100
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["counts"] == {"failed": 2, "open": 0, "not_run": 132, "passed": 80}
    assert (plain["exit_code"], plain["format_version"]) == (1, "1.0")
    first = next(each for each in plain["results"] if each["verdict"] == "failed")
    assert first == {
        "operation": ADS,
        "name": "data.name",
        "section": "2.2",
        "expected": "a string in each item",
        "verdict": "failed",
        "seen": "page 1, data[0]: a number",
    }
    rows = report.markdown().splitlines()
    assert rows[7] == (
        "| failed | gamma.list_ads | distinct ids | 2.2 "
        "| `each id once in a listing, as it identifies an item` | `'a'\\|b: 3 of 5 items` |"
    )
    assert len(rows) == 6 + len(CHECKS)


def test_result_of_a_check_is_found() -> None:
    report = conform(small_fake().client(), account_id=ACCOUNT)
    for check in CHECKS:
        assert report[check].check is check
    with pytest.raises(KeyError):
        report[ConformCheck("gamma.list_ads", "colour", "9", "blue")]
    assert isinstance(report[CHECKS[0]], ConformResult)


@each_case(
    ("settings", "argument"),
    [
        ({}, "account_id"),
        ({"account_id": ""}, "account_id"),
        ({"account_id": []}, "account_id"),
        ({"stage_drafts": [ACCOUNT, ""]}, "account_id"),
        ({"account_id": ACCOUNT, "timeout": 0}, "timeout"),
        ({"account_id": ACCOUNT, "arguments": {ADS: {}}}, "arguments"),
        ({"account_id": ACCOUNT, "arguments": {PAUSE: {"campain_id": "c"}}}, "arguments"),
        ({"account_id": ACCOUNT, "arguments": {BUDGET: {"daily_budget": math.nan}}}, "arguments"),
    ],
)
def test_argument_that_cannot_be_used_is_refused(settings, argument) -> None:
    with pytest.raises(ConfigurationError) as caught:
        conform(small_fake().client(), **settings)
    assert caught.value.argument == argument


def test_setting_that_cannot_be_used_is_an_error() -> None:
    conventions = Conventions(continuation=lambda cursor: cursor)
    with pytest.raises(ConfigurationError, match="expected a mapping"):
        conform(small_fake().client(conventions=conventions), account_id=ACCOUNT)


def test_client_must_be_open_and_sync() -> None:
    client = small_fake().client()
    client.close()
    with pytest.raises(ConfigurationError, match="closed"):
        conform(client, account_id=ACCOUNT)
    with pytest.raises(ConfigurationError, match="client"):
        conform(small_fake().async_client(), account_id=ACCOUNT)
