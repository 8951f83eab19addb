"""`adclient conform`: what it prints, its exit codes, and what it refuses."""

import json
import re
from pathlib import Path

import pytest
from cases import each_case
from conform_services import ACCOUNT, ARGUMENTS, small_fake

from adclient._command import main
from adclient.conform import CHECKS
from adclient.doctor import examine
from adclient.testing import Fault

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "conform.md"
SECRET = "hunter2-s3cret"
ARGUMENTS_TEXT = json.dumps(ARGUMENTS)


def run(fake, *arguments: str, url: tuple[str, ...] = ()) -> int:
    with fake.as_environment():
        return main(["conform", *(url or [fake.base_url]), *arguments])


def test_reads_of_an_account_are_checked(capsys) -> None:
    fake = small_fake(token=SECRET)
    assert run(fake, "--account", ACCOUNT) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[1] == "0 failed, 0 open, 132 not run, 82 passed"
    assert {request.method for request in fake.requests} == {"GET"}
    assert printed.err.splitlines()[0] == "adclient: GET /v1/beta-ads/list-beta-campaigns"
    assert len(printed.err.splitlines()) == len(fake.requests)


def test_drafts_are_staged_in_the_test_account(capsys) -> None:
    fake = small_fake()
    staging = ["--stage-drafts", ACCOUNT, "--arguments", ARGUMENTS_TEXT]
    assert run(fake, *staging, "--quiet", "--json") == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert report["counts"] == {"failed": 0, "open": 0, "not_run": 0, "passed": 214}
    assert report["staged_in"] == [ACCOUNT]
    assert len(fake.drafts) == 18
    assert printed.err == ""


def test_failed_check_is_exit_code_1(capsys) -> None:
    fake = small_fake()
    items = [{"id": "a", "name": "A"}]
    fake.faults.add(
        Fault.response({"data": items, "page": {"next": None}}),
        operation="gamma.list_ads",
        times=None,
    )
    assert run(fake, "-a", ACCOUNT, "--quiet", "--markdown") == 1
    rows = capsys.readouterr().out.splitlines()
    assert "| failed | gamma.list_ads | data.status | 2.2 " in rows[6]


def test_operation_that_is_not_accepted_is_exit_code_3(capsys) -> None:
    assert run(small_fake(), "-a", "account_9", "--quiet") == 3
    printed = " ".join(capsys.readouterr().out.split())
    assert "7 operations: no account was accepted: 404 " in printed
    assert "; `adclient doctor` finds out how the service is called" in printed


def test_service_file_has_the_address_the_accounts_and_the_secret(
    capsys, tmp_path, monkeypatch
) -> None:
    fake = small_fake(token=SECRET)
    report = examine(
        fake.base_url, account_id=ACCOUNT, token=SECRET, transport=fake.transport, timeout=3600
    )
    report.save(tmp_path / "service.toml")
    file = ("--service", str(tmp_path / "service.toml"))
    assert run(fake, "--quiet", url=file) == 0
    with fake.as_environment():
        monkeypatch.delenv("ADCLIENT_BASE_URL")
        monkeypatch.setenv("ADCLIENT_SERVICE", file[1])
        assert main(["conform", "--quiet"]) == 0


def test_interrupt_prints_the_report(capsys, monkeypatch) -> None:
    fake = small_fake()

    def interrupt(request, time_left=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(fake._transport, "service", interrupt)
    assert run(fake, "-a", ACCOUNT, "--quiet") == 130
    assert "ended early: interrupted" in capsys.readouterr().out


@each_case(
    ("arguments", "complaint"),
    [
        ([], "URL is missing: pass it, or a file with --service"),
        (["http://x"], "account_id is missing"),
        (["http://x", "-a", ACCOUNT, "--arguments", "[]"], "not a JSON object"),
        (["http://x", "-a", ACCOUNT, "--arguments", '{"a": 1}'], "expected an object for each"),
        (["http://x", "-a", ACCOUNT, "--arguments", '{"a": {}}'], "'a' is not a write"),
        (["http://x", "-a", ACCOUNT, "--timeout", "0"], "timeout"),
        (["http://x", "-a", ACCOUNT, "--json", "--markdown"], "not allowed with"),
        (["--service", "missing.toml"], "missing.toml"),
    ],
)
def test_command_line_that_cannot_be_used_is_refused(arguments, complaint, capsys) -> None:
    try:
        code = main(["conform", *arguments])
    except SystemExit as refused:
        code = refused.code
    assert code == 2
    assert complaint in capsys.readouterr().err


def test_page_has_options_and_exit_codes_of_the_command(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["conform", "--help"])
    printed, page = capsys.readouterr().out, PAGE.read_text("utf-8")
    options = set(re.findall(r"--[a-z-]+", "".join(re.findall(r"(?m)^\| (`--.*?) \|", page))))
    others = {"--help", "--save"}  # the latter is the doctor's
    assert options == set(re.findall(r"--[a-z-]+", printed)) - others
    assert f"{len(CHECKS)} checks" in page
    codes = re.findall(r"^\| (\d+) \| (.*) \|$", page, re.MULTILINE)
    assert codes == re.findall(r"^  (\d+) +(.*)$", printed, re.MULTILINE)
