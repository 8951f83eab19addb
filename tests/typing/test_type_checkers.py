"""What six type checkers make of the public types: the same of right code, and of each mistake."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs
import pytest
from pages import ROOT, blocks

HERE = Path(__file__).parent
README = (code for _, code in blocks(ROOT / "README.md", "python"))
RIGHT = {f"readme_{number}.py": code for number, code in enumerate(README)} | {
    path.name: path.read_text("utf-8")
    for path in [*HERE.glob("*_surface.py"), *(ROOT / "examples").glob("*.py")]
}

PRELUDE = """
from datetime import date
import httpx
from adclient import AdClient, AsyncAdClient, Campaign, Page, RetryPolicy
from adclient.ledger import SQLiteLedger
from adclient.policy import Policy
client, other = AdClient("https://ads.example.com"), AsyncAdClient("https://ads.example.com")
page = client.beta.list_campaigns(account_id="a")
async def mistakes() -> None:
"""

# Each line is one mistake.
MISTAKES = """
client.beta.pause_campaign(account_id="a")
client.beta.pause_campaign("a", "c")
client.beta.pause_campaign(account_id=1, campaign_id="c")
client.beta.pause_campaign(account_id="a", campaign_id=None)
client.beta.pause_campaign(account_id="a", campaign_id="c", approve=True)
client.beta.create_video_campaign(account_id="a", fields="name")
client.gamma.search_targeting(account_id="a", targeting=["x"])
client.alpha.update_campaign_budget(account_id="a", campaign_id="c", daily_budget="120")
client.delta.update_keyword(account_id="a", keywords=[1])
client.beta.list_campaigns(account_id="a", date_range=date.today())
client.delta.approve_draft(draft_id="d")
page.data[0].daily_budget
page.data[0].name = "other"
page.collect(3)
page.typed(dict)
len(page)
await page
client.over_accounts(client.beta.pause_campaign, ["a"])
client.over_accounts(other.beta.list_campaigns, ["a"])
other.over_accounts(client.beta.list_campaigns, ["a"])
next(client.over_accounts(client.beta.list_campaigns, ["a"]))[1].to_pandas()
ads: Page[Campaign] = client.gamma.list_ads(account_id="a")
client.alpha.update_creative(account_id="a").diff.before + 1
AdClient("https://ads.example.com", "t0ken")
AdClient(timeout="30")
AdClient(http_client=httpx.AsyncClient())
AdClient(ledger="drafts.db")
AsyncAdClient(transport=httpx.HTTPTransport())
RetryPolicy(3)
Policy(money={"daily_budget": "500"})
SQLiteLedger("drafts.db").settle("entry")
(await other.beta.pause_campaign(account_id="a", campaign_id="c")).draft
other.beta.pause_campaign(account_id="a", campaign_id="c").draft_id
other.beta.list_campaigns(account_id="a").data
[x for x in other.beta.list_campaigns(account_id="a")]
"""

# Also at the end of each right module: a checker that does not read a module misses its last line.
WRONG = "  # wrong"
LAST = f"last: int = ''{WRONG}"


@attrs.frozen(kw_only=True)
class Checker:
    """A type checker: its command, a setting to be strict, and right lines that it reports."""

    command: str
    settings: tuple[str, str] | None = None
    wrongly: tuple[str, ...] = ()


# What they say of an expression for its form alone would hide that they miss the mistake in it.
STRICT = {
    "typeCheckingMode": "strict",
    "pythonVersion": "3.11",
    "reportUnusedCoroutine": False,
    "reportUnusedExpression": False,
    "reportUnusedVariable": False,
}
PYRIGHT = ("pyrightconfig.json", json.dumps(STRICT))
PYREFLY = ("pyrefly.toml", 'preset = "strict"')
CHECKERS = {
    "mypy": Checker(command="mypy --strict --config-file= ."),
    "pyright": Checker(command="pyright", settings=PYRIGHT),
    "basedpyright": Checker(command="basedpyright", settings=PYRIGHT),
    "ty": Checker(command="ty check --output-format=concise"),
    "pyrefly": Checker(command="pyrefly check --output-format=min-text", settings=PYREFLY),
    "zuban": Checker(
        command="zuban check --strict .",
        # It infers no argument of a lambda where None is allowed as well, and for the type of a
        # field it takes what the converter takes.
        wrongly=("lambda event: assert_type", "assert_type(policy.money"),
    ),
}
ERROR = re.compile(r"^(ERROR )?.*?(\w+\.py):(\d+):(?(1)|\S* (?:- )?error\b)", re.MULTILINE)


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's project: right modules, and one with a function of mistakes."""
    folder = tmp_path_factory.mktemp("project")
    for name, code in RIGHT.items():
        (folder / name).write_text(f"{code}\n{LAST}\n", "utf-8")
    mistakes = "".join(f"    {line}{WRONG}\n" for line in MISTAKES.strip().splitlines())
    (folder / "wrong.py").write_text(PRELUDE.lstrip() + mistakes)
    for checker in CHECKERS.values():
        if checker.settings is not None:
            name, text = checker.settings
            (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="session")
def reports(project: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each checker says of the project; they run at once, for each takes its time."""
    # All look there for the packages that are installed.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = os.environ | {"PATH": path, "VIRTUAL_ENV": sys.prefix}
    environment["MYPY_CACHE_DIR"] = str(tmp_path_factory.mktemp("mypy"))

    def run(command: str) -> str:
        done = subprocess.run(
            command.split(), cwd=project, env=environment, capture_output=True, text=True
        )
        return done.stdout + done.stderr

    commands = {name: checker.command for name, checker in CHECKERS.items()}
    # The decimals of the standard library are themselves not complete.
    commands["completeness"] = "pyright --verifytypes adclient --ignoreexternal --outputjson"
    with ThreadPoolExecutor() as pool:
        return dict(zip(commands, pool.map(run, commands.values()), strict=True))


@pytest.mark.parametrize("name", CHECKERS)
def test_checker_reports_each_mistake_and_nothing_else(
    project: Path, reports: dict[str, str], name: str
) -> None:
    lines = {path.name: path.read_text("utf-8").splitlines() for path in project.glob("*.py")}
    errors = {(file, int(line)) for _, file, line in ERROR.findall(reports[name])}
    reported = [f"{file}: {lines[file][line - 1].strip()}" for file, line in sorted(errors)]
    expected = [
        f"{file}: {line.strip()}"
        for file in sorted(lines)
        for line in lines[file]
        if line.endswith(WRONG) or any(part in line for part in CHECKERS[name].wrongly)
    ]
    assert reported == expected, reports[name]


def test_every_public_type_is_known(reports: dict[str, str]) -> None:
    completeness = json.loads(reports["completeness"])["typeCompleteness"]
    unknown = [symbol["name"] for symbol in completeness["symbols"] if _is_ours(symbol)]
    assert unknown == []
    assert completeness["completenessScore"] == 1


def _is_ours(symbol: dict[str, object]) -> bool:
    return symbol["isExported"] is True and symbol["isTypeKnown"] is not True
