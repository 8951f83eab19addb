"""`python -m adclient.testing`: what it prints, serves and refuses."""

import importlib
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from cases import each_case

from adclient import AdClient, Campaign, Page, RetryPolicy
from adclient._command import main as adclient_command
from adclient.testing import FakeAdService, command
from adclient.testing.server import serving
from adclient.testing.server.uvicorn_server import listen

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "adclient.testing"]


@pytest.mark.parametrize("seconds", [0, 0.05, None])
def test_command_serves_until_interrupted_and_prints_no_traceback(seconds) -> None:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    with subprocess.Popen([*COMMAND, "--port", "0"], **pipes) as server:
        last = "Ctrl-C stops it; its drafts are then gone.\n"
        output = "".join(iter(server.stdout.readline, last))
        url = re.findall(r"http://127\.0\.0\.1:\d+", output)[0]
        if seconds is None:
            with AdClient(url) as client:
                page = client.beta.list_campaigns(account_id="account_b204")
            assert page.data[0].id == "campaign_57a7"
            assert httpx.get(f"{url}/approval").status_code == 200
        else:
            time.sleep(seconds)
        server.send_signal(signal.SIGINT)
        assert server.communicate(timeout=20) == ("", "")
    assert server.returncode == 0
    page = ROOT / "docs" / "reference" / "fake-server.md"
    assert output.replace(url, "http://127.0.0.1:8765") in page.read_text("utf-8")


def used_and_interrupted(arguments: list[str]) -> Page[Campaign]:
    """Run the command until a client has read a page."""
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
    # It begins before the command does, which may take its time to listen.
    patient = RetryPolicy(max_retries=10**6, backoff_first=0.01, backoff_longest=0.01)

    def use() -> Page[Campaign]:
        url = f"http://127.0.0.1:{port}"
        try:
            with AdClient(url, token="t", retry=patient, timeout=60) as client:
                return client.beta.list_campaigns(account_id="account_b204")
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    with ThreadPoolExecutor(1) as pool:
        page = pool.submit(use)
        command.main(["--port", str(port), *arguments])
        return page.result()


def test_the_options_take_effect(capsys) -> None:
    options = ["--token", "t", "--page-size", "3", "--seed", "other", "--latency", "0.2"]
    page = used_and_interrupted([*options, "--host", "localhost"])
    assert len(page.data) == 3
    assert page.response.elapsed >= 0.2
    output = capsys.readouterr().out
    assert re.search(r'AdClient\("http://127\.0\.0\.1:\d+", token="…"\)', output)
    assert "Warning" not in output


def test_exposed_host_prints_a_warning(capsys) -> None:
    used_and_interrupted(["--host", "0.0.0.0", "--expose"])
    assert "Warning: anyone who can reach this machine" in capsys.readouterr().out


@each_case(
    ("arguments", "complaint"),
    [
        (["--port", "x"], "'x' is not a number from 0 to 65535"),
        (["--port", "65536"], "'65536' is not a number"),
        (["--page-size", "0"], "'0' is not a number from 1"),
        (["--latency", "-1"], "'-1' is not a number of seconds from 0"),
        (["--latency", "soon"], "'soon' is not a number of seconds"),
        (["--token", "a b"], "a token is plain text without blanks"),
        (["--host", "0.0.0.0"], "--host 0.0.0.0 is not this machine alone: add --expose"),
        (["--host", "ads.example.com"], "is not this machine alone"),
    ],
)
def test_bad_arguments_are_refused(arguments, complaint, capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(arguments)
    assert caught.value.code == 2
    assert complaint in capsys.readouterr().err


def test_the_module_is_the_command(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["adclient.testing", "--help"])
    with pytest.raises(SystemExit) as caught:
        importlib.import_module("adclient.testing.__main__")
    assert caught.value.code == 0
    assert "python -m adclient.testing" in capsys.readouterr().out


def test_port_in_use_is_refused_with_advice(capsys) -> None:
    with listen("127.0.0.1", 0) as used:
        port = used.getsockname()[1]
        problem = f"cannot listen on 127.0.0.1:{port}: Address already in use; choose another with "
        with pytest.raises(SystemExit) as caught:
            command.main(["--port", str(port)])
        assert caught.value.code == 2
        assert adclient_command(["fake", "--port", str(port)]) == 2
        with (
            pytest.raises(OSError, match=f"{problem}port=, where 0 is any free one"),
            serving(FakeAdService(), port=port),
        ):
            pass
    told = capsys.readouterr().err.splitlines()
    advice = f"{problem}--port, where 0 is any free one"
    assert told == [f"python -m adclient.testing: {advice}", f"adclient: {advice}"]


def test_missing_extra_names_the_package_to_install(monkeypatch) -> None:
    for name in [name for name in sys.modules if name.startswith("adclient.testing.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    with pytest.raises(
        SystemExit, match=r"pip install 'adclient\[server\]', or '\.\[server\]' in a checkout"
    ):
        command.main([])


def test_the_fake_alone_loads_nothing_of_the_server() -> None:
    code = "import sys, adclient.testing; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"starlette", "uvicorn", "jinja2", "argparse"} & set(run.stdout.split())
