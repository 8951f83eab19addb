"""Which request meets which fault."""

import random
from collections.abc import Callable
from typing import Self

import attrs

from adclient._core.operations import READS
from adclient._values.arguments import as_float, is_choice
from adclient.extend import OPERATIONS
from adclient.options import check_count, check_type
from adclient.testing._fake.fault import Fault
from adclient.testing._fake.profile import unknown
from adclient.testing._fake.recording import RecordedRequest

Where = Callable[[RecordedRequest], bool]
_OPERATIONS = [operation.full_name for operation in OPERATIONS]


@attrs.define
class FaultRule:
    """A fault and the requests that meet it."""

    fault: Fault
    operation: str | None
    account_id: str | None
    where: Where | None
    to_pass: int = 0
    left: int | None = None
    share: float = 1.0
    is_met: bool = False

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.fault, Fault):
            raise TypeError(f"expected a Fault, such as Fault.refused(), not {self.fault!r}")
        check_type("account_id", self.account_id, str)
        if not (self.where is None or callable(self.where)):
            raise TypeError(f"where must be a function of a request, not {self.where!r}")
        if self.operation is not None and not is_choice(self.operation, _OPERATIONS):
            raise ValueError(unknown("operation", self.operation, _OPERATIONS))
        if self.fault.page is not None and self.operation not in (None, *READS):
            raise ValueError(f"{self.operation} has no pages")

    def __deepcopy__(self, _: object) -> Self:
        return attrs.evolve(self)  # a fault never changes, and what `where` refers to is not ours

    def concerns(self, request: RecordedRequest) -> bool:
        """True if the fault may happen to a request."""
        return (
            self.operation in (None, request.operation)
            and self.account_id in (None, request.account_id)
            and (self.fault.page is None or request.operation in READS)
            and (self.where is None or self.where(request))
        )


class Faults:
    """The faults of a fake service, and the requests that meet them.

    Each attempt of a client is a request of its own. A request meets at most one fault: of those
    that apply to it, the one that was added first.

    Examples:
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
        >>> [fault.instead.status for fault in fake.faults.unmet]
        [500]
        >>> fake.faults.clear()
    """

    def __init__(self, seed: str) -> None:
        self._chance = random.Random(f"{seed}:faults")  # noqa: S311 (no secret)
        self._rules: list[FaultRule] = []

    def __repr__(self) -> str:
        return f"<Faults, {len(self._rules)} to come>"

    @property
    def pending(self) -> int:
        """The number of faults that are still to happen, once or more."""
        return len(self._rules)

    @property
    def unmet(self) -> tuple[Fault, ...]:
        """The added faults that no request has met, such as one with a wrong call number.

        Faults that happen at random are not included.
        """
        return tuple(rule.fault for rule in self._rules if rule.share == 1 and not rule.is_met)

    def add(
        self,
        fault: Fault,
        *,
        operation: str | None = None,
        account_id: str | None = None,
        where: Where | None = None,
        call: int = 1,
        times: int | None = 1,
    ) -> None:
        """Make a fault happen to the next request, or to a later one.

        Args:
            fault: What goes wrong.
            operation: The operation that it happens to, such as `beta.list_campaigns`; None for
                any.
            account_id: The account that it happens to; None for any.
            where: A function that is called with a `RecordedRequest` without a status, and returns
                whether it may happen to that; None for any request.
            call: The number of the first request that meets it, counted from now among those that
                the arguments above select.
            times: How many requests in a row meet it; None for all from then on.

        Raises:
            ValueError: The operation is unknown, or a number is not a whole number from 1; the
                message names it.
            TypeError: `fault` is not a `Fault`.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> fake = FakeAdService(page_size=50)
            >>> fake.faults.add(Fault.dropped(), operation="gamma.list_ads", call=2)
            >>> ads = list(fake.client().gamma.list_ads(account_id="account_c3d8"))
            >>> len(ads), [request.status for request in fake.requests]
            (126, [200, None, 200, 200])

            A fault of one campaign:

            >>> fake.faults.add(
            ...     Fault.status(503),
            ...     where=lambda request: request.parameters.get("campaign_id") == "campaign_cb1a",
            ...     times=None,
            ... )
        """
        call = check_count("call", call, least=1)
        if times is not None:
            times = check_count("times", times, least=1)
        self._rules.append(FaultRule(fault, operation, account_id, where, call - 1, times))

    def at_random(
        self,
        fault: Fault,
        *,
        share: float,
        operation: str | None = None,
        account_id: str | None = None,
        where: Where | None = None,
    ) -> None:
        """Make a fault happen at random, from the fake's seed.

        Args:
            fault: What goes wrong.
            share: The probability that a request meets it, from 0 to 1.
            operation: The operation that it happens to; None for any.
            account_id: The account that it happens to; None for any.
            where: A function of a request, as in `add`; None for any request.

        Raises:
            ValueError: The operation is unknown, or `share` is out of range; the message names it.
            TypeError: `fault` is not a `Fault`.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> fake = FakeAdService()
            >>> fake.faults.at_random(Fault.status(503), share=0.2)
            >>> fake.faults.pending
            1
        """
        if not 0 <= as_float(share) <= 1:
            raise ValueError("share must be from 0 to 1")
        self._rules.append(FaultRule(fault, operation, account_id, where, share=share))

    def clear(self) -> None:
        """Remove all faults, so that no further request meets one."""
        self._rules.clear()

    def take(self, request: RecordedRequest) -> Fault | None:
        """Return the fault that a request meets; the fake calls this for each request.

        Args:
            request: The request, without a status.

        Returns:
            The fault, or None.

        Examples:
            >>> from adclient.testing import FakeAdService, Fault
            >>> fake = FakeAdService()
            >>> page = fake.client().gamma.list_ads(account_id="account_c3d8")
            >>> fake.faults.add(Fault.refused(), account_id="account_c3d8")
            >>> fake.faults.take(fake.requests[0]) == Fault.refused()
            True
        """
        due: FaultRule | None = None
        for rule in self._rules:
            if not rule.concerns(request):
                continue
            # All rules count the request, not only the one that is due first.
            if rule.to_pass:
                rule.to_pass -= 1
            elif (rule.share == 1 or self._chance.random() < rule.share) and due is None:
                due = rule
        if due is None:
            return None
        due.is_met = True
        if due.left is not None:
            due.left -= 1
            if not due.left:
                self._rules.remove(due)
        return due.fault
