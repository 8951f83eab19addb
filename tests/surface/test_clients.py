"""Making, using, copying and ending a client, in both colours."""

import copy
import gc
import pickle
import ssl
import threading

import colours
import httpx
import pytest
from colours import (
    AT_ONCE,
    BASE_URL,
    COLOURS,
    DRAFT,
    Service,
    a_draft,
    a_page,
    both_colours,
    close,
    everything,
    wait,
)

import adclient
from adclient import (
    AdClient,
    APIError,
    AsyncAdClient,
    ConfigurationError,
    ConnectionFailed,
    ConnectionLost,
    Conventions,
    Draft,
    OutcomeUnknown,
    RateLimited,
    Request,
    RetryPolicy,
    ServerError,
)

SECRET = "hunter2-s3cret"
clients = pytest.mark.parametrize("client_class", [AdClient, AsyncAdClient])


def pause(client, **arguments):
    return client.beta.pause_campaign(**{"account_id": "a", "campaign_id": "c", **arguments})


def objectives(client, **arguments):
    return client.alpha.explain_objectives(**{"account_id": "a", **arguments})


# What the constructor refuses.

BAD_BASE_URLS = [
    "",
    " ",
    "ads.example.com",
    "//ads.example.com",
    "ftp://ads.example.com",
    "file:///etc/passwd",
    "https://",
    "https:///v1",
    "https://:443",
    "https://ads.example.com:port",
    "https://ads.example.com:99999",
    "https://ads.example.com:0",
    "https://[::1",
    f"https://{SECRET}@ads.example.com",
    f"https://user:{SECRET}@ads.example.com",
    f"https://ads.example.com?key={SECRET}",
    f"https://ads.example.com#{SECRET}",
    "https://ads.example.com?",
    "https://ads.example.com#",
    "https://ads.example.com/a b",
    "https://ads.example.com/\n",
    "https://ads.example.com\\@evil.example.com",
    "https://ads..example.com",
    f"https://{'a' * 64}.example.com",
    "https://1.2.3.999",
    f"https://ads.example.com/{'a' * 70_000}",
    "https://ads.example.com/../up",
    "https://ads.example.com/./here",
    b"https://ads.example.com",
    7,
]
BAD_OPTIONS = [
    *[
        ("token", token)
        for token in ["", " ", f"{SECRET}\n", f"{SECRET} x", f"\t{SECRET}", f"{SECRET}é", 7, b"x"]
    ],
    *[("auth", auth) for auth in [SECRET, {"authorization": SECRET}, 7]],
    *[
        ("headers", headers)
        for headers in [
            SECRET,
            [("x-team", SECRET)],
            {"bad name": SECRET},
            {"": SECRET},
            {"x-team\n": SECRET},
            {7: SECRET},
            {"x-team": f"{SECRET}\r\nx-other: 1"},
            {"x-team": f"{SECRET}é"},
            {"x-team": f" {SECRET}"},
            {"x-team": 7},
            {"x-team": None},
            {"Authorization": SECRET},
            {"Host": SECRET},
            {"Content-Length": "0"},
            {"Content-Type": "text/plain"},
            {"Transfer-Encoding": "chunked"},
            {"Cookie": SECRET},
        ]
    ],
    *[
        ("timeout", timeout)
        for timeout in [0, -1, float("nan"), float("inf"), "30", True, (1, 2), [30]]
    ],
    *[("max_retries", count) for count in [-1, 1.5, "2", True, float("inf")]],
    *[("max_concurrency", count) for count in [0, -1, 1.5, "2", True]],
    *[("retry", retry) for retry in [3, {"max_retries": 3}, RetryPolicy]],
    *[("conventions", conventions) for conventions in [{}, "query", Conventions]],
    *[
        ("proxy", proxy)
        for proxy in [
            "",
            "proxy.example.com:3128",
            f"ftp://{SECRET}@proxy.example.com",
            f"http://{SECRET}@[::1",
            7,
        ]
    ],
    *[("verify", verify) for verify in [None, 7, {"ca": "x"}]],
]
BAD_POLICIES = [
    ("max_retries", -1),
    ("max_retries", 1.0),
    ("max_retries", True),
    ("backoff_first", -0.1),
    ("backoff_first", float("nan")),
    ("backoff_longest", float("inf")),
    ("backoff_longest", "8"),
]
BAD_CONVENTIONS = [
    ("read_parameters", "header"),
    ("object_style", "xml"),
    ("cursor_parameter", ""),
    ("cursor_parameter", 7),
    ("cursor_parameter", "\ud800"),
    ("follow_next_urls", "yes"),
    ("idempotency_header", "bad name"),
    ("idempotency_header", ""),
    ("request_id_headers", "x-request-id"),
    ("request_id_headers", ["bad name"]),
]


