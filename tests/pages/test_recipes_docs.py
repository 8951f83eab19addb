"""Recipes, spans and a process pool, as shown; tests/acceptance/test_recipes.py has the others."""

import json
import os
import re
import subprocess
import sys
from multiprocessing import get_all_start_methods
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
import respx
from pages import ROOT, blocks, run_page

from adclient.ledger import SQLiteLedger
from adclient.policy import Policy
from adclient.testing import FakeAdService, Fault
from adclient.testing.server import serving

HERE = Path(__file__).relative_to(ROOT).as_posix()
RECIPES = ROOT / "docs" / "recipes"


def test_plan_is_staged_once_and_its_outcomes_are_read(tmp_path: Path) -> None:
    fake = FakeAdService()
    test = f"{HERE}::test_plan_is_staged_once_and_its_outcomes_are_read"
    run_page(RECIPES / "pause-what-lost-money.md", tmp_path, fake, runner=test)
    assert [(draft.draft_id, draft.status) for draft in fake.drafts] == [
        ("draft_35ea", "applied"),
        ("draft_d421", "pending_approval"),
    ]
    writes = [request for request in fake.requests if request.method != "GET"]
    assert len(writes) == 2


BOT = RECIPES / "chat-bot.md"
CODE = [text for _, text in blocks(BOT, "python")]


def defined(code: str) -> SimpleNamespace:
    """What a block of the page on the bot defines."""
    names = {}
    exec(code, names)
    return SimpleNamespace(**names)


class Posted(list[str]):
    post = list.append


def test_bot_asks_and_reports(tmp_path: Path) -> None:
    run_page(BOT, tmp_path, FakeAdService(), runner=f"{HERE}::test_bot_asks_and_reports")
    assert (tmp_path / "reported.txt").read_text("utf-8") == "draft_35ea\n"
    [entry] = SQLiteLedger(tmp_path / "bot.db").entries(state="staged")
    assert (entry.draft_id, entry.actor) == ("draft_35ea", "kim")


def test_bot_neither_repeats_nor_approves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fake, chat, ledger = FakeAdService(), Posted(), SQLiteLedger("bot.db")
    policy = Policy(accounts=["account_b204"], no_repeat_within="1d")
    bot = defined(CODE[0]).Bot(fake.client(policy=policy, ledger=ledger), ledger, chat, "DASHBOARD")
    fake.faults.add(Fault.dropped(taken=True), operation="beta.pause_campaign")
    bot.hear("kim", "pause campaign_57a7 because it loses money")
    assert chat == ["A draft may be staged: do not ask again, but look in DASHBOARD"]
    bot.hear("kim", "pause campaign_57a7 because it loses money")
    assert chat[1] == "Nothing is staged: the policy refuses it (no_repeat_within)"
    bot.hear("kim", "pause campaign_cb1a because it loses money")
    drafts = [draft.draft_id for draft in fake.drafts]
    assert len(drafts) == 2
    assert chat[2].startswith(
        f"{drafts[1]} is staged for campaign_cb1a, status: ENABLED -> PAUSED\n"
    )
    for text in (f"approve {drafts[1]}", f"APPROVE {drafts[1]}", f"reject {drafts[1]}"):
        bot.hear("kim", text)
        assert chat.pop() == "Only a human in the dashboard can do that: DASHBOARD"
    bot.hear("kim", "how are you?")
    bot.report()
    assert len(chat) == 3
    assert {draft.status for draft in fake.drafts} == {"pending_approval"}

    fake.dashboard.approve(drafts[1])
    fake.faults.add(Fault.status(400))
    bot.report()  # which cannot be read now
    assert len(chat) == 3
    bot.report()
    assert chat[3:] == [f"{drafts[1]}: seen live"]


def test_names_cannot_mention_people_in_slack() -> None:
    slack = defined(CODE[-1]).Slack("https://hooks.example.com/services/1")
    with respx.mock as mocked:
        sent = mocked.post("https://hooks.example.com/services/1")
        slack.post('<!channel> & "R&D": ENABLED -> PAUSED')
        assert json.loads(sent.calls.last.request.content) == {
            "text": '&lt;!channel&gt; &amp; "R&amp;D": ENABLED -&gt; PAUSED'
        }
        sent.respond(500)
        with pytest.raises(httpx.HTTPStatusError):
            slack.post("again")


def test_lambda_reads_on_where_the_last_event_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    stored: list[str] = []
    storage = SimpleNamespace(
        store=lambda account_id, page: stored.extend(each.id for each in page)
    )
    monkeypatch.setitem(sys.modules, "storage", storage)
    code = next(text for _, text in blocks(RECIPES / "jobs.md", "python") if "handler" in text)
    fake, times = FakeAdService(page_size=10), iter([60_000, 29_999] * 4)
    context = SimpleNamespace(get_remaining_time_in_millis=lambda: next(times))
    with fake.as_environment():
        handler = defined(code).handler
        event = {"account_id": "account_b204"}
        for _ in range(4):
            event = handler(event, context)
    assert event == {"account_id": "account_b204", "cursor": None}
    assert len(set(stored)) == len(stored) == 62


def printed_by(*python: str, **environment: str) -> str:
    """What another process prints, on both streams."""
    options = {"encoding": "utf-8", "stderr": subprocess.STDOUT}
    command = [sys.executable, "-W", "error", *python]
    return subprocess.check_output(command, env={**os.environ, **environment}, **options)


OBSERVABILITY = ROOT / "docs" / "how-to" / "observability.md"
*_, SPANS, _ = (code for _, code in blocks(OBSERVABILITY, "python"))


def test_spans_work_as_shown() -> None:
    output = printed_by("-c", SPANS)  # because providers are global
    assert '"name": "POST /v1/beta-ads/pause-beta-campaign"' in output
    names = set(re.findall(r'"((?:adclient|http|server|url)\.[a-z_.]+)":? ?[",0-9]', output))
    assert names >= {"adclient.draft_id", "url.template", "http.response.status_code"}
    assert not {name for name in names if f"`{name}`" not in OBSERVABILITY.read_text("utf-8")}


WEB = ROOT / "docs" / "how-to" / "web-frameworks.md"
[POOL] = [text for _, text in blocks(WEB, "python") if "ProcessPoolExecutor" in text]


@pytest.mark.parametrize("method", sorted({"spawn", "fork"} & {*get_all_start_methods()}))
def test_process_pool_works_with_each_start_method(method, tmp_path) -> None:
    script = tmp_path / "pool.py"
    script.write_text(POOL.replace('"spawn"', repr(method)), "utf-8")
    with serving(FakeAdService()) as url:
        assert printed_by(str(script), ADCLIENT_BASE_URL=url) == "62 campaigns\n4 campaigns\n"
