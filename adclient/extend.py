"""The seam between a client and tools around it: gates, guards and senders of one's own.

A tool limits, records, plans or examines calls. It takes a client, and lets that perform each call,
so credentials, retries, rate limits, deadlines and redaction are those of the client.
"""

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, overload

import attrs

from adclient._core.auth import Credentials
from adclient._core.call import Call, invalid, validated
from adclient._core.events import warn
from adclient._core.operations import OPERATIONS, READS, Operation
from adclient._core.request import Request
from adclient._core.response import Failure, Outcome, RawResponse
from adclient._core.retry import Turn
from adclient._tasks.clock import Clock, countdown
from adclient._values import jsontext
from adclient._values.redact import one_line
from adclient.errors import ConfigurationError
from adclient.models import Draft, Item, Result
from adclient.options import Options

if TYPE_CHECKING:
    from adclient._async.client import AsyncAdClient
    from adclient._async.page import AsyncPage
    from adclient._sync.client import AdClient
    from adclient._sync.page import Page

__all__ = [
    "OPERATIONS", "READS", "AsyncSender", "Call", "CallGuard", "Clock", "Credentials", "Failure",
    "Gate", "Operation", "Options", "Outcome", "Parts", "RawResponse", "Record", "Request",
    "Sender", "Turn", "parts_of", "run", "validated", "warn",
]  # fmt: skip

S = TypeVar("S", covariant=True)


class Sender(Protocol):
    """Sends the requests of a sync client, each exactly once: it never retries."""

    def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        ...


class AsyncSender(Protocol):
    """Sends the requests of an async client, each exactly once: it never retries."""

    async def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        ...


class Gate(Protocol):
    """Decides when requests may be sent, for clients that share a rate limit.

    Its methods may block: an async client calls them in a thread. `key` is what a limit holds for:
    the address of a service and, as `rate_limit_scope` says, an account.
    """

    def ask(self, call: Call, key: str, seconds: float) -> Failure | float | None:
        """Ask for the consent to a request; the call has so many seconds left.

        None permits the request. After a number of seconds, to which the call adds a random
        moment, it asks again; if it has less time than that, it raises `CallTimeout`. A failure
        ends the call.
        """

    def pause(self, call: Call, key: str, seconds: float) -> None:
        """Note that the service refused a request with a rate limit, and how long to wait.

        An error in it is only a warning.
        """


class Record(Protocol):
    """The record of one call. Its methods may block: an async client calls them in a thread."""

    def reserve(self, seconds: float) -> None:
        """Record the call before anything is sent, in so many seconds; an error ends the call."""

    def end(self, result: Result | BaseException, attempts: int) -> None:
        """Record the value or the error of the call.

        It is also called if the caller was cancelled or interrupted, perhaps within `reserve`.
        Without attempts, nothing was sent. An error in it is only a warning.
        """


class CallGuard(Protocol):
    """Admits calls, and records them."""

    def admit(self, call: Call, actor: str | None) -> Record | None:
        """Return the record of a call, if it has one; it must not block.

        An error refuses the call; so does one of `Record.reserve`, which can record the refusal.
        """


@attrs.frozen(kw_only=True, repr=False)
class Parts(Generic[S]):
    """What a client is made of, as far as a tool may know it.

    Attributes:
        options: Its options.
        credentials: Its credentials.
        sender: What sends its requests, to which a sender of a tool can pass them on.
        guard: Its policy and ledger; None if it has neither.
        clock: The clock of its deadlines; that of the fake, if it is a client of the fake.
        check_open: A function that raises a `ConfigurationError` if the client is closed.
    """

    options: Options
    credentials: Credentials
    sender: S
    guard: CallGuard | None
    clock: Clock
    check_open: Callable[[], None]


@overload
def parts_of(client: "AdClient") -> Parts[Sender]: ...
@overload
def parts_of(client: "AsyncAdClient") -> Parts[AsyncSender]: ...
def parts_of(client: "AdClient | AsyncAdClient") -> Parts[Any]:
    """The parts of a client.

    Args:
        client: The client.

    Returns:
        Its parts.

    Examples:
        >>> from adclient import AdClient
        >>> from adclient.extend import parts_of
        >>> parts_of(AdClient("https://ads.example.com", timeout=5)).options.timeout
        5.0
    """
    engine = client.__engine__
    return Parts(
        options=engine.options,
        credentials=engine.credentials,
        sender=engine.sender,
        guard=engine.guard,
        clock=engine.clock,
        check_open=engine.check_open,
    )


