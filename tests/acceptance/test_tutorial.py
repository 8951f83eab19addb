"""The tutorial, followed word for word: a new environment, two terminals and a browser."""

import faulthandler
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).parent.parent.parent
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
STEP = re.compile(
    r"^## (\d)|^```(sh|python)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL
)
ADDRESS = "http://127.0.0.1:8765"


class Terminal:
    """A program that runs in the checkout, and what it prints."""

    def __init__(self, command: str, folder: Path) -> None:
        self.process = subprocess.Popen(
            command.split(), cwd=folder, stdin=PIPE, stdout=PIPE, stderr=STDOUT, encoding="utf-8"
        )

    def type(self, text: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def read_until(self, last: str) -> str:
        """What was printed before a line, which is not in it."""
        assert self.process.stdout
        lines = iter(self.process.stdout.readline, "")
        printed: list[str] = []
        for line in lines:
            if last in line:
                return "".join(printed)
            printed.append(line)
        raise AssertionError(f"it ended, and printed {''.join(printed)}")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "adclient"
    folder.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "adclient", folder / "adclient")
    return folder


@pytest.fixture
def terminals(checkout: Path) -> Iterator[Callable[[str], Terminal]]:
    opened: list[Terminal] = []

    def open_terminal(command: str) -> Terminal:
        opened.append(Terminal(command, checkout))
        return opened[-1]

    yield open_terminal
    for terminal in opened:
        with terminal.process as process:
            process.terminate()


def approve(browser: webdriver.Chrome, url: str) -> None:
    """What a human does in step 6."""

    def is_said(said: str) -> bool:
        return said in browser.find_element(By.TAG_NAME, "main").text

    def wait_for(said: str) -> None:
        assert said in TUTORIAL
        WebDriverWait(browser, 10).until(lambda _: is_said(said))

    browser.get(f"{url}/approval")
    wait_for("1 draft is waiting.")
    browser.find_element(By.XPATH, "//input[@id=//label[.='Your name']/@for]").send_keys("Kim")
    browser.find_element(By.XPATH, "//button[.='Arm']").click()
    wait_for("draft_35ea is armed: confirm it within ten minutes.")
    browser.find_element(By.XPATH, "//button[.='Confirm']").click()
    wait_for("draft_35ea is applied.")
    browser.get("about:blank")


def test_each_step_prints_what_the_page_shows(checkout, terminals, chromium) -> None:
    faulthandler.cancel_dump_traceback_later()  # pip may take longer than a test is allowed to
    address, python, compared = ADDRESS, None, 0
    for step, language, code, expected in STEP.findall(TUTORIAL):
        printed = ""
        if step == "6":
            approve(chromium, address)
        elif code == ".venv/bin/adclient fake\n":
            server = terminals(".venv/bin/adclient fake --port 0")  # the page's may be in use
            printed = server.read_until("Ctrl-C") + expected.splitlines(keepends=True)[-1]
            [address] = re.findall(r"listens at (.+)\n", printed)
        elif code == ".venv/bin/python\n":
            python = terminals(".venv/bin/python -iqu -W error")
        elif language == "sh":
            subprocess.run(["bash", "-ec", code], cwd=checkout, check=True)
        elif language == "python":
            assert python
            python.type(f"{code.replace(ADDRESS, address)}\nprint('(end)')\n")
            printed = re.sub(r"(>>> |\.\.\. )+", "", python.read_until("(end)"))
        assert printed.replace(address, ADDRESS) == expected
        compared += expected != ""
    assert compared == 9
