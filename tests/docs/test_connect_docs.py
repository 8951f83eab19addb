"""The page on the doctor is correct: its command, its report and its code."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import respx

from adclient import Conventions
from adclient._command import main
from adclient.testing import FakeAdService

PAGE = (Path(__file__).parent.parent.parent / "docs" / "how-to" / "connect.md").read_text("utf-8")
SETTINGS = Conventions(
    object_style="deep_object",
    cursor_parameter="page_token",
    request_id_headers=("x-correlation-id",),
)


def block(language: str) -> str:
    (code,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return code


PASTED, FROM_CODE = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def _service(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Serve a fake at the address of the page."""
    fake = FakeAdService(page_size=20, token="YOUR-TOKEN", conventions=SETTINGS)
    monkeypatch.setenv("ADCLIENT_TOKEN", "YOUR-TOKEN")

    def answer(request: httpx.Request) -> httpx.Response:
        response = fake.transport.handle_request(request)
        response.read()
        return response

    with respx.mock:
        respx.route(host="ads.example.com").mock(side_effect=answer)
        yield


def test_command_prints_the_report_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    program, *arguments = block("sh").split()
    assert program == "adclient"
    assert main(arguments) == 0
    assert capsys.readouterr().out == block("text")


def test_pasted_code_is_that_of_the_report_and_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert block("text").endswith(PASTED.rpartition("print(len")[0])
    exec(PASTED, {})
    assert "campaigns on all pages" in capsys.readouterr().out


def test_code_that_examines_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(FROM_CODE, {})
    assert capsys.readouterr().out == "page_token\n"


def test_options_and_exit_codes_are_those_of_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["doctor", "--help"])
    told = capsys.readouterr().out
    in_page = re.findall(r"^\| (`--.*?) \|", PAGE, re.MULTILINE)
    assert set(re.findall(r"--[a-z-]+", told)) - {"--help"} == set(
        re.findall(r"--[a-z-]+", "".join(in_page))
    )
    in_page = re.findall(r"^\| (\d+) \| (.*) \|$", PAGE, re.MULTILINE)
    in_help = re.findall(r"^  (\d+) +(.*)$", told, re.MULTILINE)
    assert in_page == in_help
