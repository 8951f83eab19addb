"""Which credentials a client has; when a token is kept, refreshed, forgotten; and a 401."""

import copy
import pickle
import traceback
from datetime import UTC, datetime, timedelta, timezone

import attrs
import pytest
from cases import each_case
from core_helpers import NO_SLOT, READ, WRITE, drive, reply

from adclient import Token
from adclient._core.auth import (
    EARLY_PAUSE,
    PAUSE,
    Credentials,
    TokenCache,
    checked_auth,
    no_credentials,
)
from adclient.errors import CallTimeout, ConfigurationError, Unauthenticated

NOW = 1_800_000_000.0
REFUSED = reply(401)
SERVER_ERROR = reply(503)


@each_case(
    ("given", "seconds"),
    *[(None, None), (NOW, NOW), (int(NOW), NOW), (datetime(2027, 1, 15, 8, tzinfo=UTC), NOW)],
    (datetime(2027, 1, 15, 9, tzinfo=timezone(timedelta(hours=1))), NOW),
)
def test_time_of_a_token_is_kept_in_seconds(given, seconds):
    assert Token("canary", expires_at=given).expires_at == seconds


@each_case(
    "given",
    *[datetime(2027, 1, 15, 8), 3600, 0, -NOW, NOW * 1000, float("nan"), float("inf")],
    *[10**400, "2027-01-15T08:00:00Z", True, timedelta(hours=1)],
)
def test_naive_time_duration_or_milliseconds_are_refused(given):
    with pytest.raises(ConfigurationError, match="aware datetime, or seconds since") as caught:
        Token("canary", expires_at=given)
    assert caught.value.argument == "expires_at"


@each_case("value", "", "canary\n", "Bearer canary", None, b"canary")
def test_invalid_value_of_a_token_is_refused_and_not_shown(value):
    with pytest.raises(ConfigurationError) as caught:
        Token(value)
    assert caught.value.argument == "token"
    assert "canary" not in str(caught.value)
    # The first frame is that of this test.
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)][1:]
    assert "canary" not in repr([frame.f_locals for frame in frames])


def test_token_is_a_record_whose_repr_hides_the_value():
    token = Token("canary", expires_at=NOW)
    assert repr(Token("canary")) == "Token(***)"
    assert repr(token) == "Token(***, expires_at=2027-01-15 08:00:00+00:00)"
    assert not attrs.fields(Token).value.repr  # which rich reads
    for twin in (copy.copy(token), pickle.loads(pickle.dumps(token)), attrs.evolve(token)):
        assert (twin, twin.value) == (token, "canary")
    assert attrs.evolve(token, value="other") != token
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        token.value = "other"


def a_cache(lifetime=3600.0):
    """A cache with a token that was fetched at NOW, and its headers."""
    cache = TokenCache()
    end = None if lifetime is None else NOW + lifetime
    return cache, cache.keep(Token("canary", expires_at=end), NOW)


@each_case(("lifetime", "due_after"), (3600.0, 3540.0), (599.0, 539.1), (10.0, 9.0))
def test_token_is_due_in_the_last_tenth_of_its_life_or_minute(lifetime, due_after):
    cache, auth = a_cache(lifetime)
    for after, is_due in ((0, False), (due_after - 0.001, False), (due_after + 0.001, True)):
        assert cache.get(NOW + after) is auth
        assert cache.is_due(NOW + after) is is_due
    assert cache.get(NOW + lifetime) is None


def test_failure_is_raised_for_a_moment_and_not_before_it_happened():
    cache = TokenCache()
    cache.fail(OSError("no network"), NOW)
    with pytest.raises(OSError, match="no network"):
        cache.get(NOW + PAUSE - 0.001)
    assert cache.get(NOW - 1) is cache.get(NOW + PAUSE) is None  # or the clock was set back


def test_token_that_replaced_a_refused_one_is_not_forgotten_soon():
    cache, auth = a_cache()
    cache.refuse(auth, NOW)
    for _ in range(2):
        auth = cache.keep(Token("canary"), NOW)
        for soon in (0, EARLY_PAUSE - 0.001):
            cache.refuse(auth, NOW + soon)
        assert cache.get(NOW) is auth
        cache.refuse(auth, NOW + EARLY_PAUSE)
        assert cache.get(NOW) is None
    renewed = cache.keep(Token("canary"), NOW)
    cache.refuse(renewed, NOW - 1)  # the clock was set back
    assert cache.get(NOW) is None


def test_text_is_not_kept():
    cache, _ = a_cache()
    assert not cache.is_plain
    assert cache.keep("text", NOW).headers == {"authorization": "Bearer text"}
    assert cache.is_plain
    cache.begin_refresh(NOW)  # by a caller that saw the token before
    assert not cache.is_due(NOW)
    assert cache.get(NOW) is None
    cache.keep(Token("canary"), NOW)
    assert not cache.is_plain


# After a 401. `drive` gives each attempt the next one of `tokens`.


@each_case(
    ("outcomes", "tokens"),
    ([REFUSED, SERVER_ERROR, SERVER_ERROR, SERVER_ERROR], "abbb"),
    ([SERVER_ERROR, REFUSED, SERVER_ERROR, SERVER_ERROR], "aabb"),
)
def test_request_with_another_token_is_an_attempt_and_no_retry(outcomes, tokens):
    run = drive(READ, *outcomes, tokens=tokens, random=1.0)
    assert (run.error.status, run.error.attempts) == (503, 4)
    assert run.sleeps == [0.5, 1.0]


def test_401_explains_more_than_a_lack_of_time():
    assert type(drive(WRITE, REFUSED, NO_SLOT, tokens="ab").error) is Unauthenticated
    assert type(drive(WRITE, NO_SLOT, tokens="ab").error) is CallTimeout


# Credentials.


def get_credentials():
    return "canary"


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
    assert no_credentials(None) == {}


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
