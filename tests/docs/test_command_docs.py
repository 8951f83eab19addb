"""The page on the command is correct: a shell runs each block and prints what is shown."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from adclient._command import EXIT_CODES, main
from adclient.testing import FakeAdService
from adclient.testing.server import serving

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = (DOCS / "reference" / "command.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_each_block_does_what_is_shown(tmp_path) -> None:
    with serving(FakeAdService()) as url:
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "ADCLIENT_BASE_URL": url,
        }
        printed = ""
        for language, text in BLOCKS:
            if language == "sh":
                assert printed == ""
                run = subprocess.run(
                    ["bash", "-c", text],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    check=False,
                    cwd=tmp_path,
                    encoding="utf-8",
                    env=environment,
                )
                printed = run.stdout
            else:
                assert (language, printed) == ("text", text)
                printed = ""
        assert printed == ""


def test_servers_of_the_page_for_models_start(tmp_path) -> None:
    page = (DOCS / "how-to" / "for-models.md").read_text("utf-8")
    [commands] = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "policy.toml").write_text('accounts = ["account_a91f"]')
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        ["bash", "-ec", commands],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=tmp_path,
        encoding="utf-8",
        env={**os.environ, "PATH": path},
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_options_and_exit_codes_are_those_of_the_command(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["list", "--help"])
    told = capsys.readouterr().out
    for option in re.findall(r"--[a-z-]+", "".join(re.findall(r"^\| (`--.*?) \|", PAGE, re.M))):
        assert f" {option} " in told
    found = dict(re.findall(r"^\| (\d+) \| (.*) \|$", PAGE, re.MULTILINE))
    assert found == {str(code): meaning for code, meaning in EXIT_CODES.items()}
