"""The settings of a new or copied client, and those that it refuses."""

import sys

import attrs
import clients
import httpx
import pytest
from cases import each_case
from clients import BASE_URL, SECRET, SYNC, Service, a_draft, sync_and_async, wait, write
from core_helpers import ARRAY, assert_one_line

from adclient import ConfigurationError, Conventions, Hooks, RetryPolicy, _telemetry
from adclient.extend import Options, parts_of
from adclient.ledger import SQLiteLedger
from adclient.options import MAX_CONCURRENCY
from adclient.policy import Policy

OWN = ["Authorization", "Host", "Content-Length", "content-type", "Accept-Encoding", "Cookie"]
OWN += ["Connection", "Transfer-Encoding"]
NO_NAMES = ["", "a b", "a:b", "a\n", "é", "a\x00", 7, None, b"a", "(a)"]
NO_TEXTS = [7, b"hunter2", f"{SECRET}\n", f"é{SECRET}", f"{SECRET}\x00", "hunter2\r-s3cret", ""]
NO_SECONDS = [0, 0.0, -1, float("nan"), float("inf"), 10**400, True, "30", [30]]
# Without a default, with a wrong scheme, host or port, and what follows the address of a service.
NO_URLS = ["", " ", "/v1", "ads.example.com", "//ads.example.com", None, 7, b"https://h"]
NO_URLS += ["https://", "ftp://ads.example.com", "file:///etc/hosts", "https:///v1", "https://:443"]
NO_URLS += ["https://[::1", "https://bücher.example", " https://ads.example.com"]
NO_URLS += ["https://ads..example.com", "https://1.2.3.999", f"https://{'a' * 64}.example.com"]
ENDS = [":0", ":99999", ":x", "?", f"?token={SECRET}", f"#{SECRET}", "/#", "/" + "a" * 70_000, " /"]
ENDS += ["\n", "/a\tb", "/a\x00b", "/ä", "\\@evil.example", "\\.x", "/a\\b", "/../x", "/./x"]
ENDS += ["/x/..", "/v1", "/api/v1/"]
BAD = {
    "base_url": [
        *[*NO_URLS, *(f"https://ads.example.com{end}" for end in ENDS)],
        *[f"https://{user}@ads.example.com" for user in ("", SECRET, f"user:{SECRET}")],
    ],
    "token": [*NO_TEXTS, f"{SECRET} x", f"{SECRET}\t", f"Bearer {SECRET}", " "],
    "hooks": [print, [Hooks()]],
    "auth": [SECRET, {"authorization": SECRET}],
    "headers": [
        *[[("x-team", SECRET)], {"x-team": f"{SECRET}\r\nx-other: 1"}],
        *[{name: SECRET} for name in (*NO_NAMES, *OWN)],
        *[{"x-team": text} for text in (*NO_TEXTS, None, [SECRET], f" {SECRET}", f"\t{SECRET}")],
    ],
    "timeout": [*NO_SECONDS, (1, 2)],
    "max_retries": [-1],
    "max_concurrency": [0],
    "retry": [3, {"max_retries": 3}, RetryPolicy],
    "conventions": [{}, "query", Conventions, Conventions(reads={"gamma.ads": {}})],
    "proxy": [
        *["", 7, "proxy.example.com:3128", f"ftp://{SECRET}@proxy.example.com"],
        *[f"http://{SECRET}@{host}" for host in ("[::1", "", "proxy.example.com:99999")],
    ],
    "verify": [None, 7, {"ca": "x"}],
    "actor": ["", " kim", "\u200bkim", "k" * 61, 7],
}


def assert_names_the_argument(error: ConfigurationError, argument: str) -> None:
    assert error.argument == argument
    assert argument in str(error)
    assert isinstance(error, ValueError)
    assert SECRET[:7] not in f"{error!s} {error!r} {vars(error)}"
    assert error.__context__ is None or error.__suppress_context__
    assert_one_line(str(error))


@clients.each_client_class
@each_case(("argument", "value"), *((name, value) for name, bad in BAD.items() for value in bad))
def test_invalid_option_is_refused(client_class, argument, value) -> None:
    with pytest.raises(ConfigurationError) as caught:
        client_class(**{"base_url": BASE_URL, argument: value})
    assert_names_the_argument(caught.value, argument)
    assert argument != "timeout" or "must be a finite number of seconds" in str(caught.value)


