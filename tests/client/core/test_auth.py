"""Credentials: where they come from, which are refused, and that none is shown."""

import pytest
from cases import each_case
from core_helpers import BASE_URL

from adclient._core.auth import Credentials, bearer, checked_auth, no_credentials
from adclient._core.request import Request
from adclient._values.redact import Redactor

REQUEST = Request(method="GET", url=BASE_URL, headers={"accept": "*/*"})


def get_credentials():
    return "canary"


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch):
    monkeypatch.delenv("ADCLIENT_TOKEN", raising=False)


@each_case(
    ("variable", "given", "kept", "kind"),
    ("", (None, None), (None, None), "none"),
    (" ", (None, None), (None, None), "none"),
    (" canary ", (None, None), ("canary", None), "token"),
    ("canary", ("mine", None), ("mine", None), "token"),
    ("canary", (get_credentials, None), (get_credentials, None), "token"),
    ("canary", (None, get_credentials), (None, get_credentials), "auth"),
    ("canary", (None, no_credentials), (None, None), "none"),
)
def test_token_of_the_environment_is_used_if_alone(variable, given, kept, kind, monkeypatch):
    monkeypatch.setenv("ADCLIENT_TOKEN", variable)
    credentials = Credentials(*given).resolved()
    assert (credentials.token, credentials.auth) == kept
    assert credentials.kind == kind
    assert "canary" not in repr(credentials)
    assert no_credentials(REQUEST) == {}


def test_headers_of_token_and_auth_are_added_to_the_request():
    signed = bearer("canary").apply(REQUEST)
    assert signed.headers == {"accept": "*/*", "authorization": "Bearer canary"}
    assert REQUEST.headers == {"accept": "*/*"}
    values = (signed, bearer("canary"), checked_auth({"x-key": "canary"}), Redactor(("canary",)))
    assert "canary" not in repr(values)
    signed = checked_auth({"Authorization": "Basic eDp5", "X-Date": "today"}).apply(REQUEST)
    assert signed.headers == {"accept": "*/*", "authorization": "Basic eDp5", "x-date": "today"}


@each_case(
    ("headers", "text", "shown"),
    # A word behind no scheme is no secret; neither is a short password.
    ({"x-client-name": "acme campaign"}, "campaign_not_found", "campaign_not_found"),
    ({"authorization": "Basic dTp0ZXN0"}, "test: u:test", "test: ***"),
    # An API key may be the user of Basic.
    ({"authorization": "Basic c2tfbGl2ZV9BQkM6"}, "bad sk_live_ABC", "bad ***"),
    ({"x-auth": "Token abcdef"}, "bad abcdef", "bad ***"),
    ({"x-auth": "abc"}, "bad abc", "bad abc"),
)
def test_secret_of_a_header_is_redacted_and_words_are_not(headers, text, shown):
    assert checked_auth(headers).redactor.redact(text) == shown
