"""Which reads the doctor sends, in which order. It decides everything, and sends nothing."""

from collections.abc import Iterator, Sequence
from itertools import dropwhile

import attrs

from adclient._core.response import RawResponse
from adclient.conventions import Conventions
from adclient.doctor._continuation import Asks, Continuation, effect_of
from adclient.doctor._objects import Objects
from adclient.doctor._probe import READ, READS, Observation, Probe, Read
from adclient.models import JSON

MOST_REQUESTS = 30
NO_ACCOUNT = "adclient-doctor-no-such-account"

IN_QUERY = Conventions()
IN_BODY = Conventions(read_parameters="body")

# Listings first: the others are less likely to have more than one page.
_FIRST_READS = (
    *("beta.list_campaigns", "gamma.list_ads", "alpha.explain_objectives"),
    "delta.analyze_wasted_spend",
)
_MOST_TO_FIND = 12


@attrs.define
class Examination:
    """The requests to a service so far, and their responses.

    `steps` is a generator: it yields each `Probe`, and receives its `Observation`. It can be
    abandoned at any point; what was observed until then stays.
    """

    base_url: str
    accounts: Sequence[str]
    has_credentials: bool = False
    verifies_tls: bool = False
    targeting: JSON = None
    requests: int = 0
    stopped: str | None = None
    limited: RawResponse | None = None
    observations: list[Observation] = attrs.field(factory=list[Observation])
    base: Observation | None = None
    unknown_account: Observation | None = None
    reads_account: bool = False
    other_place: Observation | None = None
    anonymous: Observation | None = None
    again: Observation | None = None
    reads: dict[str, Observation] = attrs.field(factory=dict[str, Observation])
    objects: Objects | None = None
    continuation: Continuation | None = None

    @property
    def left(self) -> int:
        """How many requests may still be sent."""
        return MOST_REQUESTS - self.requests

    def steps(self) -> Asks:
        """Find a read that is accepted; then vary it, one thing at a time."""
        yield from self._find()
        if self.base is None:
            return
        yield from self._place()
        if self.has_credentials:
            yield from self._try_without_credentials(self.base)
        yield from self._read_all()
        yield from self._place_by_items()
        refused = filter(None, (self.unknown_account, self.anonymous))
        if not all(map(self.is_accepted_after, refused)):
            yield attrs.evolve(self.base.probe, purpose="the accepted read, again")
        search = self.reads.get("gamma.search_targeting")
        in_query = self.base.probe.conventions.read_parameters == "query"
        if in_query and search is not None and search.page is not None:
            self.objects = Objects(search, self.targeting)
            yield from self.objects.search(lambda: self.left)
        first = self._page_to_continue()
        if first is not None:
            endpoint = self.base_url + first.probe.operation.path
            self.continuation = Continuation(first, endpoint)
            yield from self.continuation.search(lambda: self.left)

    def is_accepted_after(self, refused: Observation) -> bool:
        """Whether any read was accepted after another was refused.

        If none was, it may have been refused for another reason, such as a quota that was used up.
        """
        later = dropwhile(lambda seen: seen is not refused, self.observations)
        return any(seen.page is not None and seen.probe.has_credentials for seen in later)

    def _find(self) -> Asks:
        """Find a read that is accepted, with its parameters in the query or in the body."""
        unpromising = 0
        for number, probe in enumerate(self._first_probes()):
            if number == _MOST_TO_FIND:
                return
            found = yield probe
            if found.page is not None:
                self.base = found
                return
            response = found.response
            if response is None or 300 <= response.status < 400:
                return
            # Other reads would fail as well, unless this one was refused for its arguments.
            unpromising = 0 if found.is_refused and response.status != 401 else unpromising + 1
            if unpromising == 2:
                return

    def _first_probes(self) -> Iterator[Probe]:
        for name in _FIRST_READS:
            for account_id in self.accounts:
                for conventions in (IN_QUERY, IN_BODY):
                    yield Probe(
                        purpose=f"the parameters in the {conventions.read_parameters}",
                        operation=READ[name],
                        account_id=account_id,
                        conventions=conventions,
                    )

    def _place(self) -> Asks:
        """Find out whether the parameters are read where they were sent.

        A service may ignore them: only one that treats an unknown account differently reads them.
        """
        assert self.base is not None
        yield from self._try_unknown_account(self.base)
        if self.reads_account or self.base.probe.conventions == IN_BODY:
            return
        self.other_place = yield attrs.evolve(
            self.base.probe, purpose="the parameters in the body", conventions=IN_BODY
        )
        if self.other_place.page is not None:
            yield from self._try_unknown_account(self.other_place)

    def _place_by_items(self) -> Asks:
        """Ask again by a read that has items, if the first one had none to tell accounts apart."""
        full = next((seen for seen in self.reads.values() if seen.page and seen.page.ids), None)
        has_items = self.base is not None and self.base.page is not None and self.base.page.ids
        if full is not None and not has_items and not self.reads_account:
            yield from self._try_unknown_account(full)

    def _try_unknown_account(self, accepted: Observation) -> Asks:
        """Ask for an account that cannot exist where another was accepted."""
        page = accepted.page
        assert page is not None
        unknown = yield attrs.evolve(
            accepted.probe, purpose="an account that cannot exist", account_id=NO_ACCOUNT
        )
        if unknown.is_refused and self.unknown_account is not None:
            # Elsewhere it made no difference, so here it may have been refused by chance.
            unknown = yield attrs.evolve(unknown.probe, purpose="the unknown account, again")
        self.reads_account = unknown.is_refused
        if page.ids and unknown.page is not None and not unknown.page.ids:
            # An empty result may also be chance: both must happen twice.
            second = yield attrs.evolve(unknown.probe, purpose="the unknown account, again")
            again = yield attrs.evolve(accepted.probe, purpose="the known account, again")
            same = effect_of(unknown.page, second), effect_of(page, again)
            self.reads_account = same == ("same items", "same items")
        if self.reads_account or self.unknown_account is None:
            self.unknown_account = unknown
        if self.reads_account:
            self.base = accepted

    def _try_without_credentials(self, accepted: Observation) -> Asks:
        page = accepted.page
        assert page is not None
        self.anonymous = yield attrs.evolve(
            accepted.probe, purpose="without credentials", has_credentials=False
        )
        response = self.anonymous.response
        if self.anonymous.is_refused and response is not None and response.status != 401:
            # It may have been refused by chance.
            self.anonymous = yield attrs.evolve(
                self.anonymous.probe, purpose="without credentials, again"
            )
        if effect_of(page, self.anonymous) in ("other items", "other page"):
            self.again = yield attrs.evolve(accepted.probe, purpose="with them, again")

    def _read_all(self) -> Asks:
        """Send each of the seven reads, for an account that it accepts."""
        assert self.base is not None
        conventions = self.base.probe.conventions
        known: dict[str, str] = {self.base.probe.operation.namespace: self.base.probe.account_id}
        for operation in READS:
            accounts = [known[operation.namespace]] if operation.namespace in known else None
            for account_id in accounts or self._accounts(operation, known):
                found = self._seen(operation, account_id, conventions)
                if found is None:
                    found = yield Probe(
                        purpose="the shape of this read",
                        operation=operation,
                        account_id=account_id,
                        conventions=conventions,
                    )
                self.reads[operation.full_name] = found
                if found.page is not None:
                    known[operation.namespace] = account_id
                    break

    def _accounts(self, operation: Read, known: dict[str, str]) -> list[str]:
        """The accounts to try, first those that serve no other platform; one if none fits."""
        namespaces = {name.partition(".")[0] for name in self.reads}
        accounts = sorted(self.accounts, key=lambda account: account in known.values())
        return accounts[:1] if operation.namespace in namespaces else accounts

    def _seen(self, operation: Read, account_id: str, place: Conventions) -> Observation | None:
        """An earlier observation of a read, so that it is not sent twice."""
        for seen in self.observations:
            probe = seen.probe
            is_plain = probe.targeting is None and probe.cursor is None and probe.has_credentials
            same = (probe.operation, probe.account_id, probe.conventions)
            if is_plain and same == (operation, account_id, place):
                return seen
        return None

    def _page_to_continue(self) -> Observation | None:
        """The page with the most items of those that have a next one: by items, pages differ."""
        pages = [
            (len(seen.page.ids), seen)
            for seen in self.reads.values()
            if seen.page is not None and seen.page.next is not None
        ]
        return max(pages, key=lambda entry: entry[0])[1] if pages else None
