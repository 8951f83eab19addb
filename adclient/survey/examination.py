"""What the trials have observed of a service so far."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import attrs

from adclient._service.model import Certainty, Next
from adclient.conventions import ReadConventions
from adclient.models import JSON
from adclient.survey.observation import Observation, PageView, Probe

# Of a request that was to continue a listing.
Effect = Literal[
    "continues", "no items", "same items", "overlap", "does not move on", "refused", "no evidence"
]
Chain = list[Observation]


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
class Search:
    """The search for the continuation of one listing, and what it found.

    `equal` are the ways that lead to the same items, the chosen one too. `trouble` is why there is
    none, or what is wrong with it, and `step` what to do, if not the usual.
    """

    form: Next | None
    control: Observation | None = None
    tried: dict[str, Effect] = attrs.field(factory=dict[str, Effect])
    chosen: Candidate | None = None
    equal: list[Candidate] = attrs.field(factory=list[Candidate])
    certainty: Certainty = "not observed"
    trouble: str = ""
    step: str = ""


@attrs.define(eq=False, repr=False)
class Reading:
    """What is known of one read.

    `pages` begin with the first, and follow each other. `unknown` is the response to an account
    that cannot exist, or to none, which `makes_difference` or not, and `other_place` that to the
    parameters elsewhere. Items are told apart by their ids, or by all of their fields (`by_row`) if
    those stay the same. A continuation `expires` if each request gets another one.
    """

    first: Observation
    unknown: Observation | None = None
    makes_difference: bool = False
    other_place: Observation | None = None
    search: Search | None = None
    by_row: bool = False
    expires: bool = False
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
        return page.rows if self.by_row else page.ids

    @property
    def is_listing(self) -> bool:
        """Whether its first page has a next one."""
        return bool(self.pages) and self.views[0].end is None

    @property
    def may_be_of_another(self) -> bool:
        """Whether the items may be those of a default account, and this one is refused."""
        other = self.other_place
        return other is not None and other.is_refused and not self.makes_difference

    @property
    def place(self) -> Literal["query", "body"]:
        """Where its parameters are sent."""
        return self.first.probe.conventions.read_parameters

    @property
    def way(self) -> str:
        """How it is continued; empty if that is not known."""
        return "" if self.search is None or self.search.chosen is None else self.search.chosen.label


@attrs.define(eq=False, repr=False)
class Examination:
    """What was observed of a service so far; if it ended early, `stopped` is the reason.

    `page_sizes` are those of the reads in which `size_parameter` sets them; all reads can have it
    if `is_one_page_size`. If there are none, `no_page_size` is the reason. `is_check` means that a
    service file holds, as far as this was tried, and `is_strict` that names are refused that are
    not known.
    """

    send: Callable[[Probe], Observation]
    left: Callable[[], float]
    base_url: str
    accounts: Sequence[str]
    has_credentials: bool = False
    targeting: JSON = None
    stopped: str | None = None
    observations: list[Observation] = attrs.field(factory=list[Observation])
    base: Reading | None = None
    anonymous: Observation | None = None
    readings: dict[str, Reading] = attrs.field(factory=dict[str, Reading])
    plain_again: Observation | None = None
    styled: dict[str, Observation] = attrs.field(factory=dict[str, Observation])
    known: dict[str, Candidate] = attrs.field(factory=dict[str, Candidate])
    size_parameter: str = ""
    page_sizes: dict[str, int] = attrs.field(factory=dict[str, int])
    is_one_page_size: bool = False
    no_page_size: str = "no listing with three items on a page could be continued"
    is_check: bool = False
    is_strict: bool = False

    def ask(self, probe: Probe) -> Observation:
        """Send a probe, and keep its observation."""
        seen = self.send(probe)
        if seen.is_sent:
            self.observations.append(seen)
        return seen

    @property
    def accepted(self) -> list[Reading]:
        """The reads that were accepted."""
        return [reading for reading in self.readings.values() if reading.pages]

    def telling(self) -> Observation | None:
        """What says most where no read is accepted: a page of another shape, or the last."""
        shaped = (seen for seen in self.observations if seen.is_success)
        return next(shaped, self.observations[-1] if self.observations else None)

    def is_accepted_after(self, refused: Observation) -> bool:
        """Whether a read was accepted after another was refused.

        If none was, it may have been refused for another reason, such as a quota that was used up.
        """
        later = self.observations[self.observations.index(refused) :]
        return any(seen.page is not None and seen.probe.has_credentials for seen in later)
