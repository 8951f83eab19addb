"""Faults: what shall go wrong with the next requests."""

from collections import deque
from collections.abc import Mapping

import attrs

from adclient._core import wire
from adclient._core.reply import Failure, Reply
from adclient.models import JSON


@attrs.frozen
class Fault:
    """What happens to one request; `taken` says that the service does its work first."""

    outcome: Reply | Failure
    taken: bool

    @property
    def is_refusal(self) -> bool:
        """Whether the request never reaches the service."""
        return isinstance(self.outcome, Failure) and not self.outcome.sent


class Faults:
    """What shall go wrong, in the order in which it was asked for, one request each.

    Every method takes `times`, the number of requests that the fault holds for. `taken=True`
    means that the service does what the request asks, and only its answer is lost or spoilt: a
    write has then staged its draft.

    Example:
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService()
        >>> fake.faults.fail_next(429, headers={"retry-after": "0"})
        >>> client = fake.client()
        >>> draft = client.beta.pause_campaign(
        ...     account_id="account_b204", campaign_id="campaign_57a7"
        ... )
        >>> draft.response.attempts
        2
    """

    def __init__(self) -> None:
        self._script: deque[Fault] = deque()

    @property
    def pending(self) -> int:
        """How many requests will still meet a fault."""
        return len(self._script)

    def fail_next(
        self,
        status: int,
        *,
        code: str = "injected_fault",
        message: str = "a fault that the test asked for",
        headers: Mapping[str, str] | None = None,
        taken: bool = False,
        times: int = 1,
    ) -> None:
        """Answer with an error.

        Args:
            status: The HTTP status.
            code: The code in the error body.
            message: The message in the error body.
            headers: Further headers, such as `Retry-After`.
            taken: Whether the service does its work first.
            times: For how many requests.

        Raises:
            ValueError: `status` or `times` is out of range.
        """
        error: JSON = {"error": {"code": code, "message": message, "details": []}}
        self.answer_next(error, status=status, headers=headers, taken=taken, times=times)

    def answer_next(
        self,
        body: bytes | str | JSON,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        taken: bool = False,
        times: int = 1,
    ) -> None:
        """Answer with this very body.

        Args:
            body: The raw bytes or text; any other value is written as JSON.
            status: The HTTP status.
            headers: Headers to add or replace; the content type is JSON unless they say else.
            taken: Whether the service does its work first.
            times: For how many requests.

        Raises:
            ValueError: `status` or `times` is out of range.
        """
        if not 200 <= status <= 599:
            raise ValueError("status must be from 200 to 599")
        raw = body if isinstance(body, bytes | str) else wire.dumps(body, "body")
        content = raw if isinstance(raw, bytes) else raw.encode()
        lowered = {name.lower(): value for name, value in (headers or {}).items()}
        self._plan(Fault(Reply(status=status, headers=lowered, body=content), taken), times)

    def refuse_next(self, *, times: int = 1) -> None:
        """Refuse the connection, so that the service never sees the request.

        Args:
            times: For how many requests.

        Raises:
            ValueError: `times` is out of range.
        """
        self._plan(Fault(Failure(reason="connection refused", sent=False), False), times)

    def drop_next(self, *, taken: bool = False, times: int = 1) -> None:
        """Break the connection after the request was sent.

        Args:
            taken: Whether the service does its work first.
            times: For how many requests.

        Raises:
            ValueError: `times` is out of range.
        """
        self._plan(Fault(Failure(reason="the connection was dropped", sent=True), taken), times)

    def time_out_next(self, *, taken: bool = False, times: int = 1) -> None:
        """Give no answer in time; no time passes.

        Args:
            taken: Whether the service does its work first.
            times: For how many requests.

        Raises:
            ValueError: `times` is out of range.
        """
        failure = Failure(reason="no answer in time", sent=True, timed_out=True)
        self._plan(Fault(failure, taken), times)

    def clear(self) -> None:
        """Forget all faults that have not happened yet."""
        self._script.clear()

    def take(self) -> Fault | None:
        """Take the fault for the request at hand, if there is one; the service calls this."""
        return self._script.popleft() if self._script else None

    def _plan(self, fault: Fault, times: int) -> None:
        if times < 1:
            raise ValueError("times must be 1 or more")
        self._script.extend([fault] * times)
