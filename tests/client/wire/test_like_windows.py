"""What Windows lacks and what it does differently, as far as another system can show it."""

import errno
import io
import os
import pkgutil
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

from cases import each_case
from doctor_services import ACCOUNT, Service, served
from raw_server import RawServer, serve_well

import adclient
from adclient._command import main
from adclient._service.file import read_service
from adclient.testing import FakeAdService

LIKE_WINDOWS = Path(__file__).parents[2] / "support" / "like_windows"
ADS = ["list", "gamma.ads", "--account", "account_c3d8"]
PLAN = """\
id = "w47"
[[change]]
call = "alpha.update_campaign_budget"
account_id = "account_a91f"
campaign_id = "campaign_4c10"
daily_budget = 140
"""

IMPORTS = """
import importlib, os, sys
from sitecustomize import MODULES

assert not hasattr(os, "fork")
url, *names = sys.argv[1:]
for name in names:
    try:
        importlib.import_module(name)
    except ImportError as error:  # a library that is not installed
        assert error.name not in MODULES, error
"""

CALLS = """
import asyncio
from adclient import AdClient, AsyncAdClient
from adclient.gate import SharedGate
from adclient.ledger import SQLiteLedger
from adclient.policy import Policy

ledger = SQLiteLedger("drafts.db")

async def stage():
    async with AsyncAdClient(url, ledger=ledger, policy=Policy(drafts_per_day=20)) as client:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(5):
                tasks.create_task(pause(client))

async def pause(client):
    assert (await client.beta.pause_campaign(account_id="a", campaign_id="c")).draft_id

with AdClient(url, gate=SharedGate(ledger)) as client:
    assert client.beta.list_campaigns(account_id="a").collect()
asyncio.run(stage())
assert [entry.state for entry in ledger.entries()] == ["staged"] * 5
assert ledger.verify()
"""

COMMANDS = """
from adclient._command import main
from adclient.testing import FakeAdService

file = ["--ledger", "book.db"]
accounts = [f"--account=account_{name}" for name in ("a91f", "b204", "c3d8", "d118")]
with FakeAdService().as_environment() as fake:
    for words in (
        ["list", "gamma.ads", "--account", "account_c3d8"],
        ["plan", "check", "changes.toml"],
        ["plan", "stage", "changes.toml", "--new-ledger", *file],
        ["ledger", "show", *file],
        ["ledger", "verify", *file],
        ["doctor", fake.base_url, "--quiet", *accounts],
    ):
        print("code:", main(words))
"""


def run_like_windows(code: str, *arguments: str) -> str:
    """What code prints in a process that lacks what Windows lacks, and has its encoding."""
    path = os.pathsep.join(filter(None, [str(LIKE_WINDOWS), os.environ.get("PYTHONPATH")]))
    env = os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": "cp1252"}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=env, capture_output=True, timeout=40)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def test_clients_ledger_gate_and_commands_work_and_print_utf_8(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "changes.toml").write_text(PLAN, "utf-8")
    modules = [module.name for module in pkgutil.walk_packages(adclient.__path__, "adclient.")]
    names = [name for name in modules if not name.endswith("__main__")]
    with RawServer(serve_well) as server:
        printed = run_like_windows(IMPORTS + CALLS + COMMANDS, server.url, *names)
    codes = [line for line in printed.splitlines() if line.startswith("code:")]
    assert codes == ["code: 0"] * 6
    assert "->" in printed


# What it does differently.


class WindowsPipe(io.FileIO):
    """Nobody reads it; Windows reports that by another error."""

    def write(self, data) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise OSError(errno.EINVAL, "Invalid argument") from None


@each_case("arguments", ADS, ["--help"], ["list", "--help"])
def test_output_that_nobody_reads_is_141(arguments, capsys) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    closed = io.TextIOWrapper(io.BufferedWriter(WindowsPipe(writer, "w")))
    with closed, redirect_stdout(closed), FakeAdService().as_environment():
        assert main(arguments) == 141
        print("again", file=closed, flush=True)
    assert capsys.readouterr().err == ""


def test_wrong_name_of_a_file_is_not_taken_for_a_closed_pipe(tmp_path, monkeypatch, capsys) -> None:
    def read_text(path: Path, *_: object) -> str:
        raise OSError(errno.EINVAL, "Invalid argument", str(path))

    monkeypatch.setattr(Path, "read_text", read_text)
    with FakeAdService().as_environment():
        assert main([*ADS, "--token-file", "a?b"]) == 1
    assert "a?b" in capsys.readouterr().err


def test_output_to_a_file_has_the_line_breaks_of_other_systems() -> None:
    written = io.BytesIO()
    output = io.TextIOWrapper(written, encoding="cp1252", newline="\r\n")
    with redirect_stdout(output), FakeAdService().as_environment():
        assert main([*ADS, "--limit", "2"]) == 0
    assert written.getvalue().count(b"\n") == 2
    assert b"\r" not in written.getvalue()


def test_service_file_names_a_secret_on_another_drive(tmp_path, monkeypatch) -> None:
    def relpath(*_: object) -> str:
        raise ValueError("path is on mount 'C:', start on mount 'D:'")

    secret = tmp_path / "secret"
    secret.write_text("sesame")
    file = tmp_path / "service.toml"
    monkeypatch.setattr(os.path, "relpath", relpath)
    with served(Service(header="authorization", secret="Bearer sesame")) as url:
        arguments = ["doctor", url, "-a", ACCOUNT, "--token-file", str(secret), "--quiet"]
        assert main([*arguments, "--save", str(file)]) == 0
    assert read_service(file).auth.file == secret.as_posix()
