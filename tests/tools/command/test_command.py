"""The command `adclient`: its help, how it ends, and what it writes to standard error."""

import errno
import importlib
import io
import os
import subprocess
import sys
import warnings
from contextlib import redirect_stdout

import pytest
from cases import each_case

from adclient import ConfigurationError, ConnectionFailed, _command
from adclient._command import EXIT_CODES, main
from adclient.testing import FakeAdService


@pytest.fixture
def ends(monkeypatch):
    """Let `adclient list` do something else."""

    def run_instead(what) -> int:
        module = importlib.import_module("adclient._command.listing")
        monkeypatch.setattr(module, "run", lambda options: what())
        return main(["list", "beta.campaigns", "--account", "a"])

    return run_instead


def raising(error: BaseException):
    def run(*_: object) -> int:
        raise error

    return run


@each_case(
    ("error", "code", "complaint"),
    [
        (ConfigurationError("base_url is missing"), 2, "adclient: base_url is missing\n"),
        (ConnectionFailed("not\nreached"), 1, "adclient: not reached\n"),
        (OSError(errno.ENOSPC, "No space left"), 1, "adclient: [Errno 28] No space left\n"),
        (ModuleNotFoundError("this needs pyarrow"), 1, "adclient: this needs pyarrow\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_error_is_one_line_and_an_exit_code(error, code, complaint, ends, capsys) -> None:
    assert ends(raising(error)) == code
    assert code in EXIT_CODES
    assert capsys.readouterr() == ("", complaint)


def test_traceback_of_a_bug_is_shown_on_request(ends, monkeypatch, capsys) -> None:
    bug = raising(KeyError("x"))
    assert ends(bug) == 1
    told = "adclient: a bug: KeyError: 'x'; ADCLIENT_TRACEBACK=full shows where\n"
    assert capsys.readouterr() == ("", told)
    monkeypatch.setenv("ADCLIENT_TRACEBACK", "full")
    with pytest.raises(KeyError):
        ends(bug)


def test_warning_is_one_line(ends, capsys) -> None:
    def warn() -> int:
        warnings.warn("draft_1 is over\na limit", UserWarning, stacklevel=1)
        return 0

    assert ends(warn) == 0
    assert capsys.readouterr().err == "adclient: warning: draft_1 is over a limit\n"


@each_case("arguments", [["--help"], ["list", "beta.campaigns", "--account", "account_b204"]])
@each_case("page_size", [1, 50])
def test_full_disk_is_one_line(arguments, page_size, capsys) -> None:
    with (
        FakeAdService(page_size=page_size).as_environment(),
        open("/dev/full", "w") as full,
        redirect_stdout(full),
    ):
        assert main(arguments) == 1
    assert capsys.readouterr().err == "adclient: [Errno 28] No space left on device\n"


def test_exit_code_survives_if_nobody_reads_the_error(monkeypatch) -> None:
    with open("/dev/full", "w", buffering=1) as full:
        monkeypatch.setattr(sys, "stderr", full)
        assert main(["list", "beta.campaigns", "--account", "a", "--token-env", "NOT_SET"]) == 2
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())


def test_interrupt_while_a_command_is_loaded_is_130(monkeypatch, capsys) -> None:
    monkeypatch.setattr(_command, "import_module", raising(KeyboardInterrupt()))
    assert main(["list", "--help"]) == 130
    assert capsys.readouterr() == ("", "")


COMMANDS = ["list", "plan", "ledger", "mcp", "doctor", "conform", "fake"]


@each_case("words", [[], *([name] for name in COMMANDS)])
def test_help_fits_a_terminal_and_has_commands_and_exit_codes(words, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as caught:
        main([*words, "--help"])
    assert caught.value.code == 0
    told = capsys.readouterr().out
    assert told.startswith(f"usage: {' '.join(['adclient', *words])} ")
    assert max(map(len, told.splitlines())) <= 100
    if not words:
        assert all(f"\n    {name} " in told for name in COMMANDS)
        assert all(f"  {code:<4} {meaning}\n" in told for code, meaning in EXIT_CODES.items())


def test_only_the_chosen_command_is_loaded() -> None:
    code = """import sys
from adclient._command import main
try:
    main(["list", "--help"])
except SystemExit:
    pass
print(*sys.modules)"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.splitlines()[-1].split())
    assert "adclient._command.listing" in loaded
    assert not loaded & {"adclient.doctor", "adclient.testing", "httpx", "httpcore", "pyarrow"}


def test_shell_completes(tmp_path) -> None:
    line, found = "adclient list beta.cr", tmp_path / "found"
    completing = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(found),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    program = [sys.executable, "-m", "adclient"]
    subprocess.run(program, check=True, env={**os.environ, **completing})
    assert found.read_text().strip() == "beta.creative_fatigue"


@each_case("name", ["stdin", "stdout", "stderr"])
def test_standard_streams_may_be_closed(name, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, name, None)
    with FakeAdService().as_environment():
        campaigns = ["list", "beta.campaigns", "--account", "account_b204"]
        assert main(campaigns) == 0
        assert main([*campaigns, "--token-env", "NOT_SET"]) == 2
    getattr(sys, name).close()
    monkeypatch.undo()
    printed, told = capsys.readouterr()
    assert bool(printed) is (name != "stdout")
    assert bool(told) is (name != "stderr")


@each_case(("is_terminal", "name"), [(False, "Zürich 🚲"), (True, "Zürich \\U0001f6b2")])
def test_output_is_utf_8_or_what_a_terminal_has(is_terminal, name, monkeypatch) -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, "latin-1")
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", io.StringIO())  # of a program that runs the command
    fake = FakeAdService()
    fake.change_live("account_b204", "campaign_57a7", name="Zürich 🚲")
    with fake.as_environment():
        assert main(["list", "beta.campaigns", "--account", "account_b204", "--json"]) == 0
    assert name in written.getvalue().decode("latin-1" if is_terminal else "utf-8")
