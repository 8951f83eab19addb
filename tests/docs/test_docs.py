"""The README and the docs are correct, and their code runs."""

import asyncio
import inspect
import json
import re
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import attrs
import httpx
import pytest
import respx
from cases import each_case
from shown import run_page

import adclient
from adclient import errors, testing
from adclient._core.operations import OPERATIONS
from adclient.testing import FakeAdService

ROOT = Path(__file__).parent.parent.parent
ROOTS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = [*(ROOT / name for name in ROOTS), *sorted((ROOT / "docs").rglob("*.md"))]
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


TESTING = blocks("python", (ROOT / "docs" / "how-to" / "testing.md").read_text("utf-8"))
TESTS = [code for code in TESTING if "def test_" in code]
SCRIPTS = [code for code in TESTING if code not in TESTS]


@pytest.mark.parametrize("number", range(len(blocks("python"))))
@respx.mock
def test_code_in_the_readme_runs(number: int) -> None:
    service = FakeAdService()

    def answer(request: httpx.Request) -> httpx.Response:
        response = service.transport.handle_request(request)
        response.read()
        return response

    respx.route(host="ads.example.com").mock(side_effect=answer)
    exec(compile(blocks("python")[number], "README.md", "exec"), {"__name__": "readme"})


@pytest.mark.parametrize("code", SCRIPTS)
def test_code_in_the_testing_page_runs(code: str) -> None:
    exec(code, {})


def test_code_about_aiohttp_runs() -> None:
    found = blocks("python", (ROOT / "docs" / "explanation" / "speed.md").read_text("utf-8"))
    (code,) = (code for code in found if "AiohttpTransport" in code)
    names: dict[str, object] = {}
    exec(code, names)
    assert asyncio.run(names["campaigns_of"]([])) == []


@pytest.mark.parametrize("code", TESTS)
def test_tests_in_the_testing_page_pass(code: str, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(code)
    pytester.runpytest("-p", "no:randomly").assert_outcomes(passed=code.count("def test_"))


def test_pages_contain_code_to_run() -> None:
    assert len(TESTS) >= 5
    assert len(SCRIPTS) >= 3
    assert len(blocks("python")) >= 5


def test_readme_has_two_one_line_commands() -> None:
    commands = "".join(blocks("sh")).splitlines()
    assert [command.split()[:4] for command in commands] == [["python3", "-m", "venv", ".venv"]] * 2
    assert "examples/quickstart.py" in commands[0]
    assert "pytest" in commands[1]


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_examples_run(example: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={"PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_quickstart_shows_drafts_and_listings() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "quickstart.py")],
        capture_output=True,
        check=True,
        encoding="utf-8",
        env={"PYTHONIOENCODING": "utf-8"},
    )
    for expected in (
        "daily_budget: ",
        "status: ENABLED → PAUSED",
        "pending_approval, requires human_two_step_approve",
        "126 ads on all pages",
        "async: 2 drafts staged at once",
    ):
        assert expected in done.stdout


def test_code_in_the_page_for_models_prints_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page((ROOT / "docs" / "how-to" / "for-models.md").read_text("utf-8")) == 3


def test_page_on_what_is_public_names_every_public_module() -> None:
    page = (ROOT / "docs" / "reference" / "public-api.md").read_text("utf-8")
    named, _, _ = page.partition(";")
    package = Path(inspect.getfile(adclient)).parent
    files = [
        path.relative_to(package.parent).with_suffix("")
        for path in package.rglob("*.py")
        if "\n__all__ = " in path.read_text("utf-8")
    ]
    modules = {".".join(path.parts).removesuffix(".__init__") for path in files}
    public = {module for module in modules if "._" not in module}
    assert public == set(re.findall(r"`(adclient[.\w]*)`", named))


FAKE = (ROOT / "docs" / "reference" / "fake-inventions.md").read_text("utf-8")


def test_code_in_the_fake_page_runs() -> None:
    [code] = re.findall(r"^```python\n(.*?)^```$", FAKE, re.MULTILINE | re.DOTALL)
    exec(code, {})


def test_code_about_alpha_campaign_ids_runs() -> None:
    [code] = blocks("python", (ROOT / "docs" / "explanation" / "open-points.md").read_text("utf-8"))
    exec(code, {})


def test_fake_page_names_every_account_and_code() -> None:
    package = Path(testing.__file__).parent
    refusals = json.loads((package / "_http" / "refusals.json").read_text("utf-8"))
    accounts = {path.stem for path in package.rglob("account_*.json")}
    codes = {name.partition(":")[0] for name in refusals}
    assert len(accounts) == 13
    assert {"not_dynamic", "platform_mismatch", "rate_limited"} <= codes
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


def test_fake_page_names_every_profile_switch() -> None:
    for field in attrs.fields(testing.Profile):
        assert f"{field.name}=" in FAKE


@each_case("page", PAGES)
def test_links_have_existing_targets(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8"))
    for link in links:
        assert link.startswith("https://") or (page.parent / link).exists(), link


def test_error_tree_is_the_same_in_docs_and_code() -> None:
    drawn = re.search(
        r"```text\n(.*?)```", (ROOT / "docs/how-to/errors.md").read_text("utf-8"), re.DOTALL
    )
    assert drawn is not None
    in_code = inspect.getdoc(errors) or ""
    for line in drawn[1].splitlines():
        assert line in in_code