@clients.each_client_class
def test_defaults_and_addresses_of_the_environment(client_class, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_BASE_URL", " https://env.example.com/ ")
    assert parts_of(client_class()).options.base_url == "https://env.example.com"
    options, retry = parts_of(client_class(BASE_URL)).options, RetryPolicy()
    assert options == Options(base_url=BASE_URL)
    assert (options.timeout, options.headers) == (30.0, {})
    assert (options.retry, options.conventions) == (retry, Conventions())
    assert (retry.max_retries, retry.backoff_first, retry.backoff_longest) == (2, 0.5, 8.0)
    assert retry.statuses == {408, 429, *range(500, 600)} - {501, 505}
    assert "statuses=RETRY_STATUSES" in repr(retry)
    assert MAX_CONCURRENCY == 100
    assert client_class(BASE_URL, token="abc.DEF-123_~+/=!" * 300)
    for blank in ("", "  ", "\n"):  # which counts as not set
        monkeypatch.setenv("ADCLIENT_BASE_URL", blank)
        with pytest.raises(ConfigurationError, match="ADCLIENT_BASE_URL") as caught:
            client_class()
        assert caught.value.argument == "base_url"


@each_case(
    ("name", "values"),
    *[(name, [*NO_SECONDS[2:], "1"]) for name in ("backoff_first", "backoff_longest")],
    ("attempt_timeout", NO_SECONDS),
    ("statuses", ["429", 429, None, ["429"], [True], ARRAY]),
)
def test_invalid_value_of_a_retry_policy_is_refused(name, values) -> None:
    for value in values:
        with pytest.raises(ConfigurationError) as caught:
            RetryPolicy(**{name: value})
        assert_names_the_argument(caught.value, name)


def test_retry_policy_of_no_retries_and_no_backoff_is_a_value() -> None:
    none = {"max_retries": 0, "backoff_first": 0, "backoff_longest": 0}
    policy = RetryPolicy(**none, statuses=[503])
    assert policy.statuses == frozenset({503})
    assert hash(policy) == hash(RetryPolicy(**none, statuses={503}))


@each_case(
    ("name", "values"),
    ("read_parameters", ["path", "", None, True, ["query"], "Query"]),
    ("rate_limit_scope", ["token", "", None, True, "Account", ["account"]]),
    ("object_style", ["form", "", None, {}]),
    ("cursor_parameter", ["", None, 7, b"cursor", "\ud800", "account_id", "account_id[]"]),
    ("follow_next_urls", ["yes", 1, 0, None]),
    ("continuation", ["cursor", {}, 7]),
    ("idempotency_header", ["", "a b", "a:b", "a\n", 7, "é", b"key"]),
    ("idempotency_header", ["Authorization", "Host", "Content-Length", "content-type"]),
    ("end_of_listing", ["", None, False, "none", ["null"]]),
    ("page_size", [{}, 200, "limit", ["limit", 2], {"limit": 2, "size": 2}, {7: 2}, {"": 2}]),
    ("page_size", [{"limit": size} for size in (0, -1, True, 2.0, "2", None)]),
    ("page_size", [{name: 2} for name in ("cursor", "account_id", "targeting[n]", "\ud800")]),
    ("reads", [None, "gamma.list_ads", {"gamma.list_ads": "page"}, {"gamma.list_ads": None}]),
    ("reads", [{"gamma.list_ads": {"reads": {}}}]),
    ("rate_limit_errors", ["17", 403, None, [200], [600], [True], [""], [None], [403.0]]),
    ("retry_after_headers", ["retry-after", ["a b"], [7], None]),
    ("request_id_headers", ["x-request-id", b"x", ["a b"], [7], [None], [""], None, 7]),
)
def test_invalid_convention_is_refused(name, values) -> None:
    for value in values:
        with pytest.raises(ConfigurationError) as caught:
            Conventions(**{name: value})
        assert_names_the_argument(caught.value, name)


TRANSPORT = httpx.MockTransport(print)


@each_case(
    "options",
    {"token": SECRET, "auth": lambda request: {}},
    {"transport": TRANSPORT, "proxy": "http://proxy.example.com"},
    {"transport": TRANSPORT, "verify": False},
    {"transport": TRANSPORT, "http_client": SYNC.http_client(transport=TRANSPORT)},
    {"proxy": "socks5://proxy.example.com"},
    {"headers": {"Idempotency-Key": SECRET}},  # one key for every write
    {"headers": {"X-Key": SECRET}, "conventions": Conventions(idempotency_header="x-key")},
)
@clients.each_client_class
def test_conflicting_or_unavailable_options_are_refused(client_class, options, monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError) as caught:
        client_class(BASE_URL, **options)
    assert caught.value.argument in options
    assert SECRET not in str(caught.value)
    assert ("with_options(headers=…)" in str(caught.value)) is ("headers" in options)
    assert ("transport or http_client" in str(caught.value)) or "http_client" not in options


def test_client_without_opentelemetry_has_no_tracer(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "adclient._telemetry.spans", None)  # it cannot be imported
    assert _telemetry._maker.__wrapped__() is None
    monkeypatch.setattr(_telemetry, "_maker", lambda: None)
    with SYNC.client("https://ads.example.com", transport=Service(a_draft()).transport) as client:
        assert client._engine.tracer is None
        assert write(client).draft_id == "draft_7c2e"


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
        retry = RetryPolicy(max_retries=4)  # the later and the more specific setting wins
        assert "max_retries 4" in repr(other.with_options(retry=retry))
        assert "max_retries 1" in repr(other.with_options(retry=retry, max_retries=1))
        await wait(write(other))
        await wait(write(client))
    names = ("x-team", "x-run", "user-agent", "authorization")
    sent = [[request.headers[name] for name in names] for request in service.requests]
    kept = ["1", "reporter/2", "Bearer t0ken"]
    assert sent == [["search", *kept], ["ads", *kept]]


@sync_and_async
async def test_with_options_adds_hooks(client_kind) -> None:
    called: list[str] = []
    first, second = (Hooks(on_draft=lambda _, who=who: called.append(who)) for who in "ab")
    service = Service(a_draft(), a_draft(), a_draft())
    async with client_kind.open(transport=service.transport, hooks=first) as client:
        await wait(write(client.with_options(hooks=second)))
        assert called == ["a", "b"]
        await wait(write(client.with_options(timeout=5)))
        assert called == ["a", "b", "a"]
        await wait(write(client))
        assert called == ["a", "b", "a", "a"]


@attrs.define
class TheirLedger:
    url: str
    reserve = end = lambda *_: None


POLICY, LEDGER = Policy(accounts=["a"]), SQLiteLedger("/tmp/d.db")


@each_case(
    ("settings", "credentials", "more"),
    ({"token": SECRET, "timeout": 2.5, "max_retries": 1}, "token", ""),
    ({"policy": POLICY}, "none", ", policy <Policy accounts [a]>"),
    ({"auth": print, "ledger": LEDGER}, "auth", ", ledger <SQLiteLedger /tmp/d.db>"),
    ({"ledger": TheirLedger(SECRET)}, "none", ", ledger TheirLedger"),
)
@sync_and_async
async def test_display_has_the_settings_but_not_the_credentials(
    client_kind, settings, credentials, more
) -> None:
    seconds, retries = settings.get("timeout", 30), settings.get("max_retries", 2)
    shown = f"credentials: {credentials}, timeout {seconds} s, max_retries {retries}{more}"
    async with client_kind.open(**{"retry": None, **settings}) as client:
        expected = f"<{type(client).__name__} {BASE_URL}, {shown}>"
        assert repr(client) == repr(client.with_options()) == expected
        assert BASE_URL in repr(client.gamma)
        html = client._repr_html_()
        guards = [{"policy": "accounts", "ledger": "Ledger"}.get(name, "") for name in settings]
        for part in (type(client).__name__, BASE_URL, credentials, f"{seconds} s", *guards):
            assert part in html
        assert SECRET not in html
        assert "closed" not in html
    assert ">closed</span>" in client._repr_html_()
