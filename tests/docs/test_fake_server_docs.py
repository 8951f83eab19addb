"""The page on the fake server is correct."""

import re
from pathlib import Path

from adclient.testing import command

PAGE = (Path(__file__).parent.parent.parent / "docs" / "reference" / "fake-server.md").read_text(
    "utf-8"
)


def test_code_in_the_fake_server_page_runs() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(code, "fake-server.md", "exec"), {})


def test_options_in_the_page_are_those_of_the_command(capsys) -> None:
    try:
        command.main(["--help"])
    except SystemExit:
        options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert set(re.findall(r"^\| `(--[a-z-]+)`", PAGE, re.MULTILINE)) == options - {"--help"}
