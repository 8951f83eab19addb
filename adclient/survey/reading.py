"""What the trials have found out so far: of ways to continue, of reads, and of the service."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import attrs

from adclient._service.model import Certainty, Next
from adclient.conventions import Continuation, ReadConventions
from adclient.extend import Options
from adclient.models import JSON
from adclient.survey.observation import Effect, Observation, PageView, Probe
from adclient.survey.session import Session

NO_ACCOUNT = "adclient-doctor-no-such-account"
Chain = list[Observation]
Setting = str | bool | tuple[str, ...] | Continuation | None


@attrs.frozen
class Finding:
    """One open point of the interface, and what was found out about it.

    Attributes:
        point: The open point, such as `"read parameters"`.
        conclusion: What follows from the observation.
        observed: What was observed, in words.
        certainty: `"observed"` if the observation has only one explanation, `"likely"` if it has
            others, and `"not observed"` if there was nothing to conclude from.
        settings: The settings of `Conventions` that follow.
        read: The name of the read that differs from the others; None if it is about most reads.

    Examples:
        >>> from adclient.doctor import examine
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService()
        >>> report = examine(fake.client(), account_id="account_b204")
        >>> report["read parameters"].conclusion
        'in the query'
    """

    point: str
    conclusion: str
    observed: str = ""
    certainty: Certainty = "observed"
    settings: Mapping[str, Setting] = attrs.field(factory=dict[str, Setting], hash=False)
    read: str | None = None

    def __str__(self) -> str:
        """The conclusion, and the read that it is about."""
        return self.conclusion if self.read is None else f"{self.read}: {self.conclusion}"


def not_observed(point: str, conclusion: str, observed: str = "") -> Finding:
    """The finding on a point of which nothing follows."""
    return Finding(point, conclusion, observed, "not observed")


class Candidate(NamedTuple):
    """A way to continue a listing; `known` is how sure it is that it continues another one."""

    label: str
    settings: ReadConventions
    known: Certainty | None = None

    @property
    def name(self) -> str:
        """The name of the parameter; empty if the response names it."""
        return self.settings.get("cursor_parameter", "")

    def probe(self, page: Observation, cursor: JSON = None) -> Probe:
        """The request for what follows a page, or for another value."""
        return attrs.evolve(
            page.probe,
            purpose=f"the next page: {self.label}",
            cursor=page.view.next if cursor is None else cursor,
            conventions=attrs.evolve(page.probe.conventions, **self.settings),
        )


@attrs.define(eq=False, repr=False)
class Reading:
    """What is known of one read, and of how it continues.

    `pages` begin with the first, and follow each other. `difference` is a response to another
    account, or to none, that shows that the account is read. Items are told apart by their ids, or
    by all of their fields (`by_row`) if those stay the same. A continuation has a `form`, and
    `expires` if each request gets another one. `control` is the response to a wrong name. `equal`
    are the ways that lead to the same items as the `chosen` one. `trouble` is why there is none, or
    what is wrong with it, and `step` what to do, if not the usual.
    """

    first: Observation
    difference: Observation | None = None
    by_row: bool = False
    expires: bool = False
    form: Next | None = None
    control: Observation | None = None
    tried: dict[str, Effect] = attrs.field(factory=dict[str, Effect])
    chosen: Candidate | None = None
    equal: list[Candidate] = attrs.field(factory=list[Candidate])
    certainty: Certainty = "not observed"
    trouble: str = ""
    step: str = ""
    pages: Chain = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.pages = [self.first] if self.first.page is not None else []

    @property
    def name(self) -> str:
        """The full name of the read."""
        return self.first.probe.operation.full_name

    @property
    def views(self) -> list[PageView]:
        """What its pages contain."""
        return [seen.view for seen in self.pages]

    def keys(self, page: PageView) -> tuple[str, ...]:
        """What tells the items of a page apart."""
        return page.keys(by_row=self.by_row)

    def is_same(self, seen: Observation, page: Observation) -> bool:
        """Whether a response has the items of a page."""
        return seen.page is not None and self.keys(seen.page) == self.keys(page.view)

    @property
    def place(self) -> Literal["query", "body"]:
        """Where its parameters are sent."""
        return self.first.probe.conventions.read_parameters

    @property
    def is_listing(self) -> bool:
        """Whether its first page has a next one."""
        return bool(self.pages) and self.views[0].end is None

    @property
    def way(self) -> str:
        """How it is continued; empty if that is not known."""
        return "" if self.chosen is None else self.chosen.label

    @property
    def is_whole(self) -> bool:
        """Whether it was read to its end."""
        return bool(self.pages) and self.views[-1].end is not None


@attrs.define(eq=False, repr=False)
class Examination:
    """What was observed of a service so far; if it ended early, `stopped` is the reason.

    `known_accounts` are those of a service file. `anonymous` is the response without credentials,
    and `known` are the ways that continue a listing. `is_check` means that a service file holds, as
    far as this was tried, and `is_strict` that names are refused that are not known.
    """

    session: Session
    accounts: tuple[str, ...]
    targeting: JSON = None
    known_accounts: tuple[str, ...] = ()
    stopped: str | None = None
    observations: list[Observation] = attrs.field(factory=list[Observation])
    base: Reading | None = None
    anonymous: Observation | None = None
    objects: Finding | None = None
    readings: dict[str, Reading] = attrs.field(factory=dict[str, Reading])
    known: dict[str, Candidate] = attrs.field(factory=dict[str, Candidate])
    is_check: bool = False
    is_strict: bool = False

    def ask(self, probe: Probe, **varied: Any) -> Observation:
        """Send a probe, with some of its fields varied, and keep its observation."""
        seen = self.session.ask(attrs.evolve(probe, **varied))
        if seen.is_sent:
            self.observations.append(seen)
        return seen

    @property
    def options(self) -> Options:
        """The options of the client."""
        return self.session.parts.options

    @property
    def has_credentials(self) -> bool:
        """Whether the client sends credentials."""
        return self.session.parts.credentials.kind != "none"

    @property
    def accepted(self) -> list[Reading]:
        """The reads that were accepted."""
        return [reading for reading in self.readings.values() if reading.pages]

    @property
    def strangers(self) -> list[Observation]:
        """The responses to an account that cannot exist."""
        return [seen for seen in self.observations if seen.probe.account_id == NO_ACCOUNT]

    @property
    def unknown(self) -> Observation | None:
        """The response to an account that cannot exist, where the account is read."""
        place = None if self.base is None else self.base.place
        found = (s for s in self.strangers if s.probe.conventions.read_parameters == place)
        return next(found, None)

    def is_accepted_after(self, refused: Observation) -> bool:
        """Whether a read was accepted after another was refused.

        If none was, it may have been refused for another reason, such as a quota that was used up.
        """
        later = self.observations[self.observations.index(refused) :]
        return any(seen.page is not None and seen.probe.has_credentials for seen in later)
