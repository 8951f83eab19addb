"""What a call would send, as a command, and the log of what was sent."""

import json
import logging
import re
import shlex

import clients
import httpx
import pytest
from cases import each_case
from clients import AT_ONCE, BASE_URL, SECRET, Service, a_draft, a_page, each_client_class, wait

from adclient import AdClient, ConfigurationError, Conventions, InvalidRequest

ODD = {"account_id": "account_a91f", "campaign_id": 'it\'s "1" $HOME'}
READ = {"account_id": "account_c3d8"}


def options_of(command: str) -> tuple[str, str, str | None, dict[str, str]]:
    """The method, BASE_URL, body and headers of a command, as a shell reads it."""
    words = shlex.split(command.replace("\\\n", ""), comments=True)
    assert words[:2] == ["curl", "-X"]
    method, url, *options = words[2:]
    pairs = list(zip(options[::2], options[1::2], strict=True))
    headers = dict(value.split(": ", 1) for name, value in pairs if name == "-H")
    [body] = [value for name, value in pairs if name == "--data-raw"] or [None]
    return method, url, body, headers


@each_case(
    ("name", "arguments", "conventions"),
    ("alpha.update_campaign_budget", {**ODD, "daily_budget": 120}, {}),
    ("gamma.list_ads", READ, {}),
    ("gamma.list_ads", READ, {"read_parameters": "body"}),
    ("delta.remove_auto_search_themes", {"account_id": "é\x9b"}, {}),
)
@clients.sync_and_async
async def test_preview_is_what_the_call_sends(client_kind, name, arguments, conventions) -> None:
    service = Service(a_page() if "list" in name else a_draft())
    settings = {"conventions": Conventions(**conventions), "token": "t0ken"}
    async with client_kind.open(transport=service.transport, **settings) as client:
        method = clients.method_of(client, name)
        command = client.preview(method, **arguments)
        assert service.requests == []
        await wait(method(**arguments))
    [sent] = service.requests
    how, url, body, headers = options_of(command)
    assert (how, url, (body or "").encode()) == (sent.method, str(sent.url), sent.content)
    assert headers.pop("authorization") == "Bearer $ADCLIENT_TOKEN"
    assert headers.items() <= dict(sent.headers).items()


def never() -> str:
    raise AssertionError("a preview needs no token")


@each_case(
    ("credentials", "end"),
    ({"token": SECRET}, ""),
    ({"token": never}, ""),
    ({"auth": lambda _: {"x-key": SECRET}}, "\n# and the headers of auth="),
    ({}, ""),
)
@each_client_class
def test_preview_has_no_secret(client_class, credentials, end) -> None:
    client = client_class(BASE_URL, headers={"X-Tenant": SECRET}, **credentials)
    command = client.preview(client.beta.list_campaigns, account_id="account_b204")
    assert SECRET not in command
    assert "-H 'x-tenant: …'" in command
    assert ("$ADCLIENT_TOKEN" in command) == ("token" in credentials)
    assert command.endswith(f"…'{end}")


URL_OF_PAGE = f"?account_id=account_c3d8&key={SECRET}&limit=5&{SECRET}"


@each_case(
    ("parameters", "cursor", "query", "body"),
    ("query", URL_OF_PAGE, "account_id=account_c3d8&key=…&limit=5&…", None),
    ("query", {"after": SECRET}, "account_id=account_c3d8&limit=5&cursor=…", None),
    ("body", URL_OF_PAGE, "account_id=…&key=…&limit=…&…", READ),
    ("body", {"after": SECRET}, "", {**READ, "limit": 5, "cursor": "…"}),
)
@each_client_class
def test_preview_shows_no_continuation(client_class, parameters, cursor, query, body) -> None:
    conventions = Conventions(read_parameters=parameters, page_size={"limit": 5})
    client = client_class(BASE_URL, conventions=conventions)
    command = client.preview(client.gamma.list_ads, **READ, cursor=cursor)
    assert SECRET not in command
    _, url, sent, _ = options_of(command)
    assert url.partition("?")[2] == query
    assert (sent and json.loads(sent)) == body


@each_client_class
def test_preview_refuses_what_the_call_refuses(client_class) -> None:
    client = client_class(BASE_URL)
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


@pytest.mark.parametrize(("level", "lines"), [("INFO", 1), ("debug", 5), (" ", 0)])
def test_log_is_on_stderr_if_the_environment_asks(level, lines, log, monkeypatch, capsys) -> None:
    monkeypatch.setenv("ADCLIENT_LOG", level)
    monkeypatch.setattr(logging.root, "handlers", [])  # pytest adds one before each test
    service = Service(httpx.Response(503), a_page())
    for _ in range(2):
        client = AdClient(BASE_URL, transport=service.transport, token=SECRET, retry=AT_ONCE)
    client.beta.list_campaigns(account_id="a")
    written = capsys.readouterr().err
    assert len(written.splitlines()) == lines
    assert SECRET not in written
    retried = r"adclient INFO beta\.list_campaigns #\d+: attempt 1: 503; retrying"
    assert (re.search(retried, written) is not None) is (lines > 0)
    assert logging.root.handlers == []  # so a program can still set it up


@each_client_class
def test_unknown_level_is_refused(client_class, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_LOG", "loud")
    with pytest.raises(ConfigurationError, match="ADCLIENT_LOG must be info or debug, not 'loud'"):
        client_class(BASE_URL)
