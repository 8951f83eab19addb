"""`adclient.conform`: what is sent, how a run ends, and its report."""

import json

import attrs
import conform_services
import pytest
from cases import each_case
from conform_services import (
    ACCOUNT,
    ADS,
    ARGUMENTS,
    BUDGET,
    PAUSE,
    failed,
    seen,
    small_fake,
    with_reads,
)
from run_command import run_command

from adclient import ConfigurationError, Conventions
from adclient._command import main
from adclient._core.response import RawResponse
from adclient.conform import CHECKS, conform
from adclient.testing import Fault, Profile

TEXT = Conventions(continuation=lambda cursor: cursor)
FATIGUE = "beta.detect_creative_fatigue"


def test_only_reads_are_sent_without_a_test_account() -> None:
    fake = small_fake()
    report = conform(fake.client(), account_id=ACCOUNT)
    assert {request.method for request in fake.requests} == {"GET"}
    assert {request.operation for request in fake.requests} == {
        check.operation for check in CHECKS if check.section == "4.2"
    }
    assert len(fake.requests) == report.sent
    assert report.exit_code == 0
    verdict = "not run: `stage_drafts` names no account of its platform"
    assert seen(report, f"{PAUSE}: HTTP status") == verdict


# A run that ends early.


def test_dead_service_ends_the_run() -> None:
    fake = small_fake()
    reason = "no whole response to 2 requests in a row; run it again when the service responds"
    fake.faults.add(Fault.refused(), times=None)
    report = with_reads(fake=fake, max_retries=0)
    assert (report.sent, report.stopped, report.exit_code) == (2, reason, 1)
    assert failed(report) == set()
    assert seen(report, "beta.list_campaigns: HTTP status").startswith("not run: ")
    assert seen(report, f"{ADS}: page") == f"not run: {reason}"
    assert "ended early: no whole response" in str(report)


@each_case("fault", Fault.no_response(), Fault.in_body("cut"), Fault.in_body("broken_gzip"))
def test_failure_of_single_calls_fails_their_checks(fault) -> None:
    fake = small_fake()
    names = ("gamma.search_targeting", ADS)  # between them, others succeed
    for name in names:
        fake.faults.add(fault, operation=name, times=1)
    report = with_reads(fake=fake, max_retries=0)
    assert failed(report) == {f"{name}: HTTP status" for name in names}
    assert report.stopped is None


def test_run_ends_when_its_time_is_over() -> None:
    limited = Profile(requests_a_minute=10)
    assert with_reads(fake=small_fake(profile=limited)).exit_code == 0  # it waits
    report = conform(small_fake(profile=limited).client(), account_id=ACCOUNT, timeout=30)
    assert (report.sent, report.exit_code) == (11, 1)
    assert report.stopped.startswith("the service asks to wait 60 s; run it again later")
    limited = with_reads(conform_services.replaced("gamma.list_ads", 429), max_retries=0)
    assert limited.stopped == "429; run it again later"
    assert limited[CHECKS[0]].verdict == "not run"
    slow = small_fake(profile=Profile(latency=2))
    report = conform(slow.client(), account_id=ACCOUNT, timeout=9)
    assert (report.sent, report.stopped) == (5, "the time was over; allow more: `--timeout`")


# Secrets and texts of the service.


@each_case(
    "settings",
    {"token": "hunter2-s3cret"},
    {"token": lambda: "hunter2-s3cret"},
    {"auth": lambda request: {"X-Api-Key": "hunter2-s3cret"}},
)
def test_report_contains_no_credentials(settings) -> None:
    def change(fake, request, response):
        echo = "hunter2-s3cret" in str(request.headers.values())
        text = f"no {'hunter2-s3cret' if echo else 'token'}"
        if conform_services.name_of(request) in (ADS, FATIGUE):
            mark = "?" if conform_services.name_of(request) == ADS else "#"
            return RawResponse(status=302, headers={"location": f"/{text}{mark}session=7"})
        if response.status == 201:
            body = json.loads(response.body) | {"status": text}
            return attrs.evolve(response, body=json.dumps(body).encode())
        body = json.dumps({"message": text}).encode()
        return response if response.is_success else attrs.evolve(response, body=body)

    report = conform_services.with_drafts(
        conform_services.client_of(small_fake(), change, **settings)
    )
    for name in (ADS, FATIGUE):
        assert seen(report, f"{name}: HTTP status") == "failed: 302 to /no ***"
    assert seen(report, f"{BUDGET}: status") == 'failed: draft, status: "no ***"'
    told = str(report) + report.markdown() + json.dumps(report.to_dict()) + repr(report)
    assert "hunter2" not in told
    assert seen(report, "beta.list_campaigns: without account_id") == "passed: 422 no ***"


