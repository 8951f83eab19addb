"""`adclient conform`: what it prints, its exit codes, and what it refuses."""

import json

from conform_services import ACCOUNT, ARGUMENTS, small_fake
from run_command import run_command

from adclient._command import main
from adclient.testing import Fault


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
