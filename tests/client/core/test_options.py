from decimal import Decimal

import pytest
from cases import each_case
from core_helpers import BASE_URL, assert_one_line

from adclient.conventions import Conventions
from adclient.errors import ConfigurationError
from adclient.options import (
    Options,
    RetryPolicy,
    check_base_url,
    check_headers,
    check_max_concurrency,
    check_timeout,
    check_token,
    from_environment,
    resolve,
)


def resolved(**arguments):
    names = ("base_url", "timeout", "max_retries", "retry", "headers", "hooks", "conventions")
    return resolve(**{**dict.fromkeys(names), "base_url": BASE_URL, **arguments})


def refused(named, check, *arguments, **keywords):
    """The text of the error that names an argument."""
    with pytest.raises(ConfigurationError) as caught:
        check(*arguments, **keywords)
    assert caught.value.argument == named
    assert_one_line(str(caught.value))
    return str(caught.value)


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch):
    monkeypatch.delenv("ADCLIENT_BASE_URL", raising=False)
    monkeypatch.delenv("ADCLIENT_TOKEN", raising=False)


class TestDefaults:
    def test_defaults_are_the_documented_ones(self):
        options = resolved()
        assert options == Options(base_url=BASE_URL)
        assert options.timeout == 30.0
        assert options.retry == RetryPolicy()
        assert options.retry.max_retries == 2
        assert options.retry.backoff_first == 0.5
        assert options.retry.backoff_longest == 8.0
        assert options.retry.statuses == {408, 429, 500, 502, 503, 504}
        assert options.headers == {}
        assert options.conventions == Conventions()
        assert check_max_concurrency(None) == 100

    def test_argument_wins_over_environment(self, monkeypatch):
        monkeypatch.setenv("ADCLIENT_BASE_URL", " https://env.example.com/ ")
        assert resolved(base_url=None).base_url == "https://env.example.com"
        assert resolved().base_url == BASE_URL

    @pytest.mark.parametrize("blank", ["", "  ", "\n"])
    def test_blank_variable_counts_as_not_set(self, monkeypatch, blank):
        monkeypatch.setenv("ADCLIENT_BASE_URL", blank)
        assert from_environment("ADCLIENT_BASE_URL") is None
        assert "ADCLIENT_BASE_URL" in refused("base_url", resolved, base_url=None)


class TestBaseURL:
    @each_case(
        ("url", "kept"),
        [
            ("https://ads.example.com", "https://ads.example.com"),
            ("https://ads.example.com/", "https://ads.example.com"),
            ("https://ads.example.com/api/", "https://ads.example.com/api"),
            ("http://localhost:8080/a/b//", "http://localhost:8080/a/b"),
            ("http://127.0.0.1", "http://127.0.0.1"),
            ("http://[::1]:8080", "http://[::1]:8080"),
            ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
            ("https://ads.example.com/a%20b/...", "https://ads.example.com/a%20b/..."),
        ],
    )
    def test_base_url_keeps_its_path_without_a_trailing_slash(self, url, kept):
        assert check_base_url(url) == kept

    @each_case(
        "url",
        [
            *["", " ", "/v1", "ads.example.com", "//ads.example.com", None, 7, b"https://h"],
            *["ftp://ads.example.com", "file:///etc/hosts", "https://", "https:///v1"],
            *["https://:443", "https://[::1", "https://bücher.example"],
            *[f"https://ads.example.com:{port}" for port in ("0", "99999", "x")],
            *[f"https://{user}@ads.example.com" for user in ("", "canary", "user:canary")],
            *[f"https://ads.example.com{end}" for end in ("?", "?token=canary", "#canary", "/#")],
            *[f"https://ads.example.com{end}" for end in (" /", "\n", "/a\tb", "/a\x00b", "/ä")],
            *[f"https://ads.example.com{end}" for end in ("\\@evil.example", "\\.x", "/a\\b")],
            *[f"https://ads.example.com{end}" for end in ("/../x", "/./x", "/x/..")],
            *["https://ads.example.com/v1", "https://ads.example.com/api/v1/"],
            " https://ads.example.com",
        ],
    )
    def test_invalid_base_url_is_refused(self, url):
        text = refused("base_url", check_base_url, url)
        assert "canary" not in text
        assert text.startswith("base_url ")
        assert "https://ads.example.com" in text


