"""Hooks: your functions that a client calls, and the events that it passes to them.

Events contain no header of a request, no URL query, and no argument but the account's id.
`str(event)` is the line that the logger `adclient` writes.
"""

from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction

import attrs

from adclient._values.containers import Headers
from adclient._values.text import short
from adclient.errors import ConfigurationError
from adclient.models import Draft


@attrs.frozen(kw_only=True)
class CallEvent:
    """The base of all events: the call that they belong to.

    Attributes:
        call_id: The number of the call in this process; all events of one call share it.
        operation: The method that was called, such as `alpha.update_campaign_budget`.
        account_id: The ad account of the call.

    Examples:
        >>> from adclient import Hooks
        >>> from adclient.testing import FakeAdService, Fault
        >>> events = []
        >>> hooks = Hooks(
        ...     on_request=events.append,
        ...     on_response=events.append,
        ...     on_retry=events.append,
        ...     on_draft=events.append,
        ... )
        >>> fake = FakeAdService()
        >>> fake.faults.add(Fault.refused())
        >>> client = fake.client(hooks=hooks)
        >>> draft = client.delta.remove_auto_search_themes(account_id="account_d118")
        >>> for event in events:
        ...     print(type(event).__name__, event.operation)
        RequestEvent delta.remove_auto_search_themes
        ResponseEvent delta.remove_auto_search_themes
        RetryEvent delta.remove_auto_search_themes
        RequestEvent delta.remove_auto_search_themes
        ResponseEvent delta.remove_auto_search_themes
        DraftEvent delta.remove_auto_search_themes
    """

    call_id: int
    operation: str
    account_id: str

    def __str__(self) -> str:
        event: CallEvent = self
        match event:
            case RequestEvent():
                what = f": attempt {event.attempt}: {event.method} {event.url}"
            case ResponseEvent():
                parts = [str(each) for each in (event.status, event.failure) if each is not None]
                if event.request_id is not None:
                    parts.append(f"request id {short(event.request_id)}")
                parts.append(f"{event.elapsed:.3f} s")
                what = f": attempt {event.attempt}: {', '.join(parts)}"
            case RetryEvent():
                retry = f"retrying in {event.wait:.3f} s"
                what = f": attempt {event.attempt}: {event.reason}; {retry}"
            case DraftEvent():
                what = f": draft {short(event.draft.draft_id)} staged"
            case _:
                what = ""
        return f"{self.operation} #{self.call_id}{what}"


@attrs.frozen(kw_only=True)
class RequestEvent(CallEvent):
    """A request is about to be sent.

    Attributes:
        method: The HTTP method.
        url: The URL, without its query: that may contain a signed cursor.
        attempt: The number of the attempt, from 1 on.
    """

    method: str
    url: str
    attempt: int


@attrs.frozen(kw_only=True)
class ResponseEvent(CallEvent):
    """An attempt ended, with a response or without one.

    Attributes:
        attempt: The number of the attempt, from 1 on.
        status: The HTTP status, or None if there was no response.
        failure: Why there is no complete response, in words; None if there is one.
        request_id: The service's id of the request; None if no header contains it.
        headers: The headers of the response, by names in any case, without cookies; empty if there
            was no response.
        duration: Seconds that this attempt took.
        elapsed: Seconds from the start of the call.
    """

    attempt: int
    status: int | None
    failure: str | None
    request_id: str | None
    duration: float
    elapsed: float
    headers: Mapping[str, str] = attrs.field(factory=Headers, hash=False)


@attrs.frozen(kw_only=True)
class RetryEvent(CallEvent):
    """A call will be retried after a wait.

    Attributes:
        attempt: The attempt that failed, from 1 on.
        reason: How it failed, in words.
        wait: Seconds until the next attempt; 0 if a new token is sent after a 401.
    """

    attempt: int
    reason: str
    wait: float


@attrs.frozen(kw_only=True)
class DraftEvent(CallEvent):
    """A draft was staged, and the call is about to return it.

    Attributes:
        draft: The draft; nothing changes until a human has approved it.
    """

    draft: Draft


@attrs.frozen(kw_only=True)
class Hooks:
    """Your functions that a client calls during its calls, each with one event.

    They are plain functions, also for the async client. They run inside the call and delay it, and
    `timeout` does not bound them. What they return is ignored. An exception is logged and the call
    continues, so a hook cannot lose a draft.

    Attributes:
        on_request: Called before each attempt; None for no function, here and below.
        on_response: Called after each attempt, with the status or the failure.
        on_retry: Called before each wait for another attempt.
        on_draft: Called once for each staged draft, before the call returns it.

    Raises:
        ConfigurationError: A hook is not a function, or is an async one.

    Examples:
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
            hook: object = getattr(self, name)
            if hook is None:
                continue
            if not callable(hook):
                expected = f"a function, not {type(hook).__name__}"
            elif iscoroutinefunction(hook) or iscoroutinefunction(hook.__call__):
                expected = "a plain function, not an async one: a call does not await its hooks"
            else:
                continue
            raise ConfigurationError(f"{name} must be {expected}", argument=name)