@each_case(
    ("settings", "argument"),
    ({}, "account_id"),
    ({"stage_drafts": [ACCOUNT, ""]}, "account_id"),
    ({"account_id": ACCOUNT, "client": small_fake().async_client()}, "client"),
    ({"account_id": ACCOUNT, "client": small_fake().client(conventions=TEXT)}, "continuation"),
    ({"account_id": ACCOUNT, "timeout": 0}, "timeout"),
    ({"account_id": ACCOUNT, "arguments": {PAUSE: {"campain_id": "c"}}}, "arguments"),
)
def test_argument_that_cannot_be_used_is_refused(settings, argument) -> None:
    with pytest.raises(ConfigurationError) as caught:
        conform(**{"client": small_fake().client(), **settings})
    assert caught.value.argument == argument


def run(fake, *arguments: str, url: tuple[str, ...] = ()) -> int:
    with fake.as_environment():
        return main(["conform", *(url or [fake.base_url]), *arguments])


def test_drafts_are_staged_in_the_test_account(capsys) -> None:
    fake = small_fake()
    staging = ["--stage-drafts", ACCOUNT, "--arguments", json.dumps(ARGUMENTS)]
    assert run(fake, *staging, "--quiet", "--json") == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert report["counts"] == {"failed": 0, "open": 0, "not run": 0, "passed": 169}
    assert (report["staged_in"], len(fake.drafts), printed.err) == ([ACCOUNT], 18, "")


def test_failed_check_is_exit_code_1(capsys) -> None:
    fake = small_fake()
    page = Fault.response({"data": [{"id": "a", "name": "A"}], "page": {"next": None}})
    fake.faults.add(page, operation="gamma.list_ads", times=None)
    assert run(fake, "-a", ACCOUNT, "--quiet", "--markdown") == 1
    rows = capsys.readouterr().out.splitlines()
    assert rows[6].startswith("| **failed** | `gamma.list_ads` | `data.status: expected a string")


def test_operation_that_is_not_accepted_is_exit_code_3(capsys) -> None:
    assert run(small_fake(), "-a", "account_9", "--quiet") == 3
    printed = " ".join(capsys.readouterr().out.split())
    assert "open beta.list_campaigns and 6 more · HTTP status: expected 200" in printed
    assert "no account was accepted; `adclient doctor` finds out how the service is c" in printed


def test_service_file_has_the_address_the_accounts_and_the_secret(tmp_path, monkeypatch) -> None:
    fake, file = small_fake(token="sesame"), tmp_path / "service.toml"
    auth = '[auth]\nenv = "ADS_KEY"\n'
    file.write_text(f'format = 2\nurl = "{fake.base_url}"\naccounts = ["{ACCOUNT}"]\n{auth}')
    monkeypatch.setenv("ADS_KEY", "sesame")
    assert run(fake, "--quiet", url=("--service", str(file))) == 0


def test_terminal_shows_only_the_last_step(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    fake = small_fake()
    words = ["conform", "--url", fake.base_url, "-a", ACCOUNT]
    with fake.as_environment():
        ran = run_command(*words, terminals=["out", "err"])
        log = run_command(*words)
    first, *_, last = ran.err.split("\r")
    assert (first, last) == ("checking beta.list_campaigns", "")
    assert max(map(len, ran.out.splitlines())) < 50
    assert log.err.startswith("adclient: checking beta.list_campaigns\nadclient: checking gamma.")
