"""What a client tells of its calls: plain records, and the functions of yours that get them.

The records hold no header, no argument but the account's id, and no query of a URL. `str(event)`
is the line that the logger `adclient` writes.
"""

from collections.abc import Callable
from inspect import iscoroutinefunction

import attrs

from adclient._notebook import short
from adclient.errors import ConfigurationError
from adclient.models import Draft


@attrs.frozen(kw_only=True)
class CallEvent:
    """What all records have in common: which call they are about.

    Attributes:
        call_id: The number of the call in this process; all records of one call share it.
        operation: The method that was called, such as `alpha.update_campaign_budget`.
        account_id: The ad account of the call.
    """

    call_id: int
    operation: str
    account_id: str

    def __str__(self) -> str:
        return f"{self.operation} #{self.call_id}"


@attrs.frozen(kw_only=True)
class RequestEvent(CallEvent):
    """A request is about to be sent.

    Attributes:
        method: The HTTP method.
        url: The URL without its query, which may hold a continuation that the service signed.
        attempt: Which attempt of the call this is, from 1 on.
    """

    method: str
    url: str
    attempt: int

    def __str__(self) -> str:
        return f"{super().__str__()}: attempt {self.attempt}: {self.method} {self.url}"


@attrs.frozen(kw_only=True)
class ResponseEvent(CallEvent):
    """An attempt came to its end: an answer, or none.

    Attributes:
        attempt: Which attempt of the call this was, from 1 on.
        status: The HTTP status, or None if there was no answer.
        failure: Why no whole answer came, in words; None if one did.
        request_id: The service's id of the request, if a header held one.
        duration: Seconds that this attempt took.
        elapsed: Seconds from the start of the call.
    """

    attempt: int
    status: int | None
    failure: str | None
    request_id: str | None
    duration: float
    elapsed: float

    def __str__(self) -> str:
        told = [str(part) for part in (self.status, self.failure) if part is not None]
        if self.request_id is not None:
            told.append(f"request id {short(self.request_id)}")
        text = ", ".join([*told, f"{self.elapsed:.3f} s"])
        return f"{super().__str__()}: attempt {self.attempt}: {text}"


@attrs.frozen(kw_only=True)
class RetryEvent(CallEvent):
    """A call is going to be tried again, after a wait.

    Attributes:
        attempt: The attempt that failed, from 1 on.
        reason: What came of it, in words.
        wait: Seconds until the next attempt.
    """

    attempt: int
    reason: str
    wait: float

    def __str__(self) -> str:
        again = f"trying again in {self.wait:.3f} s"
        return f"{super().__str__()}: attempt {self.attempt}: {self.reason}; {again}"


@attrs.frozen(kw_only=True)
class DraftEvent(CallEvent):
    """A draft was staged, and the call is about to return it.

    Attributes:
        draft: The draft; nothing changes until a human has approved it.
    """

    draft: Draft

    def __str__(self) -> str:
        return f"{super().__str__()}: draft {short(self.draft.draft_id)} staged"


@attrs.frozen(kw_only=True)
class Hooks:
    """Functions of yours that a client calls while it works, each with one plain record.

    They are plain functions for both clients, and run in the call itself: be quick, for they hold
    it up, and `timeout` does not bound them. What a hook returns is ignored. What it raises is
    logged, and the call goes on, so that a hook cannot lose a draft.

    Args:
        on_request: Called before each attempt.
        on_response: Called after each attempt, with its answer or why there is none.
        on_retry: Called before each wait for another attempt.
        on_draft: Called once for each draft that was staged, before the call returns it.

    Raises:
        ConfigurationError: A hook is no function, or an async one.

    Example:
        >>> from adclient import Hooks
        >>> from adclient.testing import FakeAdService
        >>> staged = []
        >>> hooks = Hooks(on_draft=lambda event: staged.append(event.draft.draft_id))
        >>> client = FakeAdService().client(hooks=hooks)
        >>> draft = client.beta.pause_campaign(
        ...     account_id="account_b204", campaign_id="campaign_57a7"
        ... )
        >>> staged == [draft.draft_id]
        True
    """

    on_request: Callable[[RequestEvent], object] | None = None
    on_response: Callable[[ResponseEvent], object] | None = None
    on_retry: Callable[[RetryEvent], object] | None = None
    on_draft: Callable[[DraftEvent], object] | None = None

    def __attrs_post_init__(self) -> None:
        for name in ("on_request", "on_response", "on_retry", "on_draft"):
            _check(name, getattr(self, name))


def _check(name: str, hook: object) -> None:
    problem = None
    if hook is not None and not callable(hook):
        problem = f"a function, not {type(hook).__name__}"
    elif callable(hook) and (iscoroutinefunction(hook) or iscoroutinefunction(hook.__call__)):
        problem = "a plain function, not an async one: a call does not wait for its hooks"
    if problem is not None:
        raise ConfigurationError(f"{name} must be {problem}", argument=name)
