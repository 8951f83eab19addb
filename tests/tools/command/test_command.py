"""The command `adclient`: how it ends, and what it writes to which stream."""

import importlib
import io
import os
import sys
from contextlib import redirect_stdout

import pytest
from cases import each_case
from clients import SECRET
from run_command import Ran, run_command

from adclient._command import listing, main
from adclient.testing import FakeAdService

CAMPAIGNS = ["list", "beta.campaigns", "--account", "account_b204"]


def test_traceback_of_a_bug_is_shown_on_request(monkeypatch) -> None:
    def fail(_: object) -> int:
        raise KeyError("x")

    monkeypatch.setattr(listing, "run", fail)
    complaint = "adclient: a bug: KeyError: 'x'; ADCLIENT_TRACEBACK=full shows where\n"
    assert run_command(*CAMPAIGNS) == Ran(1, "", complaint)
    monkeypatch.setenv("ADCLIENT_TRACEBACK", "full")
    with pytest.raises(KeyError):
        run_command(*CAMPAIGNS)


def test_module_is_the_command(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["adclient", "--version"])
    with pytest.raises(SystemExit) as caught:
        importlib.import_module("adclient.__main__")
    assert (caught.value.code, capsys.readouterr().out[:9]) == (0, "adclient ")


@each_case("arguments", ["--help"], CAMPAIGNS)
def test_full_disk_is_one_line(arguments, capsys) -> None:
    fake = FakeAdService(page_size=1)
    with fake.as_environment(), open("/dev/full", "w") as full, redirect_stdout(full):
        assert main(arguments) == 1
    assert capsys.readouterr().err == "adclient: No space left on device\n"


@each_case("arguments", CAMPAIGNS, ["--help"])
def test_output_that_nobody_reads_is_141(arguments, capsys) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    fake = FakeAdService()
    with fake.as_environment(), open(writer, "w") as closed, redirect_stdout(closed):
        assert main(arguments) == 141
        print("again", file=closed, flush=True)
    assert capsys.readouterr().err == ""


@each_case("name", "stdin", "stdout", "stderr")
def test_standard_streams_may_be_closed(name, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, name, None)
    with FakeAdService().as_environment():
        assert main(CAMPAIGNS) == 0
        assert main([*CAMPAIGNS, "--token-env", "NOT_SET"]) == 2
    getattr(sys, name).close()
    monkeypatch.undo()
    printed, complaint = capsys.readouterr()
    assert bool(printed) is (name != "stdout")
    assert bool(complaint) is (name != "stderr")


@each_case(("is_terminal", "name"), (False, "Zürich 🚲"), (True, "Zürich \\U0001f6b2"))
def test_output_is_utf_8_or_what_a_terminal_has(is_terminal, name, monkeypatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), "latin-1")
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal, raising=False)
    fake = FakeAdService()
    fake.change_live("account_b204", "campaign_57a7", name="Zürich 🚲")
    with fake.as_environment(), redirect_stdout(stream):
        assert main([*CAMPAIGNS, "--json"]) == 0
    assert name in stream.buffer.getvalue().decode("latin-1" if is_terminal else "utf-8")


ADS = ["list", "gamma.ads", "--account", "account_c3d8"]
SETTLE = ["ledger", "settle", "e", "--ledger", "a", "--by", "kim", "--draft", "d"]
DOCTOR = ["doctor", "http://x", "--account", "account_b204"]
CONFORM = ["conform", "http://x", "--account", "account_b204"]
MCP = ["mcp", "--account", "account_b204"]
NO_OBJECT = "not a JSON object"


