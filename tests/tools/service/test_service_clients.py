"""Clients and commands that are made from a service file, and where their secrets go."""

import json
import warnings
from traceback import TracebackException

import anyio
import clients
import httpx
import pytest
from cases import each_case
from clients import SECRET, Service, a_page, close, each_client_class, read, wait, write
from secret_texts import TOKEN, assert_untold, locals_of

import adclient
from adclient import AdClient, AdClientError, Conventions, PolicyRefused
from adclient._command import main
from adclient.ledger import SQLiteLedger
from adclient.policy import Policy
from adclient.testing import FakeAdService

HEAD = 'format = 2\nurl = "https://ads.example.com"\n'
FILE = """\
format = 2
url = "https://ads.example.com/prefix"

[auth]
env = "ADS_KEY"
scheme = ""
header = "X-Api-Key"

[headers]
x-tenant = "acme"

[conventions]
cursor_parameter = "token"

[conventions.reads."gamma.list_ads"]
cursor_parameter = "page"
"""
LIST = ["list", "beta.campaigns", "-a", "account_b204"]


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("ADS_KEY", SECRET)
    path = tmp_path / "service.toml"
    path.write_text(FILE)
    return path


@each_client_class
def test_environment_with_two_services_is_refused(client_class, path, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_SERVICE", str(path))
    monkeypatch.setenv("ADS_KEY", TOKEN)
    secrets = {"token": TOKEN, "proxy": "http://u:canary@p:1", "headers": {"x-key": TOKEN}}
    with pytest.raises(AdClientError) as caught:
        client_class(**secrets, timeout=0)
    assert_untold(*locals_of(caught.value))
    monkeypatch.setenv("ADCLIENT_BASE_URL", "https://ads.example.com")
    with pytest.raises(adclient.ConfigurationError, match="are both set") as caught:
        client_class(**secrets)
    assert_untold(*locals_of(caught.value))
    # Neither has an effect on a client that is told where to go.
    assert "credentials: none" in repr(client_class("https://other.example.com"))
    assert "credentials: auth" in repr(client_class.from_service(path))


@each_client_class
def test_missing_file_secret_or_mapping_is_refused(client_class, path, monkeypatch) -> None:
    with pytest.raises(adclient.ConfigurationError, match="headers: expected a mapping"):
        client_class.from_service(path, headers=[("a", "b")])
    with pytest.raises(adclient.ConfigurationError, match="pass its path, or set ADCLIENT_SERVICE"):
        client_class.from_service()
    with pytest.raises(adclient.ConfigurationError, match="cannot be read: No such file"):
        client_class.from_service(path.with_name("other.toml"))
    monkeypatch.delenv("ADS_KEY")
    with pytest.raises(
        adclient.ConfigurationError, match=r"service.toml, auth.env: ADS_KEY is not set"
    ):
        client_class.from_service(path)
    monkeypatch.setenv("ADS_KEY", f"{SECRET}\nx")
    with pytest.raises(adclient.ConfigurationError) as caught:
        client_class.from_service(path)
    assert SECRET not in str(caught.value)
    path.write_text("format =")
    with pytest.raises(adclient.ConfigurationError, match="not TOML") as caught:
        client_class.from_service(path, token=TOKEN)
    assert_untold(*locals_of(caught.value))


SENT = [
    ("Bearer", "abc", "Bearer abc"),
    ("Token", "abc", "Token abc"),
    ("Basic", "user:pässword", "Basic dXNlcjpww6Rzc3dvcmQ="),
    ("Basic", "dXNlcjpw", "Basic dXNlcjpw"),
    ("", "abc", "abc"),
]


@pytest.mark.parametrize(("scheme", "secret", "sent"), SENT)
@clients.sync_and_async
async def test_secret_of_a_file_is_sent_by_scheme(client_kind, path, scheme, secret, sent) -> None:
    key = path.with_name("key")
    path.write_text(f'{HEAD}[auth]\nfile = "key"\nscheme = "{scheme}"\n')
    key.write_text(f"{secret}\n", "utf-8")
    service = Service(a_page(), a_page())
    client = client_kind.client.from_service(path, transport=service.transport)
    await wait(read(client))
    assert service.requests[0].headers["authorization"] == sent
    key.write_text("renewed")  # it is read for each request
    await wait(read(client))
    assert service.requests[1].headers["authorization"].endswith("renewed")
    key.unlink()
    with pytest.raises(adclient.ConfigurationError, match="cannot be read: No such file"):
        await wait(read(client))
    key.write_bytes(b"\xff")
    with pytest.raises(adclient.ConfigurationError, match="cannot be read: it is not UTF-8"):
        await wait(read(client))
    await close(client)


@clients.sync_and_async
async def test_several_secrets_are_sent_and_redacted(client_kind, path, monkeypatch) -> None:
    monkeypatch.setenv("OTHER", f"{SECRET}-2")
    path.write_text(f"{FILE}\n[auth.headers]\nX-App-Token = 'OTHER'\n")
    refused = httpx.Response(403, json={"error": {"message": f"not {SECRET}-2, {SECRET}"}})
    service = Service(refused, a_page(), a_page())
    client = client_kind.client.from_service(path, transport=service.transport)
    with pytest.raises(AdClientError, match=r"not \*\*\*, \*\*\*"):
        await wait(read(client))
    others = [{"token": "mine"}, {"headers": {"x-app-token": "own"}}]
    for arguments in others:
        other = client_kind.client.from_service(path, transport=service.transport, **arguments)
        await wait(read(other))
        await close(other)
    names = ("authorization", "x-api-key", "x-app-token")
    sent = [[request.headers.get(name) for name in names] for request in service.requests]
    assert sent == [
        [None, SECRET, f"{SECRET}-2"],
        ["Bearer mine", None, f"{SECRET}-2"],
        [None, SECRET, "own"],
    ]
    await close(client)
    monkeypatch.delenv("OTHER")
    with pytest.raises(adclient.ConfigurationError, match=r"auth.headers.X-App-Token: OTHER is"):
        client_kind.client.from_service(path)


@clients.sync_and_async
async def test_policy_and_ledger_of_the_file_apply(client_kind, tmp_path, path) -> None:
    (tmp_path / "policy.toml").write_text('accounts = ["a"]')
    path.write_text(f'{HEAD}policy = "policy.toml"\nledger = "drafts.db"\n')
    service = Service(clients.a_draft(), a_page())
    client = client_kind.client.from_service(path, transport=service.transport)
    await wait(write(client))
    with pytest.raises(PolicyRefused):
        await wait(write(client, account_id="b"))
    staged, refused = SQLiteLedger(tmp_path / "drafts.db").entries()
    assert (staged.draft_id, refused.state) == ("draft_7c2e", "refused")
    await close(client)
    other = client_kind.client.from_service(
        path, transport=service.transport, policy=Policy(), ledger=SQLiteLedger(tmp_path / "b.db")
    )
    await wait(read(other, account_id="b"))
    await close(other)


@each_client_class
def test_setting_that_was_not_observed_warns_once(client_class, path) -> None:
    certainty = 'read_parameters = "likely"\ncursor_parameter = "not observed"'
    path.write_text(f"{FILE}\n[certainty]\n{certainty}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(2):
            client_class.from_service(path)
    (warning,) = caught
    doubts = "not certain: read_parameters (likely), cursor_parameter (not observed); check it"
    assert doubts in str(warning.message)
    assert warning.filename == __file__
    with warnings.catch_warnings(action="error"):
        client_class.from_service(path, conventions=Conventions())


@each_client_class
def test_traceback_of_another_error_shows_no_secret(client_class, path, monkeypatch) -> None:
    def fail(_: object) -> None:
        raise OSError("no ledger")

    path.write_text('ledger = "drafts.db"\n' + path.read_text())
    monkeypatch.setattr("adclient.ledger.open_ledger", fail)
    monkeypatch.setenv("ADS_KEY", TOKEN)
    with pytest.raises(OSError, match="no ledger") as caught:
        client_class.from_service(path, headers={"x-key": TOKEN})
    shown = TracebackException.from_exception(caught.value, capture_locals=True)
    assert_untold(*shown.format())


@clients.sync_and_async
async def test_service_of_a_file_gets_no_other_token(client_kind, path, monkeypatch) -> None:
    path.write_text(HEAD)
    monkeypatch.setenv("ADCLIENT_TOKEN", SECRET)
    monkeypatch.setenv("ADCLIENT_SERVICE", str(path))
    service = Service(a_page(), a_page(), a_page())
    for arguments in ({}, {"token": None, "auth": None}, {"token": "mine"}):
        client = client_kind.client(transport=service.transport, **arguments)
        await wait(read(client))
        await close(client)
    sent = [request.headers.get("authorization") for request in service.requests]
    assert sent == [None, None, "Bearer mine"]


@each_case(
    ("auth", "secret", "echoed"),
    ('scheme = "Basic"', f"joe:{SECRET}", f"joe:{SECRET}"),
    ('scheme = "basic"\nheader = "x-auth"', f"joe:{SECRET}", SECRET),
)
def test_secret_of_a_file_is_redacted_in_responses(auth, secret, echoed, path, monkeypatch) -> None:
    monkeypatch.setenv("ADS_KEY", secret)
    path.write_text(f'{HEAD}[auth]\nenv = "ADS_KEY"\n{auth}\n')
    service = Service(httpx.Response(403, json={"error": {"message": f"bad: {echoed}"}}))
    with (
        AdClient.from_service(path, transport=service.transport) as client,
        pytest.raises(AdClientError, match=r"bad: \*\*\*") as caught,
    ):
        read(client)
    assert echoed not in str(caught.value)


@each_client_class
def test_secret_over_plain_http_warns(client_class, path, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_SERVICE", str(path))
    for scheme in ("Bearer", "Token"):
        auth = f'[auth]\nenv = "ADS_KEY"\nscheme = "{scheme}"\n'
        path.write_text(f'format = 2\nurl = "http://ads.example.com"\n{auth}')
        for make in (client_class, client_class.from_service):
            with pytest.warns(UserWarning, match="over plain http") as warned:
                make()
            assert [warning.filename for warning in warned] == [__file__]


# Fakes.

ADDRESS = "https://ads.example.com"


@each_case(
    ("registered", "url", "is_fake"),
    (ADDRESS, "HTTPS://ADS.example.com:443/", True),
    (ADDRESS, "http://ads.example.com", False),
    (ADDRESS, "https://ads.example.com:444", False),
)
def test_fake_is_found_by_its_address_alone(registered, url, is_fake, path, monkeypatch) -> None:
    fake = FakeAdService()
    fake.base_url = registered
    path.write_text(f'format = 2\nurl = "{url}"\n')
    monkeypatch.setenv("ADCLIENT_SERVICE", "of-production.toml")  # the block hides it
    with fake.as_environment():
        AdClient().beta.list_campaigns(account_id="account_b204")
        for client in (AdClient(url), AdClient.from_service(path)):
            is_in_process = "InProcessSender" in type(client._engine.sender).__name__
            assert is_in_process is is_fake
    assert len(fake.requests) == 1


@each_client_class
def test_client_in_a_block_of_a_fake_leaves_the_service_alone(client_class, tmp_path, path) -> None:
    (tmp_path / "policy.toml").write_text('accounts = ["account_b204"]')
    path.write_text(
        f'{HEAD}policy = "policy.toml"\nledger = "drafts.db"\nca_file = "no.pem"\n'
        'proxy = "http://proxy.example.com"\n[auth]\nfile = "no-secret"\n'
    )
    fake = FakeAdService(token="of-the-fake")
    fake.base_url = "https://ads.example.com"
    own = SQLiteLedger(tmp_path / "own.db")

    async def scenario() -> None:
        for arguments in ({}, {"ledger": own}):
            client = client_class.from_service(path, **arguments)
            await wait(write(client, account_id="account_b204", campaign_id="campaign_57a7"))
            with pytest.raises(PolicyRefused):
                await wait(client.beta.list_campaigns(account_id="account_c3d8"))
            await close(client)

    with fake.as_environment():
        anyio.run(scenario)
    headers = [request.headers["authorization"] for request in fake.requests]
    assert headers == ["Bearer of-the-fake"] * 2
    assert not (tmp_path / "drafts.db").exists()
    assert len(own.entries()) == 1


# The command.


def test_every_command_takes_the_service_from_the_file(
    path, tmp_path, monkeypatch, capsys, fake_ad_service
) -> None:
    monkeypatch.chdir(tmp_path)
    policy = tmp_path / "policy.toml"
    policy.write_text('accounts = ["account_b204"]')
    text = FILE.replace("https://ads.example.com/prefix", fake_ad_service.base_url)
    text = text.replace("token", "cursor")
    path.write_text(f'policy = "policy.toml"\nledger = "drafts.db"\n{text}')
    (tmp_path / "plan.toml").write_text(
        'id = "p1"\n[[change]]\ncall = "beta.pause_campaign"\n'
        'account_id = "account_b204"\ncampaign_id = "campaign_57a7"\n'
    )
    service = ["--service", "service.toml"]
    with fake_ad_service.as_environment():
        for name in ("ADCLIENT_BASE_URL", "ADCLIENT_TOKEN"):
            monkeypatch.delenv(name)
        assert main([*LIST, *service]) == 0
        assert len(capsys.readouterr().out.splitlines()) > 1
        assert main(["list", "beta.campaigns", "-a", "account_c3d8", *service]) == 2
        assert "policy" in capsys.readouterr().err
        policy.write_text('accounts = ["account_c3d8"]')
        assert main(["plan", "check", "plan.toml", *service]) == 3
        policy.write_text('accounts = ["account_b204"]')
        assert main(["plan", "check", "plan.toml", *service]) == 0
        assert main(["plan", "stage", "plan.toml", "--new-ledger", *service]) == 0
        monkeypatch.setenv("ADCLIENT_SERVICE", "service.toml")
        capsys.readouterr()
        assert main(["ledger", "show", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["operation"] == "beta.pause_campaign"
        monkeypatch.setenv("ADCLIENT_SERVICE", "no-such.toml")  # it is not needed
        assert main(["ledger", "show", "--ledger", "drafts.db"]) == 0
    assert fake_ad_service.requests[0].headers["x-api-key"] == SECRET
