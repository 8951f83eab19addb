"""`adclient.conform`: writes are staged in test accounts alone, and each deviation is found."""

import json
from collections import Counter

import conform_services
from cases import each_case
from conform_services import ACCOUNT, BUDGET, edited, put, seen, small_fake, with_drafts, without
from switches import ROWS, profile_of

from adclient import Conventions
from adclient.conform import CHECKS
from adclient.ledger import SQLiteLedger
from adclient.policy import Policy


@each_case("chosen", *ROWS)
def test_fake_of_every_profile_passes(chosen) -> None:
    profile, conventions = profile_of(chosen)
    if profile.read_parameters is not None:  # as the doctor finds out
        place = "query" if profile.read_parameters == "either" else profile.read_parameters
        conventions["read_parameters"] = place
    token = "sesame" if profile.key_header is not None else None
    settings = {"conventions": Conventions(**conventions), "profile": profile, "token": token}
    report = with_drafts(small_fake(**settings).client())
    assert conform_services.failed(report) == set()
    assert report.stopped is None
    counts = Counter(each.verdict for each in report.results)
    if profile.business_rules:
        assert "422" in seen(report, "delta.remove_auto_search_themes: HTTP status")
        assert (counts["open"], report.exit_code) == (1, 3)
    else:
        assert (counts["passed"], report.exit_code) == (len(CHECKS), 0), str(report)


def test_drafts_are_staged_in_the_test_account_alone() -> None:
    fake = small_fake(accounts=[conform_services.account("account_0"), conform_services.account()])
    given = {
        conform_services.PAUSE: {"account_id": "account_0", "campaign_id": "campaign_2"},
        **conform_services.ARGUMENTS,
    }
    report = with_drafts(fake.client(), account_id="account_0", arguments=given)
    assert report.exit_code == 0
    assert {draft.account_id for draft in fake.drafts} == {ACCOUNT}
    assert len(fake.drafts) == 18
    writes = [request for request in fake.requests if request.method != "GET"]
    accounts = [json.loads(request.body)["account_id"] for request in writes]
    assert all(each in (ACCOUNT, [ACCOUNT]) for each in accounts)


def test_settings_of_the_client_are_used(tmp_path) -> None:
    fake = small_fake(token="sesame-open", conventions=Conventions(idempotency_header="Key"))
    ledger = SQLiteLedger(tmp_path / "drafts.db")
    progress: list[str] = []
    with fake.client(
        ledger=ledger, policy=Policy(operations=[conform_services.PAUSE, "beta.*"])
    ) as client:
        report = with_drafts(client, progress=progress.append)
    assert len([entry for entry in ledger.entries() if entry.state == "staged"]) == 4
    assert seen(report, f"{conform_services.PAUSE}: nothing live") == "passed: changed: nothing"
    assert seen(report, f"{conform_services.ADS}: page").startswith("not run: not sent: ")
    assert progress[:2] == ["checking beta.list_campaigns", "checking gamma.search_targeting"]


# Deviations.


def budget_at_once(fake, request, response):
    """A change by which a new budget, which no read needs to show, takes effect at once."""
    if response.status == 201 and conform_services.name_of(request) == BUDGET:
        fake.change_live(ACCOUNT, "campaign_1", daily_budget=123)
    return response


@each_case(
    ("change", "expected"),
    (conform_services.replaced(BUDGET, 201, b"null", old=201), ["body"]),
    (edited(BUDGET, without("draft_id")), ["draft_id"]),
    (edited(BUDGET, put("draft_id", "d-7")), ["draft_id"]),
    (edited(BUDGET, put("status", "approved")), ["status"]),
    (edited(BUDGET, without("diff")), ["diff"]),
    (edited(BUDGET, without("field", "diff")), ["diff.field"]),
    (edited(BUDGET, without("before", "diff")), ["diff.before"]),
    (edited(BUDGET, without("after", "diff")), ["diff.after"]),
    (edited(BUDGET, put("after", "124.00 USD", "diff")), []),
    (edited(BUDGET, put("before", 7, "diff"), call=2), ["nothing live"]),
    (budget_at_once, ["nothing live"]),
    (conform_services.replaced(BUDGET, 200, None, old=201), ["HTTP status"]),
)
def test_deviation_of_a_write_fails_its_checks(change, expected) -> None:
    policy = Policy(operations=[BUDGET, "alpha.explain_objectives"])  # the others take long
    report = with_drafts(conform_services.client_of(small_fake(), change, policy=policy))
    assert conform_services.failed(report) == {f"{BUDGET}: {name}" for name in expected}
    assert report.exit_code == (1 if expected else 3)
    is_judged = not {"diff", "diff.after", "body", "HTTP status"} & {*expected}
    assert not is_judged or seen(report, f"{BUDGET}: diff.after").startswith("passed: ")


def test_write_without_a_known_target_is_not_run() -> None:
    report = with_drafts(small_fake().client(), arguments=None)
    assert (conform_services.failed(report), report.exit_code) == (set(), 3)
    reason = "not run: no read shows a campaign_id: pass one in `arguments`"
    assert seen(report, f"{BUDGET}: HTTP status") == reason
