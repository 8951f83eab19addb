"""What a call would send, as a command, and the log of what was sent."""

import io
import json
import logging
import os
import shlex
import subprocess
import sys

import pytest
from cases import each_case
from clients import SECRET, Service, a_draft, a_page, each_client_class, sync_and_async, wait

from adclient import AdClient, ConfigurationError, Conventions, InvalidRequest

URL = "https://ads.example.com"
ODD = {"account_id": "account_a91f", "campaign_id": 'it\'s "1" $HOME'}
READ = {"account_id": "account_c3d8"}


def options_of(command: str) -> tuple[str, str, str | None, dict[str, str]]:
    """The method, URL, body and headers of a command, as a shell reads it."""
    words = shlex.split(command.replace("\\\n", ""), comments=True)
    assert words[:2] == ["curl", "-X"]
    method, url, *options = words[2:]
    pairs = list(zip(options[::2], options[1::2], strict=True))
    headers = dict(value.split(": ", 1) for name, value in pairs if name == "-H")
    [body] = [value for name, value in pairs if name == "--data-raw"] or [None]
    return method, url, body, headers


@sync_and_async
async def test_preview_is_what_the_call_sends(client_kind) -> None:
    calls = [
        ("alpha", "update_campaign_budget", {**ODD, "daily_budget": 120}, {}),
        ("gamma", "list_ads", READ, {}),
        ("gamma", "list_ads", READ, {"read_parameters": "body"}),
        ("delta", "remove_auto_search_themes", {"account_id": "é\x9b"}, {}),
    ]
    for namespace, name, arguments, conventions in calls:
        service = Service(a_page() if name == "list_ads" else a_draft())
        settings = {"conventions": Conventions(**conventions), "token": "t0ken"}
        async with client_kind.open(transport=service.transport, **settings) as client:
            method = getattr(getattr(client, namespace), name)
            command = client.preview(method, **arguments)
            assert service.requests == []
            await wait(method(**arguments))
        [sent] = service.requests
        how, url, body, headers = options_of(command)
        assert (how, url, (body or "").encode()) == (sent.method, str(sent.url), sent.content)
        assert headers.pop("authorization") == "Bearer $ADCLIENT_TOKEN"
        assert headers.items() <= dict(sent.headers).items()
        assert "$ADCLIENT_TOKEN" in command


@each_client_class
def test_preview_has_no_secret(client_class) -> None:
    def never() -> str:
        raise AssertionError("a preview needs no token")

    for credentials, end in (
        ({"token": SECRET}, ""),
        ({"token": never}, ""),
        ({"auth": lambda _: {"x-key": SECRET}}, "\n# and the headers of auth="),
        ({}, ""),
    ):
        client = client_class(URL, headers={"X-Tenant": SECRET}, **credentials)
        command = client.preview(client.beta.list_campaigns, account_id="account_b204")
        assert SECRET not in command
        assert "-H 'x-tenant: …'" in command
        assert ("$ADCLIENT_TOKEN" in command) == ("token" in credentials)
        assert command.endswith(f"…'{end}")


URL_OF_PAGE = f"?account_id=account_c3d8&key={SECRET}&limit=5&{SECRET}"


@each_case(
    ("parameters", "cursor", "query", "body"),
    [
        ("query", URL_OF_PAGE, "account_id=account_c3d8&key=…&limit=5&…", None),
        ("query", {"after": SECRET}, "account_id=account_c3d8&limit=5&cursor=…", None),
        ("body", URL_OF_PAGE, "account_id=…&key=…&limit=…&…", READ),
        ("body", {"after": SECRET}, "", {**READ, "limit": 5, "cursor": "…"}),
    ],
)
@each_client_class
def test_preview_shows_no_value_of_a_continuation(
    client_class, parameters, cursor, query, body
) -> None:
    conventions = Conventions(read_parameters=parameters, page_size={"limit": 5})
    client = client_class(URL, conventions=conventions)
    command = client.preview(client.gamma.list_ads, **READ, cursor=cursor)
    assert SECRET not in command
    _, url, sent, _ = options_of(command)
    assert url.partition("?")[2] == query
    assert (sent and json.loads(sent)) == body


@each_client_class
def test_preview_refuses_what_the_call_refuses(client_class) -> None:
    client = client_class(URL)
    with pytest.raises(InvalidRequest, match="account_id must be a non-empty str"):
        client.preview(client.beta.list_campaigns, account_id="")
    with pytest.raises(TypeError, match="missing a required argument: 'campaign_id'"):
        client.preview(client.beta.pause_campaign, account_id="a", campaign="c")
    with pytest.raises(TypeError, match=r"a method such as client\.beta\.pause_campaign"):
        client.preview(print)


# ADCLIENT_LOG.


@pytest.fixture
def log():
    """The log of a program that has not set it up."""
    log = logging.getLogger("adclient")
    before = log.handlers[:], log.level
    log.handlers[1:] = []
    yield log
    log.handlers[:] = before[0]
    log.setLevel(before[1])  # which also forgets what is enabled


PROGRAM = """
from adclient import AdClient
from adclient.testing import FakeAdService, Fault
fake = FakeAdService()
fake.faults.add(Fault.status(503))
for _ in range(2):
    client = fake.client(token="t0ken")
client.beta.list_campaigns(account_id="account_b204")
"""


@pytest.mark.parametrize(("level", "lines"), [("INFO", 1), ("debug", 5), (" ", 0)])
def test_log_is_written_to_standard_error_if_the_environment_asks(level, lines) -> None:
    environment = os.environ | {"ADCLIENT_LOG": level}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    assert len(done.stderr.splitlines()) == lines
    assert "t0ken" not in done.stderr
    if lines:
        assert "adclient INFO beta.list_campaigns #1: attempt 1: 503; retrying" in done.stderr


def test_log_of_the_environment_follows_the_program(log, monkeypatch, capsys) -> None:
    monkeypatch.setenv("ADCLIENT_LOG", "info")
    monkeypatch.setattr(logging.root, "handlers", [])  # pytest adds one before each test
    with monkeypatch.context() as earlier:
        earlier.setattr(sys, "stderr", io.StringIO())  # which is replaced later
        for _ in range(2):
            AdClient(URL)
    log.info("one line")
    assert capsys.readouterr().err.count("adclient INFO one line") == 1
    monkeypatch.setattr(logging.root, "handlers", [logging.NullHandler()])
    log.info("only in the handlers of the program")
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(logging.root, "handlers", [])
    log.info("nowhere")
    assert capsys.readouterr() == ("", "")


@each_client_class
def test_unknown_level_is_refused(client_class, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_LOG", "loud")
    with pytest.raises(ConfigurationError, match="ADCLIENT_LOG must be info or debug, not 'loud'"):
        client_class(URL)
