"""The page on plans and the workflows of CI are correct, in a git repository."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple

import pytest
import yaml
from pages import ROOT, blocks

from adclient import __version__
from adclient.ledger import SQLiteLedger
from adclient.plan import Plan
from adclient.testing import FakeAdService
from adclient.testing.server import serving

FILE = ROOT / "docs" / "how-to" / "review.md"
WORKFLOWS = ROOT / "examples" / "workflows"
# What a step may run besides git and adclient; each call is a line of `calls`.
STUBS = {"pip": "", "gh": "if [ $1 = api ]; then echo 7; else cat report.md >comment.md; fi"}

PLAN, POLICY, REVERTING = (text for _, text in blocks(FILE, "toml"))
GITHUB, GITLAB = ((WORKFLOWS / f"{host}.yml").read_text("utf-8") for host in ("github", "gitlab"))
(_, STEPS), _ = blocks(FILE, "sh")
SECRETS = {"ADCLIENT_TOKEN", "ADCLIENT_BASE_URL", "ADCLIENT_LEDGER", "PGPASSWORD"}


class Repository(NamedTuple):
    """A clone of a repository, and the service and the ledger of its CI."""

    folder: Path
    fake: FakeAdService
    environment: dict[str, str]
    secrets: dict[str, str]

    def git(self, arguments: str) -> str:
        done = self.shell(f"git {arguments}", {})
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
        self.git(f"add '{path}'")
        self.git("commit -q -m Change")

    def merge(self) -> str:
        """Merge the branch `spring`; the commit before."""
        before = self.git("rev-parse main")
        self.git("checkout -q main")
        self.git("merge -q --no-ff --no-edit spring")
        return before

    def shell(self, script: str, variables: Mapping[str, str]) -> "CompletedProcess[str]":
        options = {"env": {**self.environment, **variables}, "cwd": self.folder}
        command = ["bash", "-e", "-c", script]
        return subprocess.run(command, capture_output=True, encoding="utf-8", **options)

    def read(self, name: str) -> str:
        folders = (self.folder, self.folder.parent / "runner", self.folder.parent)
        paths = (folder / name for folder in folders)
        return next((path.read_text("utf-8") for path in paths if path.exists()), "")

    def clear(self) -> None:
        """Begin another job, with a folder that has only what is committed."""
        self.git("reset -q --hard")
        self.git("clean -q -f -d")
        shutil.rmtree(self.folder.parent / "runner", ignore_errors=True)
        (self.folder.parent / "runner").mkdir()
        (self.folder.parent / "calls").unlink(missing_ok=True)


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    fake, folder, stubs = FakeAdService(token="secret-token"), tmp_path / "ads", tmp_path / "bin"
    names = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
    folder.mkdir()
    stubs.mkdir()
    for name, body in STUBS.items():
        stub = f'#!/bin/bash\necho "{name} $*" >>"{tmp_path}/calls"\n{body}\n'
        (stubs / name).write_text(stub, "utf-8")
        (stubs / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = {**kept, **{f"GIT_{name}": "ci@x" for name in names}}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "PYTHONIOENCODING": "utf-8"}
    commands = [str(stubs), str(Path(sys.executable).parent), kept["PATH"]]
    environment["PATH"] = os.pathsep.join(commands)
    with serving(fake) as url:
        secrets = {"ADCLIENT_BASE_URL": url, "ADCLIENT_TOKEN": "secret-token"}
        secrets |= {"ADCLIENT_LEDGER": str(tmp_path / "drafts.db"), "PGPASSWORD": "hunter2"}
        made = Repository(folder, fake, environment, secrets)
        made.git("init -q -b main")
        made.commit("policy.toml", POLICY)
        made.git("checkout -q -b spring")
        yield made


def github(repository: Repository, name: str, before: str = "") -> tuple[int, str]:
    """Run the steps of a job as GitHub does; the exit code of the one that failed, and the log."""
    summary = str(repository.folder.parent / "summary")
    settings = {f"{kind}.{key}": key for kind in ("vars", "secrets") for key in SECRETS}
    context = {name: repository.secrets[key] for name, key in settings.items()}
    context |= {"github.token": "gh-token", "github.repository": "o/r"}
    context |= {"github.event.before": before, "github.event.pull_request.number": "7"}
    usual = {"GITHUB_STEP_SUMMARY": summary, "GITHUB_REPOSITORY": "o/r", "GITHUB_SHA": "abc"}
    usual["RUNNER_TEMP"] = str(repository.folder.parent / "runner")
    failed, log = 0, ""
    for step in yaml.safe_load(GITHUB)["jobs"][name]["steps"]:
        if "run" not in step or (failed and step["name"] != "Comment"):
            continue
        given = {
            key: re.sub(r"\$\{\{ (.+?) \}\}", lambda found: context[found[1]], value)
            for key, value in step.get("env", {}).items()
        }
        assert "${{" not in step["run"], "an expression could inject a command"
        done = repository.shell(step["run"], {**usual, **given})
        log += done.stdout + done.stderr
        failed = failed or done.returncode
    return failed, log


def gitlab(repository: Repository, name: str, before: str) -> tuple[int, str]:
    """Run the scripts of a job as GitLab does; the exit code and the log."""
    pipeline = yaml.safe_load(GITLAB)
    job = pipeline[name]
    key = "CI_COMMIT_BEFORE_SHA" if name == "stage" else "CI_MERGE_REQUEST_DIFF_BASE_SHA"
    given = {key: before, **(repository.secrets if name == "stage" else {})}
    script = [*pipeline["default"]["before_script"], *job["script"]]
    done = repository.shell("\n".join(script), given)
    after = repository.shell("\n".join(job["after_script"]), {})
    assert after.returncode == 0
    return done.returncode, done.stdout + done.stderr + after.stdout


def run(repository: Repository, host: str, name: str, before: str) -> tuple[int, str]:
    """Run a job in a folder as the code host checks it out."""
    repository.clear()
    if host == "gitlab":
        return gitlab(repository, name, before)
    if name == "stage":
        return github(repository, name, before)
    # The merge that GitHub makes to test a pull request.
    repository.git("checkout -q --detach main")
    repository.git("merge -q --no-ff --no-edit spring")
    try:
        return github(repository, name)
    finally:
        repository.git("checkout -q spring")


@pytest.mark.parametrize("host", ["github", "gitlab"])
def test_plan_is_checked_staged_and_reported(repository: Repository, host: str) -> None:
    fake, ledger = repository.fake, SQLiteLedger(repository.secrets["ADCLIENT_LEDGER"])

    def check() -> tuple[int, str]:
        return run(repository, host, "check", repository.git("rev-parse main"))

    # What cannot be read, and what the policy refuses, fails.
    repository.commit("plans/2026-w47.toml", PLAN.replace("account_id", "acount_id", 1))
    code, log = check()
    assert code == 2
    assert "acount_id is not a key here: did you mean account_id?" in log
    assert repository.read("report.md") == repository.read("comment.md")
    if host == "github":  # an earlier comment must not look like one on this commit
        assert repository.read("comment.md").startswith("There is no report on the plans")
    repository.commit("plans/2026-w47.toml", PLAN.replace("= 120", "= 999"))
    assert check()[0] == 3
    report = repository.read("report.md")
    assert "daily_budget is 999, and money allows 0 to 500" in report
    if host == "github":
        assert repository.read("comment.md") == report
        calls = repository.read("calls")
        assert "gh pr comment 7 --body-file report.md\n" in calls
    repository.commit("plans/2026-w47.toml", PLAN)
    other = PLAN.replace("2026-w47", "2026-w48").replace("57a7", "cb1a")
    other = other.replace("4c10", "17e6").replace("= 100", "= 80")
    repository.commit("plans/é w48.toml", other)
    assert check()[0] == 0
    assert "### `2 plans: 4 allowed`\n" in repository.read("report.md")
    assert fake.requests == ()

    before = repository.merge()
    code, log = run(repository, host, "stage", before)
    assert (code, "does not exist" in log) == (2, True)
    ledger.create()
    code, log = run(repository, host, "stage", before)
    assert code == 0, log
    report = repository.read("report.md")
    assert not [secret for secret in ("secret-token", "hunter2") if secret in log + report]
    assert len(fake.requests) == len({draft.draft_id for draft in fake.drafts}) == 4
    assert ": 4 staged`\n" in report
    for draft in fake.drafts:
        assert f"| `{draft.draft_id}` |" in report
    assert "`daily_budget: 100 -> 120`" in report
    assert run(repository, host, "stage", before)[0] == 0
    report = repository.read("report.md")
    assert ": 4 already staged`\n" in report
    assert f"`head of the ledger: {ledger.verify()}`" in report
    if host == "github":
        assert repository.read("comment.md") == report
        assert "gh pr comment 7 --body-file report.md\n" in repository.read("calls")
    done = repository.shell(STEPS, repository.secrets)
    assert (done.returncode, done.stderr) == (0, "")
    assert ": 2 already staged`\n" in repository.read("report.md")
    assert len(fake.requests) == 4
    # A merge without plans does nothing, whatever else it contains.
    repository.git("checkout -q spring")
    repository.git("rm -q plans/2026-w47.toml")
    repository.commit("plans/drafts/2026-w50.toml", "not a plan")
    repository.commit("report.md", "forged")
    code, log = check()
    assert (code, "forged" in log) == (0, False)
    before = repository.merge()
    code, log = run(repository, host, "stage", before)
    assert (code, "forged" in log, "gh" in repository.read("calls")) == (0, False, False)
    # A plan that becomes a link is checked.
    repository.git("checkout -q spring")
    (repository.folder / "plans" / "é w48.toml").unlink()
    (repository.folder / "plans" / "é w48.toml").symlink_to("../policy.toml")
    repository.git("commit -q -a -m Link")
    assert check()[0] == 2
    assert Plan.revert("2026-w47", ledger.entries()).to_toml() == REVERTING


def test_workflows_install_this_version() -> None:
    installed = re.findall(r"pip install .*adclient.*==([\d.]+)", GITHUB + GITLAB)
    assert set(installed) == {__version__}


def test_pull_request_is_checked_without_a_secret_of_the_service() -> None:
    check = yaml.safe_dump(yaml.safe_load(GITHUB)["jobs"]["check"])
    assert not [name for name in (*SECRETS, "secrets.", "environment") if name in check]
    assert "environment" not in yaml.safe_load(GITLAB)["check"]
