"""The options and conventions of a client: defaults, environment, what is refused by name."""

import pytest
from cases import each_case
from core_helpers import ARRAY, BASE_URL, assert_one_line

import adclient.options
from adclient.conventions import Conventions
from adclient.errors import ConfigurationError
from adclient.options import Options, RetryPolicy, check_headers, check_token, resolve

NAN, INF = float("nan"), float("inf")


def resolved(**arguments):
    names = ("base_url", "timeout", "max_retries", "retry", "headers", "hooks", "conventions")
    return resolve(**{**dict.fromkeys(names), "base_url": BASE_URL, **arguments})


def refused(named, check, *arguments, **keywords):
    """The text of the error that names an argument."""
    with pytest.raises(ConfigurationError) as caught:
        check(*arguments, **keywords)
    assert caught.value.argument == named
    assert isinstance(caught.value, ValueError)
    assert_one_line(str(caught.value))
    return str(caught.value)


def test_defaults_are_the_documented_ones():
    options, retry = resolved(), RetryPolicy()
    assert options == Options(base_url=BASE_URL)
    assert (options.timeout, options.headers) == (30.0, {})
    assert (options.retry, options.conventions) == (retry, Conventions())
    assert (retry.max_retries, retry.backoff_first, retry.backoff_longest) == (2, 0.5, 8.0)
    assert retry.statuses == {408, 429, *range(500, 600)} - {501, 505}
    assert "statuses=RETRY_STATUSES" in repr(retry)
    assert adclient.options.MAX_CONCURRENCY == 100


def test_argument_wins_over_environment(monkeypatch):
    monkeypatch.setenv("ADCLIENT_BASE_URL", " https://env.example.com/ ")
    assert resolved(base_url=None).base_url == "https://env.example.com"
    assert resolved().base_url == BASE_URL
    for blank in ("", "  ", "\n"):  # which counts as not set
        monkeypatch.setenv("ADCLIENT_BASE_URL", blank)
        assert adclient.options.from_environment("ADCLIENT_BASE_URL") is None
        assert "ADCLIENT_BASE_URL" in refused("base_url", resolved, base_url=None)


# Numbers.


@each_case("value", 0, 0.0, -1, NAN, INF, 10**400, True, "30", None, [30])
def test_invalid_timeout_is_refused(value):
    text = refused("timeout", adclient.options.check_timeout, value)
    refused("attempt_timeout", lambda: RetryPolicy(attempt_timeout=value or 0))
    for name in ("backoff_first", "backoff_longest"):
        refused(name, RetryPolicy, **{name: value or -1})
    assert text == "timeout must be a finite number of seconds above 0"


def test_statuses_of_a_policy_are_a_set_of_whole_numbers():
    policy = RetryPolicy(max_retries=0, backoff_first=0, backoff_longest=0, statuses=[503])
    assert policy.statuses == frozenset({503})
    same = RetryPolicy(max_retries=0, backoff_first=0, backoff_longest=0, statuses={503})
    assert hash(policy) == hash(same)
    for statuses in ("429", 429, None, ["429"], [True], ARRAY):
        refused("statuses", RetryPolicy, statuses=statuses)


# Headers and tokens.


def test_authorization_is_allowed_from_auth_only_and_a_token_is_visible_ascii():
    made = check_headers({"Authorization": "Basic eDp5"}, argument="auth")
    assert made == {"authorization": "Basic eDp5"}
    refused("auth", check_headers, {"Host": "x"}, argument="auth")
    assert "x-key must be" in refused("headers", check_headers, {"X-Key": "a\n"})
    assert check_token("abc.DEF-123_~+/=!" * 300).endswith("=!")


# Conventions.


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
def test_invalid_value_is_refused_by_name(name, values):
    for value in values:
        with pytest.raises(ConfigurationError) as caught:
            Conventions(**{name: value})
        assert caught.value.argument == name
        assert name in str(caught.value)
        assert isinstance(caught.value, ValueError)
