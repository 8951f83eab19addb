"""The page for teams is correct: its plan, and the CI script, in a git repository."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from adclient import Plan
from adclient.ledger import SQLiteLedger
from adclient.plan.report import VERDICTS
from adclient.testing import FakeAdService
from adclient.testing.server import serving

PAGE = (Path(__file__).parent.parent.parent / "docs" / "how-to" / "for-teams.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


PLAN, POLICY, REVERTING = blocks("toml")
*_, SCRIPT, _ = blocks("python")
CHECK, STAGE, _ = "".join(blocks("sh")).splitlines()


class Repository(NamedTuple):
    """A clone of a repository, and the service and the ledger of its CI."""

    folder: Path
    fake: FakeAdService
    environment: dict[str, str]

    def git(self, *arguments: str) -> None:
        self._run("git", *arguments, check=True)

    def commit(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
        self.git("add", path)
        self.git("commit", "-q", "-m", f"Change {path}")

    def ci(self, command: str) -> tuple[int, str]:
        """Run a command of the page; the exit code and what it printed."""
        program, *arguments = shlex.split(command)
        assert program == "python"
        done = self._run(sys.executable, *arguments)
        return done.returncode, done.stdout + done.stderr

    @property
    def report(self) -> str:
        return (self.folder / "report.md").read_text("utf-8")

    def _run(self, *command: str, check: bool = False) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            check=check,
            capture_output=True,
            encoding="utf-8",
        )


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    fake, folder = FakeAdService(token="secret-token"), tmp_path / "ads"
    roles, parts = ("AUTHOR", "COMMITTER"), ("NAME", "EMAIL")
    names = {f"GIT_{role}_{part}": "ci@x" for role in roles for part in parts}
    folder.mkdir()
    with serving(fake) as url:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            **names,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "ADCLIENT_BASE_URL": url,
            "ADCLIENT_TOKEN": "secret-token",
            "ADCLIENT_LEDGER": str(tmp_path / "drafts.db"),
            "PYTHONIOENCODING": "utf-8",
        }
        made = Repository(folder, fake, environment)
        made.git("init", "-q", "--bare", "-b", "main", str(tmp_path / "origin.git"))
        made.git("clone", "-q", str(tmp_path / "origin.git"), ".")
        made.git("checkout", "-q", "-b", "main")
        made.commit("policy.toml", POLICY)
        made.commit("ci/plan.py", SCRIPT)
        made.git("push", "-q", "origin", "main")
        yield made


def test_plan_is_checked_staged_and_reported(repository: Repository) -> None:
    fake, ledger = repository.fake, SQLiteLedger(repository.environment["ADCLIENT_LEDGER"])
    repository.git("checkout", "-q", "-b", "spring")
    # What cannot be read, and what the policy refuses, fails.
    repository.commit("plans/2026-w47.toml", PLAN.replace("account_id", "acount_id", 1))
    problem = "acount_id is not a key here: did you mean account_id?"
    assert repository.ci(CHECK) == (2, f"plans/2026-w47.toml, line 7: {problem}\n")
    repository.commit("plans/2026-w47.toml", PLAN.replace("= 120", "= 999"))
    assert repository.ci(CHECK)[0] == 3
    assert "daily_budget is 999, and money allows 0 to 500" in repository.report
    repository.commit("plans/2026-w47.toml", PLAN)
    assert repository.ci(CHECK)[0] == 0
    assert "\n2 allowed.\n" in repository.report
    assert fake.requests == ()

    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--no-ff", "--no-edit", "spring")
    assert repository.ci(STAGE)[1].strip().endswith("does not exist")
    ledger.create()
    code, told = repository.ci(STAGE)
    assert code == 0, told
    assert "secret-token" not in told + repository.report
    assert len(fake.requests) == len({draft.draft_id for draft in fake.drafts}) == 2
    assert "\n2 staged.\n" in repository.report
    for draft in fake.drafts:
        assert f"| `{draft.draft_id}` |" in repository.report
    assert "`daily_budget: 100 → 120`" in repository.report
    assert repository.ci(STAGE)[0] == 0
    assert "\n2 already staged.\n" in repository.report
    assert f"`head of the ledger: {ledger.verify()}`" in repository.report
    assert len(fake.requests) == 2
    assert Plan.revert("2026-w47", ledger.entries()).to_toml() == REVERTING


def test_verdicts_of_the_page_are_those_of_reports() -> None:
    rows = re.findall(r"^\| `(.+)` \| (.+) \| (\d) \|$", PAGE, re.MULTILINE)
    assert {verdict: (int(code), missing) for verdict, missing, code in rows} == dict(VERDICTS)
