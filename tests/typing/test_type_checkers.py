"""What mypy and Pyright, at their strictest, make of the public types."""

import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
HAS_HTTPX2 = find_spec("httpx2") is not None
GOOD = ("sync_surface.py", "async_surface.py") + ("httpx2_surface.py",) * HAS_HTTPX2
README = re.findall(
    r"^```python\n(.*?)^```$",
    (ROOT / "README.md").read_text("utf-8"),
    re.MULTILINE | re.DOTALL,
)
SHOWN = {f"readme_{number}.py": code for number, code in enumerate(README)} | {
    path.name: path.read_text("utf-8") for path in (ROOT / "examples").glob("*.py")
}

PRELUDE = """
from datetime import date
import httpx
from adclient import AdClient, AsyncAdClient, Campaign, Page, RetryPolicy
client, other = AdClient("https://ads.example.com"), AsyncAdClient("https://ads.example.com")
page = client.beta.list_campaigns(account_id="a")
async def wrong() -> None:
"""


def lines_of(text: str) -> list[str]:
    return text.strip().splitlines()


# Each line is one mistake, and each checker must find it.
WRONG = lines_of("""
client.beta.pause_campaign(account_id="a")
client.beta.pause_campaign(campaign_id="c")
client.beta.pause_campaign("a", "c")
client.beta.pause_campaign(account_id=1, campaign_id="c")
client.beta.pause_campaign(account_id="a", campaign_id=None)
client.beta.pause_campaign(account_id="a", campaign_id="c", approve=True)
client.beta.create_video_campaign(account_id="a")
client.gamma.create_image_campaign(account_id="a")
client.gamma.create_dco_ad(account_id="a", ad_id="x")
client.alpha.update_campaign_targeting(account_id="a")
client.alpha.update_campaign_budget(account_id="a", campaign_id="c", daily_budget="120")
client.delta.update_keyword(account_id="a")
client.delta.update_keyword(account_id="a", keywords=[1])
client.delta.update_keyword(account_id="a", keywords=None)
client.delta.remove_auto_search_themes()
client.beta.list_campaigns(account_id="a", date_range=date.today())
client.beta.list_campaigns(account_id="a", cursor=b"x")
client.delta.approve_draft(draft_id="d")
client.publish()
page.data[0].daily_budget
page.data[0].name = "other"
page.next = None
page.collect(3)
len(page)
await page
ads: Page[Campaign] = client.gamma.list_ads(account_id="a")
client.alpha.update_creative(account_id="a").diff.before + 1
client.with_options(token="t")
AdClient("https://ads.example.com", "t0ken")
AdClient(timeout="30")
AdClient(hooks=print)
AdClient(http_client=httpx.AsyncClient())
AdClient(transport=httpx.AsyncHTTPTransport())
AsyncAdClient(http_client=httpx.Client())
AsyncAdClient(transport=httpx.HTTPTransport())
RetryPolicy(3)
(await other.beta.pause_campaign(account_id="a", campaign_id="c")).draft
other.beta.pause_campaign(account_id="a", campaign_id="c").draft_id
other.beta.list_campaigns(account_id="a").data
await other.beta.pause_campaign(account_id="a")
[x for x in other.beta.list_campaigns(account_id="a")]
""")

WRONG_OF_HTTPX2 = lines_of("""
AdClient(http_client=httpx2.AsyncClient())
AdClient(transport=httpx2.AsyncHTTPTransport())
AsyncAdClient(http_client=httpx2.Client())
AsyncAdClient(transport=httpx2.HTTPTransport())
""")