@each_case(
    ("words", "problem"),
    # Mistakes, with a suggestion.
    (["lst"], "adclient: there is no command lst: did you mean list? See `adclient --help`"),
    (["list", "campaigns"], "adclient: there is no read campaigns: did you mean beta.campaigns?"),
    (
        ["campaigns"],
        "no command campaigns: did you mean list beta.campaigns? See `adclient --help`",
    ),
    (["--nope", "list"], "adclient: adclient takes no --nope. See `adclient --help`"),
    *(
        ([name, "http://x", "--url", "http://y"], "--url: not allowed with argument URL")
        for name in ("doctor", "conform")
    ),
    (["ledger", "shw"], "no action shw: did you mean show? See `adclient ledger --help`"),
    (["plan", "x"], "adclient: there is no action x: choose from check, stage, revert. See"),
    ([*CAMPAIGNS, "--acount=a"], "adclient list takes no --acount=a: did you mean --account? See"),
    ([*CAMPAIGNS, "--limit", "x"], "--limit: invalid int value: 'x'. See `adclient list --help`"),
    # List.
    (ADS[:2], "no account: pass --account ID or --accounts-from FILE"),
    ([*ADS, "--columns", ","], "--columns: no name"),
    ([*ADS[:2], "--accounts-from", os.devnull], f"--accounts-from: {os.devnull} names no account"),
    ([*ADS, "-a", "b", "--limit", "1"], "--limit and --cursor are for one --account; --sort"),
    ([*ADS, "--class", "attrs:frozen"], "--class names neither an attrs class nor a dataclass"),
    ([*ADS, "--convert", "adclient:Lenient"], "--convert is for --class"),
    ([*ADS, "--convert", "adclient"], "--convert: 'adclient': expected MODULE:NAME"),
    ([*ADS, "--class", "adclient:Ad"], "--class is for --parquet"),
    ([*ADS, "--class", "no_such:Ad"], "'no_such:Ad': ModuleNotFoundError: No module"),
    (ADS, "the address of the service is missing: --service, --url, ADCLIENT_"),
    (["list", "beta.pause_campaign", "-a", "a"], "there is no read beta.pause_campaign: did"),
    ([*ADS, "--campaign", "c"], "adclient: gamma.ads takes no --campaign\n"),
    *(([*ADS, "--targeting", text], NO_OBJECT) for text in ("[]", "{")),
    ([*ADS, "--token", f"{SECRET} x"], "adclient: --token contains whitespace"),
    ([*ADS, "--timeout", "0"], "adclient: --timeout must be a finite number"),
    ([*ADS, "--retries=-1"], "adclient: --retries must be a whole number"),
    ([*ADS[:2], "-a", ""], "adclient: gamma.list_ads: -a must be a non-empty str"),
    ([*ADS, "--sort", "name", "--parquet", "f"], "--columns, --sort and --flat are not for --par"),
    ([*ADS, "--token-env", "MISSING"], "adclient: --token-env: MISSING is not set"),
    ([*ADS, "--token-header", "x-key"], "adclient: --token-header: pass the token, or set"),
    # Ledger.
    (["ledger", "show"], "--ledger is missing"),
    (["ledger", "show", "--since", "yesterday"], "'yesterday' is not a time such as 2026-03-01"),
    ([*SETTLE, "--not-staged"], "not allowed with argument --draft"),
    # Doctor, conform and models.
    (["doctor"], "URL is missing: pass it, or a file with --check"),
    (DOCTOR[:2], "--account is missing: pass it, or a file with --check"),
    (["doctor", "--url", "ads", *DOCTOR[2:]], "adclient: --url must start with http:// or https"),
    ([*DOCTOR, "--header", "X-Tenant"], "expected NAME:VALUE"),
    ([*DOCTOR, "--ca-file", "no.pem"], "--ca-file: no certificates could be read from no.pem: No"),
    ([*DOCTOR, "--save", "a", "--check", "b"], "not allowed with"),
    ([*DOCTOR, "--save", "no/such.toml"], "no/such.toml.part cannot be written: No such file"),
    ([*DOCTOR, "--save", ".", "--force"], "--save: . is a folder"),
    ([*DOCTOR, "--save", "x" * 252], ".part cannot be written: File name too long"),
    (["doctor", "ads.example.com", *DOCTOR[2:]], "adclient: URL must start with http:// or https"),
    ([*DOCTOR, "--timeout", "0"], "adclient: --timeout must be a finite number"),
    ([*DOCTOR, "--token-env", "NOT_SET"], "NOT_SET is not set"),
    ([*DOCTOR, "--targeting", "\udcff"], NO_OBJECT),
    (["conform"], "URL is missing: pass it, or a file with --service"),
    (CONFORM[:2], "--account is missing"),
    ([*CONFORM, "--arguments", "[]"], NO_OBJECT),
    ([*CONFORM, "--arguments", '{"a": 1}'], "expected an object for each"),
    ([*CONFORM, "--arguments", '{"a": {}}'], "'a' is not a write"),
    (["models"], "--service is missing: pass it, or set ADCLIENT_SERVICE"),
    (["models", "--service", "empty.toml"], "empty.toml: it has the fields of no listing"),
    # MCP, as far as it needs no SDK.
    (["mcp"], "adclient: name the accounts in a policy, or one with --account"),
    (["mcp", "-a", "x", "--policy", "policy.toml"], "account x is not one of the policy's"),
    ([*MCP, "--writes"], "adclient: --writes needs --policy and --ledger"),
    ([*MCP, "--host", "0.0.0.0"], "adclient: --host needs --http"),
)
def test_wrong_command_line_is_one_line(words, problem, files, monkeypatch) -> None:
    (files / "empty.toml").write_text('format = 2\nurl = "http://x.test"\n')
    if words[0] == "list" and words != ADS:
        monkeypatch.setenv("ADCLIENT_BASE_URL", "http://x.test")
    else:
        monkeypatch.delenv("ADCLIENT_BASE_URL", raising=False)
    ran = run_command(*words)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert ran.err.startswith("adclient: ")
    assert problem in ran.err
    assert SECRET not in ran.err


