"""What the page on the fake server says is true."""

import re
from pathlib import Path

from adclient.testing import command

PAGE = (Path(__file__).parent.parent.parent / "docs" / "fake-server.md").read_text("utf-8")


def test_its_code_runs() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(code, "fake-server.md", "exec"), {})


def test_its_options_are_those_of_the_command(capsys) -> None:
    try:
        command.main(["--help"])
    except SystemExit:
        told = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert set(re.findall(r"^\| `(--[a-z-]+)`", PAGE, re.MULTILINE)) == told - {"--help"}