class TestNumbers:
    @each_case(
        "value",
        [0, 0.0, -1, float("nan"), float("inf"), 10**400, True, "30", None, [30], Decimal(30)],
    )
    def test_invalid_timeout_is_refused(self, value):
        text = refused("timeout", check_timeout, value)
        refused("attempt_timeout", lambda: RetryPolicy(attempt_timeout=value or 0))
        assert text == "timeout must be a finite number of seconds above 0"

    @each_case("value", [-1, 1.0, 2.5, True, "2", float("inf")])
    def test_invalid_count_of_retries_is_refused(self, value):
        refused("max_retries", RetryPolicy, max_retries=value)
        refused("max_retries", resolved, max_retries=value)
        refused("quota", RetryPolicy, quota=value)

    @each_case("name", ["backoff_first", "backoff_longest"])
    @each_case("value", [-0.1, float("nan"), float("inf"), 10**400, "1", None, True])
    def test_invalid_backoff_is_refused(self, name, value):
        refused(name, RetryPolicy, **{name: value})

    def test_policy_accepts_valid_numbers(self):
        policy = RetryPolicy(max_retries=0, backoff_first=0, backoff_longest=0, statuses=[503])
        assert policy.statuses == frozenset({503})
        assert hash(policy) == hash(
            RetryPolicy(max_retries=0, backoff_first=0, backoff_longest=0, statuses={503})
        )

    @pytest.mark.parametrize("statuses", ["429", 429, None, ["429"]])
    def test_invalid_statuses_are_refused(self, statuses):
        refused("statuses", RetryPolicy, statuses=statuses)

    @each_case("value", [0, -1, 1.5, True, "5", float("inf")])
    def test_invalid_concurrency_is_refused(self, value):
        refused("max_concurrency", check_max_concurrency, value)


class TestHeaders:
    def test_header_names_are_lowered(self):
        assert check_headers({"X-Team": "t 1", "ACCEPT": "*/*"}) == {
            "x-team": "t 1",
            "accept": "*/*",
        }
        assert check_headers({}) == {}

    @each_case("name", ["", "a b", "a:b", "a\n", "é", "a\x00", 7, None, b"a", "(a)"])
    def test_invalid_header_name_is_refused(self, name):
        assert "canary" not in refused("headers", check_headers, {name: "canary"})

    @each_case(
        "value",
        [
            *["canary\n", "can\rary", "canary\r\nx-b: c", "canary\x7f", "canaré\x00", "é-canary"],
            *["", " canary", "canary ", "\tcanary", 7, None, b"canary", ["canary"]],
        ],
    )
    def test_invalid_header_value_is_refused_and_not_shown(self, value):
        text = refused("headers", check_headers, {"X-Key": value})
        assert "x-key" in text
        assert "canar" not in text

    @each_case(
        "name",
        [
            *["Authorization", "Host", "Content-Length", "content-type", "Accept-Encoding"],
            *["Cookie", "Connection", "Transfer-Encoding"],
        ],
    )
    def test_header_set_by_the_client_is_refused(self, name):
        text = refused("headers", check_headers, {name: "canary"})
        assert name.lower() in text
        assert "canary" not in text

    def test_authorization_is_allowed_from_auth_only(self):
        made = check_headers({"Authorization": "Basic eDp5"}, argument="auth")
        assert made == {"authorization": "Basic eDp5"}
        refused("auth", check_headers, {"Host": "x"}, argument="auth")

    @pytest.mark.parametrize("headers", ["a: b", [("a", "b")], 7, {"a"}])
    def test_headers_other_than_a_mapping_are_refused(self, headers):
        refused("headers", check_headers, headers)
        refused("headers", resolved, headers=headers)


class TestToken:
    @pytest.mark.parametrize("token", ["t", "abc.DEF-123_~+/=", "!" * 5000])
    def test_visible_ascii_token_is_accepted(self, token):
        assert check_token(token) == token

    @each_case(
        "token",
        ["", " ", "canary\n", "can ary", "canary\t", "canaryé", "canary\x00", 7, None, b"canary"],
    )
    def test_invalid_token_is_refused_and_not_shown(self, token):
        assert "canary" not in refused("token", check_token, token)


class TestMerging:
    def test_max_retries_overrides_the_policy(self):
        policy = RetryPolicy(max_retries=7, backoff_first=1.0)
        merged = resolved(retry=policy, max_retries=0)
        assert merged.retry == RetryPolicy(max_retries=0, backoff_first=1.0)
        assert resolved().merged(retry=policy, max_retries=3).retry.max_retries == 3
        assert resolved(retry=policy).merged(max_retries=3).retry.backoff_first == 1.0

    @each_case(
        ("argument", "value"),
        [
            *[("timeout", 0), ("max_retries", -1), ("retry", "fast"), ("retry", RetryPolicy)],
            ("headers", {"host": "x"}),
        ],
    )
    def test_merged_values_are_checked(self, argument, value):
        refused(argument, resolved, **{argument: value})
        refused(argument, resolved().merged, **{argument: value})
