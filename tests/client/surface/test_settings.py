"""The settings of a new or copied client, and those that it refuses, in both clients."""

import attrs
import httpx
import pytest
from cases import each_case
from clients import (
    BASE_URL,
    CLIENT_KINDS,
    KEYED,
    SECRET,
    Service,
    a_draft,
    assert_names_the_argument,
    each_client_class,
    read,
    sync_and_async,
    wait,
    write,
)

from adclient import (
    AdClient,
    ConfigurationError,
    Conventions,
    Policy,
    RetryPolicy,
    ServerError,
    SQLiteLedger,
)

# Settings that the constructor refuses.


# More values are in tests/client/core.
BAD = {
    "base_url": [
        "ads.example.com",
        "https://ads.example.com:99999",
        f"https://user:{SECRET}@ads.example.com",
        f"https://ads.example.com?key={SECRET}",
        "https://ads..example.com",
        f"https://{'a' * 64}.example.com",
        "https://1.2.3.999",
        f"https://ads.example.com/{'a' * 70_000}",
        7,
    ],
    "token": [f"{SECRET} x", 7],
    "auth": [SECRET, {"authorization": SECRET}],
    "headers": [[("x-team", SECRET)], {"x-team": f"{SECRET}\r\nx-other: 1"}, {"Host": SECRET}],
    "timeout": [0, (1, 2)],
    "max_retries": [-1],
    "max_concurrency": [0],
    "retry": [3, {"max_retries": 3}, RetryPolicy],
    "conventions": [{}, "query", Conventions, Conventions(reads={"gamma.ads": {}})],
    "proxy": [
        "",
        "proxy.example.com:3128",
        f"ftp://{SECRET}@proxy.example.com",
        f"http://{SECRET}@[::1",
        f"http://{SECRET}@",
        f"http://{SECRET}@proxy.example.com:99999",
        7,
    ],
    "verify": [None, 7, {"ca": "x"}],
    "actor": ["", " ", " kim", "kim\n", "\u200bkim", "k" * 61, 7],
}


@pytest.mark.parametrize(
    ("base_url", "sent_to"),
    [
        ("https://ads.example.com/a/b//", "https://ads.example.com/a/b/v1/"),
        ("http://[::1]:8000", "http://[::1]:8000/v1/"),
        ("HTTPS://ads.example.com", "https://ads.example.com/v1/"),
    ],
)
@sync_and_async
async def test_base_url_is_the_prefix_of_each_request(client_kind, base_url, sent_to) -> None:
    service = Service(a_draft())
    async with client_kind.open(base_url, transport=service.transport) as client:
        await wait(write(client))
    request = service.requests[0]
    assert str(request.url) == f"{sent_to}beta-ads/pause-beta-campaign"
    assert request.headers["host"] == sent_to.split("/")[2]


@each_client_class
@each_case(
    ("argument", "value"), [(name, value) for name, values in BAD.items() for value in values]
)
def test_invalid_option_is_refused(client_class, argument, value) -> None:
    with pytest.raises(ConfigurationError) as caught:
        client_class(**{"base_url": BASE_URL, argument: value})
    assert_names_the_argument(caught.value, argument)


@each_client_class
@each_case("scheme", ["Bearer", "bearer", "Basic", "Token"])
def test_token_with_a_scheme_is_refused_with_advice(client_class, scheme) -> None:
    for token in (f"{scheme} {SECRET}", f"{scheme}\t{SECRET}\n", f" {scheme} {SECRET}"):
        with pytest.raises(ConfigurationError) as caught:
            client_class(BASE_URL, token=token)
        assert str(caught.value) == (
            f"token begins with the scheme '{scheme}': pass only what follows it, which is sent as "
            "a bearer token, or use auth= for another scheme"
        )


