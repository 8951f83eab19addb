"""The pages on the commands have their options, their exit codes and their code."""

import re
from pathlib import Path

import pytest

from adclient._command import EXIT_CODES, doctor, main

DOCS = Path(__file__).parents[2] / "docs"
LISTS = (DOCS / "reference" / "command.md").read_text("utf-8")
DOCTOR = (DOCS / "how-to" / "connect.md").read_text("utf-8")
FAKE = (DOCS / "reference" / "fake.md").read_text("utf-8")


def options(text: str) -> set[str]:
    return set(re.findall(r"--[a-z-]+", text)) - {"--help"}


def options_in_table(page: str) -> set[str]:
    return options("".join(re.findall(r"^\| (`--.*?) \|", page, re.MULTILINE)))


def exit_codes(page: str) -> list[tuple[str, str]]:
    return re.findall(r"^\| (\d+) \| (.*) \|$", page, re.MULTILINE)


@pytest.fixture
def help_of(capsys):
    def printed(command: str) -> str:
        with pytest.raises(SystemExit):
            main([command, "--help"])
        return capsys.readouterr().out

    return printed


def test_page_on_lists_has_options_and_exit_codes_of_the_command(help_of) -> None:
    assert options_in_table(LISTS) <= options(help_of("list"))
    assert exit_codes(LISTS) == [(str(code), meaning) for code, meaning in EXIT_CODES.items()]


def test_page_on_the_doctor_has_options_and_exit_codes_of_the_command(help_of) -> None:
    printed = help_of("doctor")
    assert options_in_table(DOCTOR) <= options(printed)
    assert exit_codes(DOCTOR) == [(str(code), doctor.CODES[code]) for code in sorted(doctor.CODES)]


def test_page_on_the_fake_has_options_of_the_command(help_of) -> None:
    assert options_in_table(FAKE) == options(help_of("fake"))