HELP = [["list"], ["mcp"], ["doctor"], ["models"], ["conform"], ["fake"], [], ["plan"], ["ledger"]]
HELP += [["plan", action] for action in ("check", "stage", "revert")]
HELP += [["ledger", action] for action in ("show", "outcomes", "unknown", "settle", "verify")]


@pytest.mark.parametrize("command", HELP)
def test_help_has_examples_and_fits_a_terminal(command, monkeypatch) -> None:
    for columns in ("200", "60"):
        monkeypatch.setenv("COLUMNS", columns)
        ran = run_command(*command, "--help")
        assert ran.code == 0
        lines = [line for line in ran.out.splitlines() if not line.startswith("  adclient ")]
        assert max(map(len, lines)) < min(int(columns), 80)
        assert "\nexamples:\n  adclient " in ran.out
    if command in ([], ["plan"], ["ledger"]):
        assert run_command(*command) == ran


@each_case(
    ("variables", "is_coloured"),
    ({}, True),
    ({"NO_COLOR": "1"}, False),
    ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ({"TERM": "dumb"}, False),
)
def test_terminal_has_colours_unless_they_are_unwanted(variables, is_coloured, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ran = run_command(*CAMPAIGNS, "--token", "a b", "--url", "http://x", terminals=["err"])
    name = "\x1b[31madclient:\x1b[m" if is_coloured else "adclient:"
    assert ran.err.startswith(f"{name} --token contains whitespace, a control character\nor one")
    assert ("\x1b[1musage:" in run_command("--help", terminals=["out"]).out) is is_coloured
    assert "\x1b" not in run_command("--help").out
    if is_coloured:
        monkeypatch.setenv("FORCE_COLOR", "1")
        assert "\x1b" in run_command("--help").out


def test_mcp_without_its_extra_is_named(fake, monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "adclient.mcp", raising=False)
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    advice = "this needs mcp_types: pip install 'adclient[mcp]', or '.[mcp]' in a checkout"
    assert run_command(*MCP) == Ran(1, "", f"adclient: {advice}\n")
