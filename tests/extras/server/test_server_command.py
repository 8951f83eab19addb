"""`adclient fake`: what it prints, serves and refuses."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import httpx
import pytest
from cases import each_case

from adclient import AdClient, NotFound, RetryPolicy
from adclient._command import main
from adclient._http.listening import listen

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "adclient", "fake"]


def free_port() -> int:
    with listen("127.0.0.1", 0) as listening:
        return listening.getsockname()[1]


def test_the_command_serves_until_interrupted() -> None:
    started = subprocess.Popen(
        [*COMMAND, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    with started as server:
        assert server.stdout is not None
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
    assert server.returncode == 130
    assert more + complained == ""
    page = ROOT / "docs" / "reference" / "fake-server.md"
    assert output.replace(url, "http://127.0.0.1:8765") in page.read_text("utf-8")


@pytest.mark.parametrize("seconds", [0, 0.05])
def test_interrupt_directly_after_the_start_prints_no_traceback(seconds) -> None:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*COMMAND, "--port", "0"], **pipes) as server:
        assert "listens at" in server.stdout.readline()
        time.sleep(seconds)
        server.send_signal(signal.SIGINT)
        _, complained = server.communicate(timeout=20)
    assert (server.returncode, complained) == (130, "")


# It begins before the command does, which may take its time to listen.
PATIENT = RetryPolicy(max_retries=10**6, backoff_first=0.01, backoff_longest=0.01, quota=None)


def client_of(port: int) -> AdClient:
    return AdClient(f"http://127.0.0.1:{port}", token="t", retry=PATIENT, timeout=60)


def use_then_interrupt(client: AdClient, seen: list[object], account_id="account_b204") -> None:
    try:
        with client, suppress(NotFound):
            seen.append(client.beta.list_campaigns(account_id=account_id))
    finally:
        os.kill(os.getpid(), signal.SIGINT)


def test_client_of_a_fake_like_a_service_uses_neither_its_secret_nor_its_ledger(
    tmp_path, capsys
) -> None:
    file, port = tmp_path / "service.toml", free_port()
    lines = ["format = 1", 'url = "https://ads.example.com"', 'ledger = "drafts.db"']
    file.write_text("\n".join([*lines, "[auth]", 'file = "key"', 'scheme = "Key"']), "utf-8")
    fake_client = AdClient(f"http://127.0.0.1:{port}", auth=with_key, retry=PATIENT, timeout=60)
    user = Thread(target=use_then_interrupt, args=(fake_client, [], "a"), daemon=True)
    user.start()
    assert main(["fake", "--like", str(file), "--port", str(port)]) == 130
    user.join()
    output = capsys.readouterr().out
    assert ', auth=…, ledger=open_ledger("fake.db"))\n  secret         fake-token, for auth=\n' in (
        output
    )


def with_key(_) -> dict[str, str]:
    return {"authorization": "Key fake-token"}


def test_the_options_take_effect(capsys) -> None:
    port, seen = free_port(), []
    arguments = ["--port", str(port), "--token", "t", "--page-size", "3", "--seed", "other"]
    arguments += ["--latency", "0.2"]
    user = Thread(target=use_then_interrupt, args=(client_of(port), seen))
    user.start()
    assert main(["fake", *arguments, "--host", "localhost"]) == 130
    user.join()
    assert len(seen[0].data) == 3
    assert seen[0].response.elapsed >= 0.2
    output = capsys.readouterr().out
    assert f'AdClient("http://127.0.0.1:{port}", token="…")' in output


def test_fake_like_a_service_is_served(tmp_path, monkeypatch, capsys) -> None:
    file, port = tmp_path / "service.toml", free_port()
    lines = ["format = 1", 'url = "https://ads.example.com/api"', 'accounts = ["a1", "a2"]']
    lines += ["[auth]", 'env = "KEY"', 'scheme = "Key"']
    lines += ['[listings."gamma.list_ads"]', 'account_id = "a3"']
    file.write_text("\n".join(lines), "utf-8")
    monkeypatch.setenv("KEY", "s")
    address, seen = f"http://127.0.0.1:{port}/api", []
    client = AdClient.from_service(file, base_url=address, retry=PATIENT, timeout=60)
    user = Thread(target=use_then_interrupt, args=(client, seen, "a2"))
    user.start()
    arguments = ["--like", str(file), "--port", str(port), "--seed", "x", "--token", "s"]
    assert main(["fake", *arguments]) == 130
    user.join()
    assert seen[0].data == []
    output = capsys.readouterr().out
    assert f'  client         AdClient.from_service("{file}", base_url="{address}")\n' in output
    assert "  secret         … in KEY\n" in output
    assert "  accounts       a1, a2, a3\n" in output


def test_exposed_host_is_served(capsys) -> None:
    port = free_port()
    user = Thread(target=use_then_interrupt, args=(client_of(port), []))
    user.start()
    main(["fake", "--host", "0.0.0.0", "--port", str(port), "--expose"])
    user.join()
    assert f"0.0.0.0:{port}" in capsys.readouterr().out


@each_case(
    ("arguments", "complaint"),
    [
        (["--port", "65536"], "--port must be from 0 to 65535"),
        (["--page-size", "0"], "page_size must be a whole number, 1 or more"),
        (["--latency", "-1"], "latency must be a finite number, 0 or more"),
        (["--latency", "inf"], "latency must be a finite number"),
        (["--token", ""], "token is empty"),
        (["--host", "0.0.0.0"], "--host 0.0.0.0 is not this machine alone: add --expose"),
        (["--host", "ads.example.com"], "is not this machine alone"),
        (["--like", "no-such-file.toml"], "no-such-file.toml"),
        (["--like", "f.toml", "--page-size", "5"], "--page-size: with --like, pages are those"),
    ],
)
def test_bad_arguments_are_refused(arguments, complaint, capsys) -> None:
    assert main(["fake", *arguments]) == 2
    assert complaint in capsys.readouterr().err


def test_port_in_use_is_named(capsys) -> None:
    with listen("127.0.0.1", 0) as used:
        address = used.getsockname()
        assert main(["fake", "--port", str(address[1])]) == 1
    told = capsys.readouterr().err
    assert "Address already in use" in told
    assert f"{address}): choose another with --port or --host" in told


def test_missing_extra_names_the_package_to_install(monkeypatch, capsys) -> None:
    for name in [name for name in sys.modules if name.startswith("adclient.testing.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    assert main(["fake"]) == 1
    assert "pip install 'adclient[server]', or '.[server]'" in capsys.readouterr().err


def test_the_fake_alone_loads_nothing_of_the_server() -> None:
    code = "import sys, adclient.testing; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"starlette", "uvicorn", "jinja2", "argparse"} & set(run.stdout.split())