@each_case(
    "options",
    [
        {"token": SECRET, "auth": lambda request: {}},
        {"transport": httpx.MockTransport(print), "proxy": "http://proxy.example.com"},
        {"transport": httpx.MockTransport(print), "verify": False},
        {"proxy": "socks5://proxy.example.com"},
    ],
)
@each_client_class
def test_conflicting_or_unavailable_options_are_refused(client_class, options, monkeypatch) -> None:
    monkeypatch.setattr("adclient._http.network.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError) as caught:
        client_class(BASE_URL, **options)
    assert caught.value.argument in options
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("client_kind", CLIENT_KINDS[:2], ids=str)
def test_transport_and_http_client_exclude_each_other(client_kind) -> None:
    service = Service()
    theirs = client_kind.http_client(transport=service.transport)
    with pytest.raises(ConfigurationError, match="transport or http_client"):
        client_kind.client(BASE_URL, transport=service.transport, http_client=theirs)


def test_missing_ca_bundle_is_refused(tmp_path) -> None:
    path = str(tmp_path / "ca.pem")
    with pytest.raises(ConfigurationError, match="verify") as caught:
        write(AdClient(BASE_URL, verify=path))
    assert caught.value.argument == "verify"


# The environment.


@sync_and_async
async def test_arguments_override_the_environment(client_kind, monkeypatch) -> None:
    service = Service(*[a_draft()] * 4)
    for number, (base_url, options) in enumerate(
        [
            (None, {}),
            (BASE_URL, {"token": "mine"}),
            (BASE_URL, {"auth": lambda request: {"x-key": "1"}}),
            (BASE_URL, {}),
        ]
    ):
        is_blank = number == 3  # which counts as not set
        for name, value in (("BASE_URL", "https://env.example.com/x"), ("TOKEN", "env-token")):
            monkeypatch.setenv(f"ADCLIENT_{name}", " \n" if is_blank else f" {value}\n")
        async with client_kind.open(base_url, transport=service.transport, **options) as client:
            await wait(write(client))
    tokens = [request.headers.get("authorization") for request in service.requests]
    assert tokens == ["Bearer env-token", "Bearer mine", None, None]
    assert str(service.requests[0].url).startswith("https://env.example.com/x/v1/")
    assert str(service.requests[1].url).startswith(BASE_URL)
    with pytest.raises(ConfigurationError, match="ADCLIENT_BASE_URL") as caught:
        client_kind.client()
    assert caught.value.argument == "base_url"


@each_client_class
def test_invalid_variable_is_refused_and_not_shown(client_class, monkeypatch) -> None:
    for name, value in {
        "base_url": f"https://user:{SECRET}@ads.example.com",
        "token": f"{SECRET} {SECRET}",
    }.items():
        with monkeypatch.context() as patch:
            patch.setenv("ADCLIENT_BASE_URL", BASE_URL)
            patch.setenv(f"ADCLIENT_{name.upper()}", value)
            with pytest.raises(ConfigurationError) as caught:
                client_class()
        assert_names_the_argument(caught.value, name)


# Headers, and copies from with_options.


@sync_and_async
async def test_with_options_merges_headers_and_leaves_the_original_unchanged(client_kind) -> None:
    service = Service(a_draft(), a_draft())
    headers = {"X-Team": "ads", "X-Run": "1", "User-Agent": "reporter/2"}
    options = {"transport": service.transport, "token": "t0ken", "timeout": 9}
    async with client_kind.open(**options, headers=headers) as client:
        before = repr(client)
        same = client.with_options().with_options(timeout=None, max_retries=None, headers=None)
        other = same.with_options(headers={"x-team": "search"}, timeout=7, max_retries=5)
        headers["X-Run"] = "2"
        assert repr(client) == repr(same) == before
        assert "timeout 7 s, max_retries 5" in repr(other)
        await wait(write(other))
        await wait(write(client))
    names = ("x-team", "x-run", "user-agent", "authorization")
    sent = [[request.headers[name] for name in names] for request in service.requests]
    kept = ["1", "reporter/2", "Bearer t0ken"]
    assert sent == [["search", *kept], ["ads", *kept]]


@sync_and_async
async def test_with_options_keeps_the_attributes_of_a_subclass(client_kind) -> None:
    class Slotted(client_kind.client):
        __slots__ = ("team", "unset")

    class WithDict(Slotted):
        pass

    service = Service(a_draft())
    client = WithDict(BASE_URL, transport=service.transport)
    client.team, client.note = "search", [1]
    other = client.with_options(timeout=7)
    assert type(other) is WithDict
    assert (other.team, hasattr(other, "unset")) == ("search", False)
    assert other.note is client.note
    await wait(write(other))


@pytest.mark.parametrize(
    ("constructor", "copied", "attempts"),
    [
        ({}, {}, 3),
        ({"retry": RetryPolicy(max_retries=1, backoff_first=0)}, {}, 2),
        ({"max_retries": 3}, {"retry": RetryPolicy(max_retries=1, backoff_first=0)}, 2),
        ({}, {"retry": RetryPolicy(max_retries=4, backoff_first=0), "max_retries": 1}, 2),
    ],
)
@sync_and_async
async def test_later_and_more_specific_retry_setting_wins(
    client_kind, constructor, copied, attempts
) -> None:
    service = Service(*(httpx.Response(503) for _ in range(9)))
    async with client_kind.open(transport=service.transport, **constructor) as client:
        with pytest.raises(ServerError) as caught:
            await wait(read(client.with_options(**copied)))
    assert caught.value.attempts == len(service.requests) == attempts


# Display.


@each_client_class
def test_repr_has_the_settings_but_not_the_credentials(client_class) -> None:
    @attrs.define
    class TheirLedger:
        url: str
        reserve = end = lambda *_: None

    name, policy, ledger = client_class.__name__, Policy(accounts=["a"]), SQLiteLedger("/tmp/d.db")
    shown, ours = "policy <Policy accounts [a]>", "ledger <SQLiteLedger /tmp/d.db>"
    for settings, expected in [
        (
            {"token": SECRET, "timeout": 2.5, "max_retries": 1},
            "credentials: token, timeout 2.5 s, max_retries 1",
        ),
        ({"policy": policy}, f"credentials: none, timeout 30 s, max_retries 2, {shown}"),
        (
            {"auth": lambda request: {}, "policy": policy, "ledger": ledger},
            f"credentials: auth, timeout 30 s, max_retries 2, {shown}, {ours}",
        ),
        (
            {"ledger": TheirLedger(SECRET)},
            "credentials: none, timeout 30 s, max_retries 2, ledger TheirLedger",
        ),
    ]:
        client = client_class(BASE_URL, **settings)
        assert repr(client) == repr(client.with_options()) == f"<{name} {BASE_URL}, {expected}>"
    assert BASE_URL in repr(client.gamma)


@sync_and_async
async def test_notebook_display_has_the_settings_but_not_the_token(client_kind) -> None:
    guards = {"policy": Policy(accounts=["a"]), "ledger": SQLiteLedger("/tmp/drafts.db")}
    async with client_kind.open(token="t0ken", timeout=7, **guards) as client:
        html = client._repr_html_()
        for part in (type(client).__name__, BASE_URL, "token", "7 s", "accounts", "drafts.db"):
            assert part in html
        assert "t0ken" not in html
        assert "closed" not in html
    assert ">closed</span>" in client._repr_html_()


@pytest.mark.parametrize(
    ("name", "conventions"),
    [
        ("Idempotency-Key", None),
        ("idempotency-key", KEYED),
        ("X-Key", Conventions(idempotency_header="x-key")),
    ],
)
@each_client_class
def test_one_key_for_every_write_is_refused(client_class, name, conventions) -> None:
    with pytest.raises(ConfigurationError, match=r"with_options\(headers=…\)") as caught:
        client_class(BASE_URL, headers={name: "k1"}, conventions=conventions)
    assert caught.value.argument == "headers"
    assert "k1" not in str(caught.value)
