"""What the README and the docs state is true; tests/site has the links of the pages."""

import inspect
import json
import re
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import pytest
from pages import ROOT

import adclient
from adclient import errors, testing
from adclient._core.operations import OPERATIONS
from adclient.testing import FakeAdService


def test_readme_has_two_one_line_commands() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    commands = re.findall(r"^```sh\n(.*)\n```$", readme, re.MULTILINE)
    assert [command.split()[:4] for command in commands] == [["python3", "-m", "venv", ".venv"]] * 2
    assert "examples/quickstart.py" in commands[0]
    assert "pytest" in commands[1]


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_links_beside_the_site_have_targets(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        assert link.startswith("https://") or (page.parent / link).exists(), link


SHOWN = {
    "quickstart.py": (
        "daily_budget: ",
        "status: ENABLED -> PAUSED",
        "pending_approval, requires human_two_step_approve",
        "126 ads on all pages",
        "async: 2 drafts staged at once",
    )
}


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_examples_run(example: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={"PYTHONIOENCODING": "utf-8"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert all(expected in done.stdout for expected in SHOWN.get(example.name, ()))


def test_page_on_what_is_public_names_every_public_module() -> None:
    page = (ROOT / "docs" / "changelog.md").read_text("utf-8")
    named, _, _ = page.partition("## What is public")[2].partition(";")
    package = Path(inspect.getfile(adclient)).parent
    files = [
        path.relative_to(package.parent).with_suffix("")
        for path in package.rglob("*.py")
        if re.search(r"^ *__all__ = ", path.read_text("utf-8"), re.MULTILINE)
    ]
    modules = {".".join(path.parts).removesuffix(".__init__") for path in files}
    public = {module for module in modules if "._" not in module}
    assert public | {"adclient"} == set(re.findall(r"`(adclient[.\w]*)`", named))


FAKE = (ROOT / "docs" / "reference" / "fake.md").read_text("utf-8")


def test_fake_page_names_every_account_and_code() -> None:
    package = Path(testing.__file__).parent
    refusals = json.loads((package / "_fake" / "data" / "errors.json").read_text("utf-8"))
    accounts = {path.stem for path in package.rglob("account_*.json")}
    codes = {name.partition(":")[0] for name in refusals}
    assert len(accounts) == 13
    assert {"keyword_duplicate", "platform_mismatch", "rate_limited"} <= codes
    assert not {name for name in accounts | codes if f"`{name}`" not in FAKE}


def test_fake_page_names_every_field_of_the_items() -> None:
    rows = dict(re.findall(r"^\| `([a-z]+\.[a-z_]+)` \| (.+) \|$", FAKE, re.MULTILINE))
    accounts = {"alpha": "a91f", "beta": "b204", "gamma": "c3d8", "delta": "d118"}
    client = FakeAdService().client()
    reads = [operation for operation in OPERATIONS if not operation.is_write]
    for operation in reads:
        read = attrgetter(operation.full_name)(client)
        page = read(account_id=f"account_{accounts[operation.namespace]}")
        assert re.findall(r"`(\w+)`", rows.pop(operation.full_name)) == list(page.data[0].extra)
    assert not rows


def test_error_tree_is_the_same_in_docs_and_code() -> None:
    drawn = re.search(
        r"```text\n(.*?)```", (ROOT / "docs/how-to/errors.md").read_text("utf-8"), re.DOTALL
    )
    assert drawn is not None
    in_code = inspect.getdoc(errors) or ""
    for line in drawn[1].splitlines():
        assert line in in_code