def assert_names_the_argument(error: ConfigurationError, argument: str) -> None:
    assert error.argument == argument
    assert argument in str(error)
    assert isinstance(error, ValueError)
    assert SECRET not in f"{error!s} {error!r} {vars(error)}"
    assert error.__context__ is None or error.__suppress_context__


@pytest.mark.parametrize("base_url", BAD_BASE_URLS, ids=lambda url: repr(url)[:45])
@clients
def test_bad_base_url(client_class, base_url) -> None:
    with pytest.raises(ConfigurationError) as caught:
        client_class(base_url)
    assert_names_the_argument(caught.value, "base_url")


@pytest.mark.parametrize(
    ("base_url", "sent_to"),
    [
        ("https://ads.example.com", "https://ads.example.com/v1/"),
        ("https://ads.example.com/", "https://ads.example.com/v1/"),
        ("https://ads.example.com/a/b//", "https://ads.example.com/a/b/v1/"),
        ("https://ads.example.com:8443/a", "https://ads.example.com:8443/a/v1/"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/"),
        ("http://[::1]:8000", "http://[::1]:8000/v1/"),
    ],
)
@both_colours
async def test_good_base_url(colour, base_url, sent_to) -> None:
    service = Service(a_draft())
    async with colour.open(base_url, transport=service.transport) as client:
        await wait(pause(client))
    request = service.requests[0]
    assert str(request.url) == f"{sent_to}beta-ads/pause-beta-campaign"
    assert request.headers["host"] == sent_to.split("/")[2]


@pytest.mark.parametrize(("argument", "value"), BAD_OPTIONS)
@clients
def test_bad_option(client_class, argument, value) -> None:
    with pytest.raises(ConfigurationError) as caught:
        client_class(BASE_URL, **{argument: value})
    assert_names_the_argument(caught.value, argument)


@clients
def test_options_are_keyword_only(client_class) -> None:
    with pytest.raises(TypeError):
        client_class(BASE_URL, "t0ken")
    with pytest.raises(TypeError):
        client_class(BASE_URL, approve=True)


@pytest.mark.parametrize(("argument", "value"), BAD_POLICIES)
def test_bad_retry_policy(argument, value) -> None:
    with pytest.raises(ConfigurationError) as caught:
        RetryPolicy(**{argument: value})
    assert_names_the_argument(caught.value, argument)


@pytest.mark.parametrize(("argument", "value"), BAD_CONVENTIONS)
def test_bad_convention(argument, value) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Conventions(**{argument: value})
    assert_names_the_argument(caught.value, argument)


@pytest.mark.parametrize(
    "options",
    [
        {"token": SECRET, "auth": lambda request: {}},
        {"transport": httpx.MockTransport(print), "proxy": "http://proxy.example.com"},
        {"transport": httpx.MockTransport(print), "verify": False},
        {"proxy": "socks5://proxy.example.com"},
    ],
    ids=["token and auth", "transport and proxy", "transport and verify", "socks"],
)
@clients
def test_options_that_cannot_be_used_here(client_class, options, monkeypatch) -> None:
    monkeypatch.setattr("adclient._http.network.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError) as caught:
        client_class(BASE_URL, **options)
    assert caught.value.argument in options
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("colour", COLOURS[:2], ids=str)
def test_transport_and_http_client_exclude_each_other(colour) -> None:
    service = Service()
    theirs = colour.http_client(transport=service.transport)
    with pytest.raises(ConfigurationError, match="transport and http_client"):
        colour.client(BASE_URL, transport=service.transport, http_client=theirs)


def test_a_ca_bundle_that_is_not_there(tmp_path) -> None:
    path = str(tmp_path / "ca.pem")
    with pytest.raises(ConfigurationError, match="verify") as caught:
        pause(AdClient(BASE_URL, verify=path))
    assert caught.value.argument == "verify"


@pytest.mark.parametrize(
    "verify", [True, False, ssl.create_default_context()], ids=["on", "off", "context"]
)
@clients
def test_good_verify(client_class, verify) -> None:
    assert client_class(BASE_URL, verify=verify)


# The environment.


@both_colours
async def test_settings_from_the_environment(colour, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_BASE_URL", " https://env.example.com/x ")
    monkeypatch.setenv("ADCLIENT_TOKEN", " env-token\n")
    service = Service(a_draft())
    async with colour.open(None, transport=service.transport) as client:
        await wait(pause(client))
    (request,) = service.requests
    assert str(request.url).startswith("https://env.example.com/x/v1/")
    assert request.headers["authorization"] == "Bearer env-token"


@both_colours
async def test_arguments_win_over_the_environment(colour, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_BASE_URL", "https://env.example.com")
    monkeypatch.setenv("ADCLIENT_TOKEN", "env-token")
    service = Service(a_draft(), a_draft())
    async with colour.open(transport=service.transport, token="mine") as client:
        await wait(pause(client))
    async with colour.open(
        transport=service.transport, auth=lambda request: {"x-key": "1"}
    ) as client:
        await wait(pause(client))
    first, second = service.requests
    assert str(first.url).startswith(BASE_URL)
    assert first.headers["authorization"] == "Bearer mine"
    assert "authorization" not in second.headers


@pytest.mark.parametrize("blank", ["", "  ", "\n"])
@both_colours
async def test_a_blank_variable_is_not_set(colour, monkeypatch, blank) -> None:
    monkeypatch.setenv("ADCLIENT_BASE_URL", blank)
    monkeypatch.setenv("ADCLIENT_TOKEN", blank)
    with pytest.raises(ConfigurationError, match="ADCLIENT_BASE_URL") as caught:
        colour.client()
    assert caught.value.argument == "base_url"
    service = Service(a_draft())
    async with colour.open(transport=service.transport) as client:
        await wait(pause(client))
    assert "authorization" not in service.requests[0].headers


@clients
def test_a_bad_token_in_the_environment_is_not_shown(client_class, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_TOKEN", f"{SECRET} {SECRET}")
    with pytest.raises(ConfigurationError) as caught:
        client_class(BASE_URL)
    assert_names_the_argument(caught.value, "token")


@clients
def test_a_bad_base_url_in_the_environment(client_class, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_BASE_URL", f"https://user:{SECRET}@ads.example.com")
    with pytest.raises(ConfigurationError) as caught:
        client_class()
    assert_names_the_argument(caught.value, "base_url")


# Credentials.


@both_colours
async def test_without_credentials_none_are_sent(colour) -> None:
    service = Service(a_draft())
    async with colour.open(transport=service.transport) as client:
        await wait(pause(client))
    assert "authorization" not in service.requests[0].headers


@both_colours
async def test_a_token_function_is_called_for_each_attempt(colour) -> None:
    service = Service(httpx.Response(503), a_page("a"))
    tokens = iter(["first", "second"])
    async with colour.open(transport=service.transport, token=lambda: next(tokens)) as client:
        await wait(objectives(client))
    sent = [request.headers["authorization"] for request in service.requests]
    assert sent == ["Bearer first", "Bearer second"]


@pytest.mark.parametrize("token", [None, "", f"{SECRET}\n", 7])
@both_colours
async def test_a_token_function_that_returns_no_token(colour, token) -> None:
    service = Service()
    async with colour.open(transport=service.transport, token=lambda: token) as client:
        with pytest.raises(ConfigurationError) as caught:
            await wait(pause(client))
    assert_names_the_argument(caught.value, "token")
    assert service.requests == []


@both_colours
async def test_the_error_of_a_token_function_passes(colour) -> None:
    def token():
        raise KeyError("vault")

    service = Service()
    async with colour.open(transport=service.transport, token=token) as client:
        with pytest.raises(KeyError, match="vault"):
            await wait(pause(client))
    assert service.requests == []


@both_colours
async def test_auth_gets_the_request_and_returns_headers(colour) -> None:
    seen = []

    def sign(request: Request) -> dict[str, str]:
        seen.append(request)
        return {"X-Signature": f"{request.method} {len(request.body or b'')}"}

    service = Service(httpx.Response(503), a_page("a"), a_draft())
    async with colour.open(transport=service.transport, auth=sign) as client:
        await wait(objectives(client))
        await wait(pause(client))
    assert [request.headers["x-signature"] for request in service.requests] == [
        "GET 0",
        "GET 0",
        "POST 36",
    ]
    assert [type(request) for request in seen] == [Request] * 3
    assert (seen[0].method, seen[0].body) == ("GET", None)
    assert seen[0].url == f"{BASE_URL}/v1/alpha-ads/explain-alpha-objectives?account_id=a"
    assert seen[2].body == b'{"account_id":"a","campaign_id":"c"}'
    assert seen[2].headers["content-type"] == "application/json"


@both_colours
async def test_auth_may_set_authorization(colour) -> None:
    service = Service(a_draft())
    options = {"auth": lambda request: {"Authorization": "Custom abc"}}
    async with colour.open(transport=service.transport, **options) as client:
        await wait(pause(client))
    assert service.requests[0].headers["authorization"] == "Custom abc"


@pytest.mark.parametrize(
    "headers",
    [
        None,
        SECRET,
        [("x-key", SECRET)],
        {"x-key": f"{SECRET}\n"},
        {"x-key": None},
        {"bad name": SECRET},
        {"host": SECRET},
        {"content-length": "0"},
    ],
)
@both_colours
async def test_bad_headers_of_auth_are_refused(colour, headers) -> None:
    service = Service()
    async with colour.open(transport=service.transport, auth=lambda request: headers) as client:
        with pytest.raises(ConfigurationError) as caught:
            await wait(pause(client))
    assert_names_the_argument(caught.value, "auth")
    assert service.requests == []


@pytest.mark.parametrize("colour", COLOURS[1:], ids=str)
def test_async_token_and_auth_are_awaited(colour) -> None:
    async def token() -> str:
        return "awaited"

    async def sign(request: Request) -> dict[str, str]:
        return {"x-signature": request.method}

    service = Service(a_draft(), a_draft())

    async def scenario() -> None:
        async with colour.open(transport=service.transport, token=token) as client:
            await pause(client)
        async with colour.open(transport=service.transport, auth=sign) as client:
            await pause(client)

    colour.run(scenario)
    first, second = service.requests
    assert first.headers["authorization"] == "Bearer awaited"
    assert second.headers["x-signature"] == "POST"


@both_colours
async def test_secrets_are_shown_nowhere(colour, caplog) -> None:
    caplog.set_level("DEBUG")
    service = Service(a_draft(), httpx.Response(401), httpx.ConnectError(""))
    options = {"token": SECRET, "headers": {"x-key": SECRET}, "retry": RetryPolicy(max_retries=0)}
    shown = []
    async with colour.open(transport=service.transport, **options) as client:
        draft = await wait(pause(client))
        shown += [repr(client), repr(client.beta), repr(draft), draft._repr_html_(), str(draft)]
        for _ in range(2):
            with pytest.raises(adclient.AdClientError) as caught:
                await wait(pause(client))
            shown += [str(caught.value), repr(caught.value), repr(vars(caught.value))]
        engine = client._engine
        shown += [repr(engine), repr(engine.options), repr(engine.connections._network)]
    assert SECRET not in "".join(shown)
    assert SECRET not in caplog.text
    assert service.answers == []


# Headers and the copies that with_options gives.


@both_colours
async def test_own_user_agent(colour) -> None:
    service = Service(a_draft())
    options = {"headers": {"User-Agent": "reporter/2"}}
    async with colour.open(transport=service.transport, **options) as client:
        await wait(pause(client))
    assert service.requests[0].headers["user-agent"] == "reporter/2"


@both_colours
async def test_with_options_merges_and_changes_nothing(colour) -> None:
    service = Service(a_draft(), a_draft())
    headers = {"X-Team": "ads", "X-Run": "1"}
    async with colour.open(transport=service.transport, headers=headers) as client:
        before = repr(client)
        other = client.with_options(headers={"x-team": "search"}, timeout=7, max_retries=5)
        headers["X-Run"] = "2"
        assert type(other) is colour.client
        assert repr(client) == before
        assert "timeout 7 s, max_retries 5" in repr(other)
        await wait(pause(other))
        await wait(pause(client))
    sent = [(r.headers["x-team"], r.headers["x-run"]) for r in service.requests]
    assert sent == [("search", "1"), ("ads", "1")]


@both_colours
async def test_with_options_keeps_what_it_is_not_told(colour) -> None:
    service = Service(a_draft())
    options = {"timeout": 9, "max_retries": 4, "token": "t0ken"}
    async with colour.open(transport=service.transport, **options) as client:
        other = client.with_options().with_options(timeout=None, max_retries=None, headers=None)
        assert repr(other) == repr(client)
        await wait(pause(other))
    assert service.requests[0].headers["authorization"] == "Bearer t0ken"


@pytest.mark.parametrize(
    ("constructor", "copied", "attempts"),
    [
        ({}, {}, 3),
        ({"max_retries": 0}, {}, 1),
        ({"retry": RetryPolicy(max_retries=1, backoff_first=0)}, {}, 2),
        ({"max_retries": 3}, {}, 4),
        ({"max_retries": 3}, {"max_retries": 1}, 2),
        ({"max_retries": 3}, {"retry": RetryPolicy(max_retries=1, backoff_first=0)}, 2),
        ({}, {"retry": RetryPolicy(max_retries=4, backoff_first=0), "max_retries": 1}, 2),
    ],
)
@both_colours
async def test_which_retry_setting_wins(colour, constructor, copied, attempts) -> None:
    service = Service(*(httpx.Response(503) for _ in range(9)))
    async with colour.open(transport=service.transport, **constructor) as client:
        with pytest.raises(ServerError) as caught:
            await wait(objectives(client.with_options(**copied)))
    assert caught.value.attempts == len(service.requests) == attempts


@pytest.mark.parametrize(
    ("argument", "value"),
    [("timeout", 0), ("max_retries", -1), ("headers", {"host": "x"}), ("retry", 3)],
)
@clients
def test_with_options_checks_like_the_constructor(client_class, argument, value) -> None:
    with pytest.raises(ConfigurationError) as caught:
        client_class(BASE_URL).with_options(**{argument: value})
    assert_names_the_argument(caught.value, argument)


@both_colours
async def test_closing_a_copy_leaves_the_original_open(colour) -> None:
    service = Service(a_draft(), a_draft())
    async with colour.open(transport=service.transport) as client:
        other, third = client.with_options(timeout=7), client.with_options(timeout=8)
        await close(other)
        with pytest.raises(ConfigurationError, match="closed"):
            await wait(pause(other))
        await wait(pause(client))
        await wait(pause(third))


@both_colours
async def test_closing_the_original_ends_its_copies(colour) -> None:
    async with colour.open(transport=Service().transport) as client:
        other = client.with_options(timeout=7)
        await close(client)
        with pytest.raises(ConfigurationError, match="closed"):
            await wait(pause(other))


# Its end.


@both_colours
async def test_closing_twice_and_using_after(colour) -> None:
    service = Service()
    async with colour.open(transport=service.transport) as client:
        await close(client)
        await close(client)
        assert "closed" in repr(client)
        with pytest.raises(ConfigurationError, match="closed"):
            await wait(pause(client))
        with pytest.raises(ConfigurationError, match="closed"):
            await wait(objectives(client))
    assert service.requests == []


def test_the_sync_client_is_a_context_manager() -> None:
    service = Service(a_draft())
    with AdClient(BASE_URL, transport=service.transport) as client:
        assert isinstance(pause(client), Draft)
    with pytest.raises(ConfigurationError, match="closed"):
        pause(client)


@pytest.mark.parametrize("colour", COLOURS[1:], ids=str)
def test_the_async_client_is_a_context_manager(colour) -> None:
    service = Service(a_draft())

    async def scenario() -> None:
        async with AsyncAdClient(BASE_URL, transport=service.transport) as client:
            assert isinstance(await pause(client), Draft)
        with pytest.raises(ConfigurationError, match="closed"):
            await pause(client)

    colour.run(scenario)


def test_each_client_has_its_own_kind_of_block() -> None:
    assert not hasattr(AdClient, "__aenter__")
    assert not hasattr(AdClient, "aclose")
    assert not hasattr(AsyncAdClient, "__enter__")
    assert not hasattr(AsyncAdClient, "close")


@clients
def test_a_client_that_made_no_call_has_nothing_to_close(client_class) -> None:
    client_class(BASE_URL)
    gc.collect()


@pytest.mark.parametrize("made", [pickle.dumps, copy.copy, copy.deepcopy])
@clients
def test_a_client_is_not_pickled_or_copied(client_class, made) -> None:
    with pytest.raises(TypeError, match="client"):
        made(client_class(BASE_URL))


@clients
def test_repr(client_class) -> None:
    text = repr(client_class(BASE_URL, token=SECRET, timeout=2.5, max_retries=1))
    assert text == (
        f"<{client_class.__name__} {BASE_URL}, credentials: token, timeout 2.5 s, max_retries 1>"
    )
    assert "credentials: none" in repr(client_class(BASE_URL))
    assert "credentials: auth" in repr(client_class(BASE_URL, auth=lambda request: {}))
    assert BASE_URL in repr(client_class(BASE_URL).gamma)


# Somebody else's client or transport.


async def with_their_client(colour, handler, scenario, **options) -> None:
    """Run a scenario over an HTTP client of the caller's; it must stay open."""
    theirs = colour.http_client(httpx.MockTransport(handler), **options)
    try:
        async with colour.open(http_client=theirs) as client:
            await scenario(client)
        assert not theirs.is_closed
    finally:
        await wait(theirs.aclose() if hasattr(theirs, "aclose") else theirs.close())


@both_colours
async def test_http_client_is_used_and_not_closed(colour) -> None:
    requests = []

    def handler(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return a_draft()

    async def scenario(client) -> None:
        assert (await wait(pause(client))).draft_id == "draft_7c2e"

    await with_their_client(
        colour,
        handler,
        scenario,
        base_url="https://elsewhere.example.com",
        headers={"X-Theirs": "1"},
        params={"theirs": "1"},
        follow_redirects=True,
    )
    (request,) = requests
    assert str(request.url) == f"{BASE_URL}/v1/beta-ads/pause-beta-campaign"
    assert "x-theirs" not in request.headers


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@both_colours
async def test_http_client_follows_no_redirect(colour, status) -> None:
    requests = []

    def handler(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(status, headers={"location": "https://evil.example.com/"})

    async def scenario(client) -> None:
        for call in (pause, objectives):
            with pytest.raises(APIError, match="redirect") as caught:
                await wait(call(client))
            assert caught.value.status == status

    await with_their_client(colour, handler, scenario, follow_redirects=True)
    assert [request.url.host for request in requests] == ["ads.example.com"] * 2


@both_colours
async def test_http_client_sends_no_cookie_back(colour) -> None:
    requests = []

    def handler(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(201, json=DRAFT, headers={"set-cookie": "session=1"})

    async def scenario(client) -> None:
        await wait(pause(client))
        await wait(pause(client))

    await with_their_client(colour, handler, scenario)
    assert ["cookie" in request.headers for request in requests] == [False, False]


@pytest.mark.parametrize("colour", COLOURS[:2], ids=str)
def test_http_client_of_the_wrong_colour(colour) -> None:
    library, name = colours.FAMILY.library, colour.http_client_name
    other = getattr(library, colour.other_name)()
    with pytest.raises(TypeError) as caught:
        colour.client(BASE_URL, http_client=other)
    assert str(caught.value) == (
        f"http_client of {colour.client.__name__} must be an httpx.{name} or httpx2.{name}, "
        f"not {library.__name__}.{colour.other_name}"
    )


@pytest.mark.parametrize("colour", COLOURS[:2], ids=str)
def test_transport_of_the_wrong_colour(colour) -> None:
    other = httpx.AsyncHTTPTransport() if colour.client is AdClient else httpx.HTTPTransport()
    with pytest.raises(
        TypeError, match=f"transport of {colour.client.__name__}.*{type(other).__name__}"
    ):
        colour.client(BASE_URL, transport=other)


@pytest.mark.parametrize("given", ["https://x", 7, object(), [], ""])
@pytest.mark.parametrize("argument", ["transport", "http_client"])
@clients
def test_what_is_no_transport_at_all(client_class, argument, given) -> None:
    with pytest.raises(TypeError, match=argument):
        client_class(BASE_URL, **{argument: given})


@pytest.mark.own
@both_colours
async def test_a_transport_is_not_closed(colour) -> None:
    class Transport(httpx.MockTransport):
        def close(self) -> None:
            raise AssertionError

        async def aclose(self) -> None:
            raise AssertionError

    transport = Transport(lambda request: a_draft())
    async with colour.open(transport=transport) as client:
        await wait(pause(client))


@both_colours
async def test_a_transport_that_tells_false_is_used(colour) -> None:
    class Transport(httpx.MockTransport):
        def __bool__(self) -> bool:
            return False

    nowhere, transport = "http://127.0.0.1:1", Transport(lambda request: a_draft())
    async with colour.open(nowhere, transport=transport) as client:
        assert isinstance(await wait(pause(client)), Draft)


@both_colours
async def test_a_transport_needs_no_proxy(colour, monkeypatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://[broken")
    service = Service(a_draft())
    async with colour.open(transport=service.transport) as client:
        await wait(pause(client))


@pytest.mark.parametrize("call", [pause, objectives])
@both_colours
async def test_a_fault_after_the_whole_answer_is_none(colour, call) -> None:
    class Body(httpx.SyncByteStream, httpx.AsyncByteStream):
        def __init__(self, content: bytes) -> None:
            self.content = content

        def __iter__(self):
            yield self.content

        async def __aiter__(self):
            yield self.content

        def close(self) -> None:
            raise httpx.CloseError("")

        async def aclose(self) -> None:
            raise httpx.CloseError("")

    def answer(request: httpx.Request) -> httpx.Response:
        whole = a_draft() if request.method == "POST" else a_page("a")
        return httpx.Response(whole.status_code, stream=Body(whole.content))

    class Transport(httpx.BaseTransport, httpx.AsyncBaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            return answer(request)

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            return answer(request)

    async with colour.open(transport=Transport()) as client:
        assert (await wait(call(client))).response.attempts == 1


# Trying again, from end to end.

KEYED = Conventions(idempotency_header="Idempotency-Key")


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
@both_colours
async def test_a_read_is_tried_again(colour, status) -> None:
    service = Service(httpx.Response(status), httpx.Response(status), a_page("ab"))
    async with colour.open(transport=service.transport) as client:
        page = await wait(objectives(client))
    assert page.response.attempts == 3
    assert len(await everything(page)) == 2
    assert len({str(request.url) for request in service.requests}) == 1


@pytest.mark.parametrize(
    "fault", [httpx.ReadError, httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.ConnectError]
)
@both_colours
async def test_a_read_is_tried_again_after_a_fault(colour, fault) -> None:
    service = Service(fault(""), a_page("ab"))
    async with colour.open(transport=service.transport) as client:
        page = await wait(objectives(client))
    assert page.response.attempts == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 501])
@both_colours
async def test_a_refused_read_is_not_tried_again(colour, status) -> None:
    service = Service(httpx.Response(status, json={"error": "no"}))
    async with colour.open(transport=service.transport) as client:
        with pytest.raises(APIError) as caught:
            await wait(objectives(client))
    assert (caught.value.attempts, caught.value.message) == (1, "no")


@pytest.mark.parametrize("fault", [lambda: httpx.ConnectError(""), lambda: httpx.Response(429)])
@both_colours
async def test_a_write_that_was_not_taken_is_tried_again(colour, fault) -> None:
    service = Service(fault(), a_draft())
    async with colour.open(transport=service.transport) as client:
        draft = await wait(pause(client))
    assert draft.response.attempts == 2


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
@both_colours
async def test_a_write_that_may_have_been_taken_is_not(colour, status) -> None:
    service = Service(httpx.Response(status))
    async with colour.open(transport=service.transport) as client:
        with pytest.raises(OutcomeUnknown, match="dashboard") as caught:
            await wait(pause(client))
    assert caught.value.status == status
    assert caught.value.outcome_unknown
    assert isinstance(caught.value, ServerError if status >= 500 else APIError)


@pytest.mark.parametrize("fault", [httpx.ReadError(""), httpx.RemoteProtocolError("")])
@both_colours
async def test_a_write_is_not_sent_twice(colour, fault) -> None:
    service = Service(fault)
    async with colour.open(transport=service.transport) as client:
        with pytest.raises(OutcomeUnknown) as caught:
            await wait(pause(client))
    assert isinstance(caught.value, ConnectionLost)
    assert len(service.requests) == 1


@pytest.mark.parametrize("fault", [lambda: httpx.ReadError(""), lambda: httpx.Response(503)])
@both_colours
async def test_a_write_with_a_key_is_tried_again_unchanged(colour, fault) -> None:
    service = Service(fault(), a_draft(), a_draft())
    async with colour.open(transport=service.transport, conventions=KEYED) as client:
        draft = await wait(pause(client))
        await wait(pause(client))
    keys = [request.headers["idempotency-key"] for request in service.requests]
    assert keys[0] == keys[1] != keys[2]
    assert service.requests[0].content == service.requests[1].content
    assert draft.response.attempts == 2


@both_colours
async def test_a_read_has_no_key(colour) -> None:
    service = Service(a_page("a"))
    async with colour.open(transport=service.transport, conventions=KEYED) as client:
        await wait(objectives(client))
    assert "idempotency-key" not in service.requests[0].headers


@both_colours
async def test_no_retries_is_one_request(colour) -> None:
    service = Service(httpx.ConnectError("refused"), httpx.ConnectError("refused"))
    async with colour.open(transport=service.transport, max_retries=0) as client:
        for call in (pause, objectives):
            with pytest.raises(ConnectionFailed, match="Nothing was sent") as caught:
                await wait(call(client))
            assert caught.value.attempts == 1
            assert not caught.value.outcome_unknown


@both_colours
async def test_a_retry_after_that_does_not_fit_is_told_at_once(colour) -> None:
    service = Service(httpx.Response(429, headers={"retry-after": "900"}))
    async with colour.open(transport=service.transport) as client:
        with pytest.raises(RateLimited, match="900") as caught:
            await wait(objectives(client))
    assert (caught.value.retry_after, caught.value.attempts) == (900.0, 1)


@both_colours
async def test_no_error_of_the_http_library_escapes(colour) -> None:
    service = Service(*(cls("") for cls in HTTP_ERRORS))
    options = {"transport": service.transport, "retry": RetryPolicy(max_retries=0)}
    async with colour.open(**options) as client:
        for _ in HTTP_ERRORS:
            with pytest.raises(adclient.TransportError):
                await wait(objectives(client))


HTTP_ERRORS = [
    httpx.ConnectError,
    httpx.ReadError,
    httpx.WriteError,
    httpx.CloseError,
    httpx.ConnectTimeout,
    httpx.ReadTimeout,
    httpx.WriteTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
    httpx.RemoteProtocolError,
    httpx.DecodingError,
    httpx.TooManyRedirects,
    httpx.InvalidURL,
    httpx.StreamError,
    ssl.SSLError,
    OSError,
    ConnectionResetError,
    TimeoutError,
]


# One client for many threads.


def test_threads_share_a_client() -> None:
    seen, lock = [], threading.Lock()

    def handler(request: httpx.Request) -> httpx.Response:
        with lock:
            seen.append(request.headers["x-thread"])
        return httpx.Response(
            201, json={**DRAFT, "draft_id": f"draft_{request.headers['x-thread']}"}
        )

    wrong = []

    def work(client: AdClient, name: str) -> None:
        own = client.with_options(headers={"x-thread": name})
        wrong.extend(draft for _ in range(20) if (draft := pause(own)).draft_id != f"draft_{name}")

    with AdClient(BASE_URL, transport=httpx.MockTransport(handler), retry=AT_ONCE) as client:
        threads = [threading.Thread(target=work, args=(client, str(n))) for n in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []
    assert len(seen) == 200


@both_colours
async def test_a_client_shows_itself_in_a_notebook(colour) -> None:
    async with colour.open(token="t0ken", timeout=7) as client:
        html = client._repr_html_()
        for part in (type(client).__name__, BASE_URL, "token", "7 s"):
            assert part in html
        assert "t0ken" not in html
        assert "closed" not in html
    assert ">closed</span>" in client._repr_html_()
