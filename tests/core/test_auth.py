import pytest
from cases import each_case
from core_helpers import BASE_URL

from adclient._core.auth import Credentials, bearer, checked_auth
from adclient._core.request import Request
from adclient.errors import ConfigurationError

REQUEST = Request(method="GET", url=BASE_URL, headers={"accept": "*/*"})


def ask():
    return "canary"


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch):
    monkeypatch.delenv("ADCLIENT_TOKEN", raising=False)


def test_without_any_none_are_sent():
    assert Credentials(None, None).resolved() == Credentials()
    assert Credentials(None, None).resolved().kind == "none"


def test_the_environment_s_token(monkeypatch):
    monkeypatch.setenv("ADCLIENT_TOKEN", " canary ")
    assert Credentials(None, None).resolved().token == "canary"
    assert Credentials("mine", None).resolved().token == "mine"
    assert Credentials(None, ask).resolved() == Credentials(None, ask)
    monkeypatch.setenv("ADCLIENT_TOKEN", " ")
    assert Credentials(None, None).resolved().token is None


@pytest.mark.parametrize(
    ("token", "auth", "kind"), [("t", None, "token"), (ask, None, "token"), (None, ask, "auth")]
)
def test_what_a_repr_may_tell(token, auth, kind):
    assert Credentials(token, auth).resolved().kind == kind


def test_they_are_never_shown():
    assert "canary" not in repr(Credentials("canary"))


@each_case(
    ("token", "auth", "argument"),
    [
        ("t", ask, "auth"),
        ("", None, "token"),
        ("canary\n", None, "token"),
        (7, None, "token"),
        (None, "Basic canary", "auth"),
        (None, {"authorization": "canary"}, "auth"),
    ],
)
def test_what_cannot_be_used(token, auth, argument):
    with pytest.raises(ConfigurationError) as caught:
        Credentials(token, auth).resolved()
    assert caught.value.argument == argument
    assert "canary" not in str(caught.value)


def test_a_bad_token_in_the_environment(monkeypatch):
    monkeypatch.setenv("ADCLIENT_TOKEN", "can ary")
    with pytest.raises(ConfigurationError) as caught:
        Credentials(None, None).resolved()
    assert "ary" not in str(caught.value)


def test_a_request_with_a_token():
    signed = bearer("canary").apply(REQUEST)
    assert signed.headers == {"accept": "*/*", "authorization": "Bearer canary"}
    assert REQUEST.headers == {"accept": "*/*"}
    assert "canary" not in repr(signed)


@pytest.mark.parametrize("token", ["", "canary\n", None, 7])
def test_a_function_that_returns_no_token(token):
    with pytest.raises(ConfigurationError) as caught:
        bearer(token).apply(REQUEST)
    assert "canary" not in str(caught.value)


def test_a_request_with_headers_of_its_own_scheme():
    signed = checked_auth({"Authorization": "Basic eDp5", "X-Date": "today"}).apply(REQUEST)
    assert signed.headers == {"accept": "*/*", "authorization": "Basic eDp5", "x-date": "today"}


@pytest.mark.parametrize("headers", [None, "canary", {"host": "canary"}, {"x-key": "can\nary"}])
def test_a_function_that_returns_no_headers(headers):
    with pytest.raises(ConfigurationError) as caught:
        checked_auth(headers).apply(REQUEST)
    assert caught.value.argument == "auth"
    assert "ary" not in str(caught.value)
