"""Which request meets which fault."""

import random

import attrs

from adclient._core.operations import OPERATIONS
from adclient.testing._faults.fault import Fault

_READS = frozenset(o.full_name for o in OPERATIONS if not o.is_write)
_ALL = frozenset(o.full_name for o in OPERATIONS)


@attrs.define
class _Plan:
    """A fault that waits for its requests."""

    fault: Fault
    operations: frozenset[str] | None
    to_pass: int
    left: int | None
    share: float

    def concerns(self, operation: str | None) -> bool:
        """Whether the fault may happen to a request."""
        return self.operations is None or operation in self.operations


class Faults:
    """What shall go wrong, and with which requests.

    Each attempt of a client is a request of its own. A request meets one fault at most: the one
    that was added first of those that are due.

    Example:
        >>> from adclient.testing import FakeAdService, Fault
        >>> fake = FakeAdService()
        >>> fake.faults.add(Fault.refused())
        >>> fake.faults.add(Fault.status(500), operation="beta.pause_campaign", call=3)
        >>> client = fake.client()
        >>> draft = client.beta.pause_campaign(
        ...     account_id="account_b204", campaign_id="campaign_57a7"
        ... )
        >>> draft.response.attempts, fake.faults.pending
        (2, 1)
    """

    def __init__(self, seed: str) -> None:
        self._chance = random.Random(f"{seed}:faults")  # noqa: S311 (no secret)
        self._plans: list[_Plan] = []

    def __repr__(self) -> str:
        return f"<Faults, {len(self._plans)} to come>"

    @property
    def pending(self) -> int:
        """How many faults that were added have not happened as often as they should."""
        return len(self._plans)

    def add(
        self, fault: Fault, *, operation: str | None = None, call: int = 1, times: int | None = 1
    ) -> None:
        """Have a fault happen to the next request, or to a later one.

        Args:
            fault: What shall go wrong.
            operation: The operation that it shall happen to, such as `beta.list_campaigns`; None
                for any.
            call: The number of the request that meets it first, counted from now among those of
                the operation.
            times: To how many requests in a row; None for all from then on.

        Raises:
            ValueError: The operation is unknown, or a number is less than 1; the text names it.
            TypeError: `fault` is something else.

        Example:
            >>> from adclient.testing import FakeAdService, Fault
            >>> fake = FakeAdService(page_size=50)
            >>> fake.faults.add(Fault.dropped(), operation="gamma.list_ads", call=2)
            >>> ads = list(fake.client().gamma.list_ads(account_id="account_c3d8"))
            >>> len(ads), [request.status for request in fake.requests]
            (126, [200, None, 200, 200])
        """
        if call < 1:
            raise ValueError("call must be 1 or more")
        if times is not None and times < 1:
            raise ValueError("times must be 1 or more, or None")
        self._plans.append(_Plan(fault, _concerned(fault, operation), call - 1, times, 1.0))

    def at_random(self, fault: Fault, *, share: float, operation: str | None = None) -> None:
        """Have a fault happen by chance, which follows from the fake's seed.

        Args:
            fault: What shall go wrong.
            share: How likely each request is to meet it, from 0 to 1.
            operation: The operation that it shall happen to; None for any.

        Raises:
            ValueError: The operation is unknown, or `share` is out of range; the text names it.
            TypeError: `fault` is something else.

        Example:
            >>> from adclient.testing import FakeAdService, Fault
            >>> fake = FakeAdService()
            >>> fake.faults.at_random(Fault.status(503), share=0.2)
            >>> fake.faults.pending
            1
        """
        if not 0 <= share <= 1:
            raise ValueError("share must be from 0 to 1")
        self._plans.append(_Plan(fault, _concerned(fault, operation), 0, None, share))

    def clear(self) -> None:
        """Forget all faults."""
        self._plans.clear()

    def take(self, operation: str | None) -> Fault | None:
        """The fault of the request at hand, if it meets one; the service calls this."""
        due = [plan for plan in self._plans if plan.concerns(operation) and self._is_due(plan)]
        if not due:
            return None
        plan = due[0]
        if plan.left is not None:
            plan.left -= 1
            if not plan.left:
                self._plans.remove(plan)
        return plan.fault

    def _is_due(self, plan: _Plan) -> bool:
        """Whether a fault's turn has come; the request counts for it in any case."""
        if plan.to_pass:
            plan.to_pass -= 1
            return False
        return plan.share == 1 or self._chance.random() < plan.share


def _concerned(fault: Fault, operation: str | None) -> frozenset[str] | None:
    """The operations that a fault may happen to; None for every request at all."""
    if not isinstance(fault, Fault):
        raise TypeError(f"expected a Fault, such as Fault.refused(), not {fault!r}")
    if operation is not None and operation not in _ALL:
        raise ValueError(f"there is no operation {operation!r}; one is 'beta.list_campaigns'")
    if fault.page is None:
        return None if operation is None else frozenset({operation})
    if operation is not None and operation not in _READS:
        raise ValueError(f"{operation} has no pages")
    return _READS if operation is None else frozenset({operation})
