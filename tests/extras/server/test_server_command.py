"""`adclient fake`: what it prints, serves and refuses."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread

import httpx
from cases import each_case

from adclient import AdClient, NotFound, RetryPolicy
from adclient._command import main
from adclient._command.connection import listen

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "adclient", "fake", "--port", "0"]
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "encoding": "utf-8"}


def free_port() -> int:
    with listen("127.0.0.1", 0) as listening:
        return listening.getsockname()[1]


def test_the_command_serves_until_interrupted() -> None:
    with subprocess.Popen(COMMAND, **PIPES) as server:
        output = "".join(
            iter(server.stdout.readline, "Ctrl-C stops it; its drafts are then gone.\n")
        )
        url = re.findall(r"http://127\.0\.0\.1:\d+", output)[0]
        with AdClient(url) as client:
            page = client.beta.list_campaigns(account_id="account_b204")
        assert page.data[0].id == "campaign_57a7"
        assert httpx.get(f"{url}/approval").status_code == 200
        server.send_signal(signal.SIGINT)
        more, complained = server.communicate(timeout=20)
    assert (server.returncode, more + complained) == (130, "")
    page = ROOT / "docs" / "reference" / "fake.md"
    assert output.replace(url, "http://127.0.0.1:8765") in page.read_text("utf-8")


# It begins before the command does, which may take its time to listen.
PATIENT = RetryPolicy(max_retries=10**6, backoff_first=0.01, backoff_longest=0.01, quota=None)


def client_of(port: int, **settings) -> AdClient:
    return AdClient(f"http://127.0.0.1:{port}", **settings, retry=PATIENT, timeout=60)


def served(client: AdClient, *arguments: str, account_id: str = "account_b204") -> list[object]:
    """The page that a client reads from the command, which is interrupted after that."""
    pages = []

    def use() -> None:
        try:
            with client, suppress(NotFound):
                pages.append(client.beta.list_campaigns(account_id=account_id))
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    user = Thread(target=use, daemon=True)
    user.start()
    assert main(["fake", *arguments]) == 130
    user.join(60)
    return pages


def service_file(tmp_path, *lines: str) -> str:
    file = tmp_path / "service.toml"
    file.write_text("\n".join(["format = 2", *lines]), "utf-8")
    return str(file)


def with_key(_) -> dict[str, str]:
    return {"authorization": "Key fake-token"}


def test_client_of_a_fake_uses_neither_secret_nor_ledger_of_its_file(tmp_path, capsys) -> None:
    lines = ['url = "https://ads.example.com"', 'ledger = "drafts.db"', "[auth]"]
    file, port = service_file(tmp_path, *lines, 'file = "key"', 'scheme = "Key"'), free_port()
    client = client_of(port, auth=with_key)
    served(client, "--like", file, "--port", str(port), account_id="a")
    shown = ', auth=…, ledger=open_ledger("fake.db"))\n  secret         fake-token, for auth=\n'
    assert shown in capsys.readouterr().out


def test_options_take_effect(capsys) -> None:
    port = free_port()
    arguments = ["--port", str(port), "--token", "t", "--page-size", "3", "--latency", "0.2"]
    [page] = served(client_of(port, token="t"), *arguments)
    assert (len(page.data), page.response.elapsed >= 0.2) == (3, True)
    assert f'AdClient("http://127.0.0.1:{port}", token="…")' in capsys.readouterr().out


def test_fake_like_a_service_is_served(tmp_path, monkeypatch, capsys) -> None:
    lines = ['url = "https://ads.example.com/api"', 'accounts = ["a1"]', "[auth]", 'env = "KEY"']
    file, port = service_file(tmp_path, *lines), free_port()
    monkeypatch.setenv("KEY", "s")
    address = f"http://127.0.0.1:{port}/api"
    client = AdClient.from_service(file, base_url=address, retry=PATIENT, timeout=60)
    arguments = ["--like", file, "--port", str(port), "--token", "s"]
    [page] = served(client, *arguments, account_id="a1")
    assert page.data == []
    output = capsys.readouterr().out
    assert "  secret         … in KEY\n" in output
    assert "  accounts       a1\n" in output


@each_case(
    ("arguments", "complaint"),
    (["--port", "65536"], "--port must be from 0 to 65535"),
    (["--latency", "-1"], "latency must be a finite number, 0 or more"),
    (["--token", ""], "token is empty"),
    (["--host", "0.0.0.0"], "--host 0.0.0.0 is not this machine alone: add --expose"),
    (["--like", "no-such-file.toml"], "no-such-file.toml"),
    (["--like", "f.toml", "--page-size", "5"], "--page-size: with --like, pages are those"),
)
def test_bad_arguments_are_refused(arguments, complaint, capsys) -> None:
    assert main(["fake", *arguments]) == 2
    assert complaint in capsys.readouterr().err


def test_port_in_use_is_named(capsys) -> None:
    with listen("127.0.0.1", 0) as used:
        address = used.getsockname()
        assert main(["fake", "--port", str(address[1])]) == 1
    problem = f"127.0.0.1, port {address[1]}: Address already in use"
    assert capsys.readouterr().err == f"adclient: {problem}; choose another with --port or --host\n"


def test_missing_extra_names_the_package_to_install(monkeypatch, capsys) -> None:
    for name in [name for name in sys.modules if name.startswith("adclient.testing.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    assert main(["fake"]) == 1
    assert "pip install 'adclient[server]', or '.[server]'" in capsys.readouterr().err
