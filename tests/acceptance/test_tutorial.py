"""The tutorial, followed word for word: two terminals and a browser."""

import re
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE, STDOUT

from chromium import until
from pages import ROOT
from selenium import webdriver
from selenium.webdriver.common.by import By

TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
STEP = re.compile(
    r"^## (\d)|^```(sh|python)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL
)
ADDRESS = "http://127.0.0.1:8765"
BIN = Path(sys.executable).parent


def start(*command: str) -> "subprocess.Popen[str]":
    given = [str(BIN / command[0]), *command[1:]]
    return subprocess.Popen(given, stdin=PIPE, stdout=PIPE, stderr=STDOUT, encoding="utf-8")


def read_until(last: str, program: "subprocess.Popen[str]") -> str:
    """What a program prints before a line, which is not in it."""
    assert program.stdout
    printed: list[str] = []
    for line in program.stdout:
        if last in line:
            return "".join(printed)
        printed.append(line)
    raise AssertionError(f"it ended, and printed {''.join(printed)}")


def approve(browser: webdriver.Chrome, url: str) -> None:
    """What a human does in step 6."""

    def wait_for(said: str) -> None:
        assert said in TUTORIAL
        until(browser, lambda: said in browser.find_element(By.TAG_NAME, "main").text)

    browser.get(f"{url}/approval")
    wait_for("1 draft is waiting.")
    browser.find_element(By.XPATH, "//input[@id=//label[.='Your name']/@for]").send_keys("Kim")
    browser.find_element(By.XPATH, "//button[.='Arm']").click()
    wait_for("draft_35ea is armed: confirm it within ten minutes.")
    browser.find_element(By.XPATH, "//button[.='Confirm']").click()
    wait_for("draft_35ea is applied.")
    browser.get("about:blank")


# `nox -s wheel` and `nox -s extras` install the package as the tutorial does.
def test_each_step_prints_what_the_page_shows(chromium) -> None:
    compared = 0
    # The port of the page may be in use.
    with (
        start("adclient", "fake", "--port", "0") as server,
        start("python", "-iqu", "-Werror") as python,
    ):
        try:
            hints = read_until("Ctrl-C", server)
            [address] = re.findall(r"listens at (.+)\n", hints)
            for step, language, code, expected in STEP.findall(TUTORIAL):
                printed = ""
                if step == "6":
                    approve(chromium, address)
                elif code == ".venv/bin/adclient fake\n":
                    printed = hints + expected.splitlines(keepends=True)[-1]
                elif language == "python":
                    assert python.stdin
                    python.stdin.write(f"{code.replace(ADDRESS, address)}\nprint('(end)')\n")
                    python.stdin.flush()
                    printed = re.sub(r"(>>> |\.\.\. )+", "", read_until("(end)", python))
                assert printed.replace(address, ADDRESS) == expected
                compared += expected != ""
        finally:
            server.terminate()
            python.terminate()
    assert compared == 9
