import functools

import pytest
from cases import each_case
from core_helpers import DRAFT, assert_one_line

from adclient.errors import ConfigurationError
from adclient.hooks import DraftEvent, Hooks, RequestEvent, ResponseEvent, RetryEvent
from adclient.models import Diff, Draft

NAMES = ["on_request", "on_response", "on_retry", "on_draft"]
CALL = {"call_id": 7, "operation": "beta.pause_campaign", "account_id": "account_b204"}


async def an_async_function(event):
    pytest.fail("never called")


class Asynchronous:
    async def __call__(self, event):
        pytest.fail("never called")


@each_case("name", NAMES)
@each_case("hook", [an_async_function, functools.partial(an_async_function), Asynchronous()])
def test_async_hook_is_refused(name, hook):
    with pytest.raises(ConfigurationError, match=f"{name} must be a plain function") as caught:
        Hooks(**{name: hook})
    assert caught.value.argument == name
    assert_one_line(str(caught.value))


@each_case("name", NAMES)
@each_case("hook", [7, "print", [print], False])
def test_hook_that_is_not_callable_is_refused(name, hook):
    with pytest.raises(ConfigurationError, match=f"{name} must be a function, not") as caught:
        Hooks(**{name: hook})
    assert caught.value.argument == name


class TestStr:
    def response_text(self, **details):
        unset = {"status": None, "failure": None, "request_id": None}
        event = ResponseEvent(**CALL, attempt=2, duration=0.5, elapsed=1.25, **{**unset, **details})
        return str(event)

    def test_str_of_a_request_event(self):
        event = RequestEvent(**CALL, attempt=2, method="POST", url="https://ads.example.com/v1/x")
        expected = "beta.pause_campaign #7: attempt 2: POST https://ads.example.com/v1/x"
        assert str(event) == expected

    @pytest.mark.parametrize(
        ("details", "expected"),
        [
            ({"status": 201, "request_id": "r"}, "201, request id r, 1.250 s"),
            ({"status": 503}, "503, 1.250 s"),
            ({"failure": "connection reset"}, "connection reset, 1.250 s"),
            ({"status": 200, "failure": "connection reset"}, "200, connection reset, 1.250 s"),
        ],
    )
    def test_str_of_a_response_event(self, details, expected):
        assert self.response_text(**details) == f"beta.pause_campaign #7: attempt 2: {expected}"

    def test_str_of_a_retry_event(self):
        event = RetryEvent(**CALL, attempt=1, reason="503", wait=0.5)
        assert str(event) == "beta.pause_campaign #7: attempt 1: 503; retrying in 0.500 s"

    def test_str_of_a_draft_event(self):
        assert str(self.staged("draft_7c2e")) == "beta.pause_campaign #7: draft draft_7c2e staged"

    def staged(self, draft_id):
        diff = Diff(**DRAFT["diff"])
        draft = Draft(draft_id=draft_id, status="s", diff=diff, requires="two")
        return DraftEvent(**CALL, draft=draft)

    @pytest.mark.parametrize("hostile", ["a\nb", "a\x1b[2Jb", "x" * 9999])
    def test_str_of_any_event_is_one_line(self, hostile):
        assert_one_line(self.response_text(status=200, request_id=hostile))
        assert_one_line(str(self.staged(hostile)))