# To Pyright, every object is an AttrsInstance: attrs declares that protocol without a member.
WRONG_TO_MYPY = lines_of("""
client.beta.create_video_campaign(account_id="a", fields=None)
client.beta.create_video_campaign(account_id="a", fields="name")
client.beta.create_video_campaign(account_id="a", fields={1: 2})
client.gamma.search_targeting(account_id="a", targeting=["x"])
page.typed(dict)
""")
FIRST = PRELUDE.lstrip().count("\n") + 1


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's project: two files that are right, and one whose function is all wrong."""
    folder = tmp_path_factory.mktemp("project")
    for name in GOOD:
        shutil.copy(HERE / name, folder)
    for name, code in SHOWN.items():
        (folder / name).write_text(code, "utf-8")
    body = "".join(f"    {line}\n" for line in WRONG + WRONG_TO_MYPY)
    (folder / "wrong.py").write_text(PRELUDE.lstrip() + body)
    imports = "import httpx2\nfrom adclient import AdClient, AsyncAdClient\n"
    (folder / "wrong_of_httpx2.py").write_text(imports + "\n".join(WRONG_OF_HTTPX2))
    settings = {"typeCheckingMode": "strict", "pythonVersion": "3.11"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    return folder


def run(*command: str, cwd: Path) -> str:
    # Pyright takes its search path from the first Python that it finds.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.stdout, done.stderr
    return done.stdout


Errors = dict[str, dict[int, str]]


@pytest.fixture(scope="session")
def reports(project: Path, pytestconfig: pytest.Config) -> dict[str, str]:
    """What each checker says of the project; they run at once, for each takes its time."""
    kept = getattr(pytestconfig, "cache", None)
    cache = f"--cache-dir={kept.mkdir('mypy') if kept else project / 'cache'}"
    # The decimals of the standard library are themselves not complete.
    complete = ("--verifytypes", "adclient", "--ignoreexternal")
    strict = ("--strict", "--output=json", "--config-file=", cache)
    commands = {
        "mypy": ("mypy", *strict, "."),
        "pyright": ("pyright", "--outputjson"),
        "completeness": ("pyright", *complete, "--outputjson"),
    }
    with ThreadPoolExecutor() as pool:
        runs = {name: pool.submit(run, *command, cwd=project) for name, command in commands.items()}
    return {name: finished.result() for name, finished in runs.items()}


@pytest.fixture(scope="session")
def mypy_errors(reports: dict[str, str]) -> Errors:
    found: Errors = {}
    for line in reports["mypy"].splitlines():
        if line.startswith("{"):
            error = json.loads(line)
            if error["severity"] == "error":
                found.setdefault(Path(error["file"]).name, {})[error["line"]] = error["message"]
    return found


@pytest.fixture(scope="session")
def pyright_errors(reports: dict[str, str]) -> Errors:
    found: Errors = {}
    for error in json.loads(reports["pyright"])["generalDiagnostics"]:
        if error["severity"] == "error" and error.get("rule") not in _STYLE:
            line = error["range"]["start"]["line"] + 1
            found.setdefault(Path(error["file"]).name, {})[line] = error["message"]
    return found


# What Pyright says of an expression for its form alone.
_STYLE = {"reportUnusedExpression", "reportUnusedCoroutine", "reportUnusedVariable"}


@pytest.fixture(params=["mypy", "pyright"])
def errors(request: pytest.FixtureRequest) -> Errors:
    found: Errors = request.getfixturevalue(f"{request.param}_errors")
    return found


@pytest.mark.parametrize("name", [*GOOD, *SHOWN])
def test_correct_code_type_checks(errors: Errors, name: str) -> None:
    assert errors.get(name, {}) == {}


def test_every_mistake_is_reported(errors: Errors) -> None:
    assert missed(errors, WRONG, FIRST) == []
    assert min(errors["wrong.py"]) >= FIRST, "the lines before are right"


@pytest.mark.skipif(not HAS_HTTPX2, reason="httpx2 is not installed")
def test_every_mistake_with_httpx2_is_reported(errors: Errors) -> None:
    assert sorted(errors["wrong_of_httpx2.py"]) == [3, 4, 5, 6]


def test_mypy_reports_arguments_that_are_not_objects(mypy_errors: Errors) -> None:
    assert missed(mypy_errors, WRONG_TO_MYPY, FIRST + len(WRONG)) == []


def missed(errors: Errors, lines: list[str], first: int) -> list[str]:
    return [line for n, line in enumerate(lines, first) if n not in errors["wrong.py"]]


def test_every_public_type_is_known(reports: dict[str, str]) -> None:
    completeness = json.loads(reports["completeness"])["typeCompleteness"]
    unknown = [symbol["name"] for symbol in completeness["symbols"] if _is_ours(symbol)]
    assert unknown == []
    assert completeness["completenessScore"] == 1


def _is_ours(symbol: dict[str, object]) -> bool:
    return symbol["isExported"] is True and symbol["isTypeKnown"] is not True