@overload
def run(
    client: "AdClient",
    call: Call,
    *,
    sender: Sender | None = None,
    guard: CallGuard | None = None,
    options: Options | None = None,
    credentials: Credentials | None = None,
) -> "Draft | Page[Item]": ...
@overload
def run(
    client: "AsyncAdClient",
    call: Call,
    *,
    sender: AsyncSender | None = None,
    guard: CallGuard | None = None,
    options: Options | None = None,
    credentials: Credentials | None = None,
) -> "Coroutine[Any, Any, Draft | AsyncPage[Item]]": ...
def run(
    client: "AdClient | AsyncAdClient",
    call: Call,
    *,
    sender: Sender | AsyncSender | None = None,
    guard: CallGuard | None = None,
    options: Options | None = None,
    credentials: Credentials | None = None,
) -> Any:
    """Perform a call as a client does, with other parts for this call.

    Args:
        client: The client; it is not changed.
        call: The call, as `validated` makes it.
        sender: What sends the requests instead of the client's own sender.
        guard: What admits and records the call, after the policy and the ledger of the client.
        options: Options instead of the client's.
        credentials: Credentials instead of the client's; `Credentials()` for none.

    Returns:
        The draft or the page; an async client returns a coroutine.

    Raises:
        ConfigurationError: The operation is none of the sixteen, or the options are for another
            service, without a sender for it.
        InvalidRequest: The call was changed, and its account or arguments cannot be sent.
        AdClientError: The call failed.

    Examples:
        >>> from adclient.extend import OPERATIONS, run, validated
        >>> from adclient.testing import FakeAdService
        >>> explain = next(each for each in OPERATIONS if each.name == "explain_objectives")
        >>> call = validated(explain, {"account_id": "account_a91f"})
        >>> len(run(FakeAdService().client(), call).data)
        4
    """
    if call.operation not in OPERATIONS:
        problem = f"{call.operation.full_name} is none of the operations of adclient"
        raise ConfigurationError(f"{problem}; nothing was sent", argument="call")
    # What the policy and the ledger see is what is sent.
    try:
        pairs = {name: jsontext.frozen(value, name) for name, value in call.arguments.items()}
    except jsontext.JSONError as error:
        raise invalid(call.operation, "call", one_line(str(error))) from None
    if call.account_id != str(call.arguments.get("account_id", "")):
        raise invalid(call.operation, "call", "its account is not that of its arguments")
    arguments = {name: value for name, (value, _) in pairs.items()}
    encoded = {name: text for name, (_, text) in pairs.items()}
    call = attrs.evolve(call, arguments=arguments, encoded=encoded)
    engine = client.__engine__
    parts: dict[str, Any] = {}
    if sender is not None:
        parts["sender"] = sender
    if guard is not None:
        own = engine.guard
        parts["guard"] = guard if own is None else _Guards((own, guard))
    if options is not None:
        if sender is None and options.base_url != engine.options.base_url:
            problem = "its base_url is another one than that of the client; nothing was sent"
            raise ConfigurationError(f"options: {problem}", argument="options")
        parts["options"] = options
    if credentials is not None:
        parts |= {"credentials": credentials, "tokens": None}
    return engine.with_parts(**parts).run_bare(call)


@attrs.frozen
class _Guards:
    """Several guards of one call: each of them must admit it."""

    guards: Sequence[CallGuard]

    def admit(self, call: Call, actor: str | None) -> Record | None:
        records = [guard.admit(call, actor) for guard in self.guards]
        admitted = [each for each in records if each is not None]
        return _Records(admitted) if admitted else None


@attrs.frozen
class _Records:
    """The records of one call, of which each begins or none."""

    records: Sequence[Record]

    def reserve(self, seconds: float) -> None:
        left = countdown(seconds)
        for number, record in enumerate(self.records):
            try:
                record.reserve(left())
            except Exception as error:  # an interrupt ends all of them
                for begun in self.records[:number]:
                    begun.end(error, 0)
                raise

    def end(self, result: Result | BaseException, attempts: int) -> None:
        for record in self.records:
            record.end(result, attempts)
