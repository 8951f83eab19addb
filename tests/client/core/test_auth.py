import pytest
from cases import each_case
from core_helpers import BASE_URL

from adclient._core.auth import Credentials, bearer, checked_auth, no_credentials
from adclient._core.request import Request
from adclient.errors import ConfigurationError

REQUEST = Request(method="GET", url=BASE_URL, headers={"accept": "*/*"})


def get_credentials():
    return "canary"


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch):
    monkeypatch.delenv("ADCLIENT_TOKEN", raising=False)


def test_no_credentials_without_token_auth_or_environment():
    assert Credentials(None, None).resolved() == Credentials()
    assert Credentials(None, None).resolved().kind == "none"


def test_token_of_the_environment_is_used_if_no_other_is_set(monkeypatch):
    monkeypatch.setenv("ADCLIENT_TOKEN", " canary ")
    assert Credentials(None, None).resolved().token == "canary"
    assert Credentials("mine", None).resolved().token == "mine"
    assert Credentials(None, get_credentials).resolved() == Credentials(None, get_credentials)
    monkeypatch.setenv("ADCLIENT_TOKEN", " ")
    assert Credentials(None, None).resolved().token is None


def test_credentials_have_a_kind_and_a_repr_without_the_token():
    assert (
        Credentials("t").resolved().kind == Credentials(get_credentials).resolved().kind == "token"
    )
    assert Credentials(None, get_credentials).resolved().kind == "auth"
    assert "canary" not in repr(Credentials("canary"))


@each_case(
    ("token", "auth", "argument"),
    [
        ("t", get_credentials, "auth"),
        ("", None, "token"),
        ("canary\n", None, "token"),
        (7, None, "token"),
        (None, "Basic canary", "auth"),
        (None, {"authorization": "canary"}, "auth"),
    ],
)
def test_invalid_credentials_are_refused_and_not_shown(token, auth, argument):
    with pytest.raises(ConfigurationError) as caught:
        Credentials(token, auth).resolved()
    assert caught.value.argument == argument
    assert "canary" not in str(caught.value)


def test_invalid_token_in_the_environment_is_refused_and_not_shown(monkeypatch):
    monkeypatch.setenv("ADCLIENT_TOKEN", "can ary")
    with pytest.raises(ConfigurationError) as caught:
        Credentials(None, None).resolved()
    assert "ary" not in str(caught.value)


def test_no_credentials_rule_out_the_token_of_the_environment(monkeypatch):
    monkeypatch.setenv("ADCLIENT_TOKEN", "canary")
    assert Credentials(None, no_credentials).resolved() == Credentials()
    assert no_credentials(REQUEST) == {}


def test_token_becomes_a_bearer_header():
    signed = bearer("canary").apply(REQUEST)
    assert signed.headers == {"accept": "*/*", "authorization": "Bearer canary"}
    assert REQUEST.headers == {"accept": "*/*"}
    assert "canary" not in repr(signed)


@pytest.mark.parametrize("token", ["", "canary\n", None, 7])
def test_token_function_with_an_invalid_result_is_refused(token):
    with pytest.raises(ConfigurationError) as caught:
        bearer(token).apply(REQUEST)
    assert "canary" not in str(caught.value)


def test_headers_from_auth_are_added_to_the_request():
    signed = checked_auth({"Authorization": "Basic eDp5", "X-Date": "today"}).apply(REQUEST)
    assert signed.headers == {"accept": "*/*", "authorization": "Basic eDp5", "x-date": "today"}


@pytest.mark.parametrize("headers", [None, "canary", {"host": "canary"}, {"x-key": "can\nary"}])
def test_auth_function_with_an_invalid_result_is_refused(headers):
    with pytest.raises(ConfigurationError) as caught:
        checked_auth(headers).apply(REQUEST)
    assert caught.value.argument == "auth"
    assert "ary" not in str(caught.value)


@each_case(
    ("headers", "text", "shown"),
    [
        # A word behind no scheme is no secret; neither is a short password.
        ({"x-client-name": "acme campaign"}, "campaign_not_found", "campaign_not_found"),
        ({"authorization": "Basic dTp0ZXN0"}, "test: u:test", "test: ***"),
        # An API key may be the user of Basic.
        ({"authorization": "Basic c2tfbGl2ZV9BQkM6"}, "bad sk_live_ABC", "bad ***"),
        ({"x-auth": "Token abcdef"}, "bad abcdef", "bad ***"),
    ],
)
def test_secret_of_a_header_is_redacted_and_words_are_not(headers, text, shown):
    assert checked_auth(headers).redactor.redact(text) == shown
