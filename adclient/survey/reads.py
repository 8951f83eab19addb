"""The checks of a read."""

from collections import Counter
from collections.abc import Iterator

import attrs

from adclient._values.jsontext import dumps, kind_of
from adclient.extend import Operation
from adclient.models import JSON
from adclient.survey.checks import Verdict
from adclient.survey.observation import Observation
from adclient.survey.run import Found, Run, UnsentError

MOST_PAGES = 100
UNKNOWN_ACCOUNT = "adclient-conform-unknown"

_ENDS = {"null": "null", "missing": "missing", "empty": "an empty text", "false": "false"}
_VALUES: dict[str, list[JSON]] = {"date_range": ["LAST_30_DAYS"], "targeting": [{}]}
_HOW_TO_CONTINUE = (
    "the interface does not show how `page.next` is passed back: `adclient doctor` finds it out"
)


@attrs.frozen(repr=False)
class Listing:
    """The pages of a read, as far as they lead, and what follows for `page.next`."""

    pages: list[Observation]
    verdict: Verdict
    seen: str

    @property
    def is_whole(self) -> bool:
        """Whether it was read to its end, however that is marked."""
        return self.seen in _ENDS.values()

    @property
    def items(self) -> Iterator[tuple[str, JSON]]:
        """Each item, and where it is."""
        for number, page in enumerate(self.pages, 1):
            for index, item in enumerate(page.items or ()):
                yield f"page {number}, data[{index}]", item


def check_read(run: Run, operation: Operation) -> Iterator[Found]:
    """Run the checks of a read with the account that fits it best."""
    account_id, first = _accepted(run, operation)
    if first.is_refused and first.status != 405:
        run.refused[operation] = first  # the other reads show whether it is of another platform
        return
    yield "HTTP status", first.status == 200, first.text
    if not first.is_success:
        return
    yield "body", isinstance(first.body, dict), first.kind
    if isinstance(first.body, dict):
        listing = read_listing(run, operation, account_id, first)
        yield "page.next", listing.verdict, listing.seen
        yield from _check_shape(listing)
        yield from _check_parameters(run, operation, account_id, listing)
    received = run.ask(operation, {})
    yield refusal("without account_id", received, is_wrong=received.is_success)
    received = run.ask(operation, {"account_id": UNKNOWN_ACCOUNT})
    if received.is_success and received.items == []:
        yield "unknown account_id", True, "no items"
    else:
        is_wrong = received.is_success and received.items is not None
        yield refusal("unknown account_id", received, is_wrong=is_wrong)
    if isinstance(first.body, dict):
        run.reasons[operation.full_name] = "there are no items"


def refusal(name: str, received: Observation, *, is_wrong: bool) -> Found:
    """What follows from a request that should be refused; with which status is open."""
    right: Verdict = "passed" if received.is_refused else "open"
    return name, "failed" if is_wrong else right, received.text


def _accepted(run: Run, operation: Operation) -> tuple[str, Observation]:
    """The account whose response says most, best with items, and that response."""
    found: list[tuple[str, Observation]] = []
    platform = operation.namespace
    for account_id in sorted(run.accounts, key=lambda each: (platform, each) not in run.accepted):
        received = run.ask(operation, {"account_id": account_id})
        if received.is_success:
            run.accepted.add((platform, account_id))
        if received.items:
            return account_id, received
        found.append((account_id, received))
    return max(found, key=lambda each: each[1].is_success - each[1].is_refused)


def read_listing(run: Run, operation: Operation, account_id: str, first: Observation) -> Listing:
    """Read a listing from its first page to its end, or as far as it leads."""
    pages: list[Observation] = []
    cursors: list[JSON] = []
    received = first
    while True:
        number = len(pages) + 1
        if not received.is_success:
            problem = f"page {number}: {received.text}; {_HOW_TO_CONTINUE}"
            return Listing(pages, "open" if received.is_refused else "failed", problem)
        leads_on = received.fields.get("page") != first.fields.get("page")
        if pages and _ids(received) == _ids(first) and (first.items or not leads_on):
            problem = f"page {number} is the first page again; {_HOW_TO_CONTINUE}"
            return Listing(pages, "open", problem)
        pages.append(received)
        page = received.fields.get("page")
        if not isinstance(page, dict):
            return Listing(pages, "not run", f"page {number} has no object `page`")
        if (end := received.end) is not None:
            return Listing(pages, "passed" if end == "null" else "failed", _ENDS[end])
        if page["next"] in cursors:
            return Listing(pages, "failed", f"page {number} leads back to an earlier page")
        if number == MOST_PAGES:
            return Listing(pages, "not run", f"not read to its end, but {number} pages")
        cursors.append(page["next"])
        try:
            received = run.ask(operation, {"account_id": account_id}, page["next"])
        except UnsentError as error:
            return Listing(pages, "open", f"page {number + 1}: {error}")


def _ids(page: Observation) -> list[JSON]:
    """The ids of the items of a page; what else they contain may change with the time."""
    return [item.get("id", item) if isinstance(item, dict) else item for item in page.items or ()]


def _check_shape(listing: Listing) -> Iterator[Found]:
    pages = [(f"page {number}", page.fields) for number, page in enumerate(listing.pages, 1)]
    yield _typed("page", dict, pages)
    found = _typed("data", list, pages)
    odd = next((pair for pair in listing.items if not isinstance(pair[1], dict)), None)
    yield found if odd is None else ("data", False, f"{odd[0]}: {kind_of(odd[1])}")
    items = [(place, item) for place, item in listing.items if isinstance(item, dict)]
    if items:
        for name in ("data.id", "data.name", "data.status"):
            yield _typed(name, str, items)
        ids = Counter(str(item["id"]) for _, item in items if item.get("id"))
        most = max(ids, key=ids.__getitem__, default="none")
        rows = Counter(dumps(item, "data", errors="backslashreplace") for _, item in items)
        # Other rows of one id may be those of other days.
        is_open = ids[most] > 1 and max(rows.values()) == 1
        seen = f"{most}: {ids[most]} of {len(items)} items"
        yield "distinct ids", "open" if is_open else ids[most] < 2, seen


def _typed(name: str, kind: type, places: list[tuple[str, dict[str, JSON]]]) -> Found:
    """Whether each of some objects has a field of a type."""
    field = name.removeprefix("data.")
    for place, fields in places:
        value = fields.get(field)
        if not isinstance(value, kind) or (field == "id" and value == ""):
            return name, False, f"{place}: {kind_of(value) if field in fields else 'missing'}"
    return name, True, f"in all {len(places)}"


def _check_parameters(
    run: Run, operation: Operation, account_id: str, listing: Listing
) -> Iterator[Found]:
    """Check that optional parameters are accepted, as far as there is a value for them."""
    ids = [item["id"] for _, item in listing.items if isinstance(item, dict) and "id" in item]
    for parameter in operation.parameters[1:]:
        for value in _VALUES.get(parameter.name, ids[:1]):
            received = run.ask(operation, {"account_id": account_id, parameter.name: value})
            # The inside of `targeting` and the id of a creative are guesses.
            is_guess = parameter.name in ("targeting", "creative_id")
            is_right = received.status == 200 and received.items is not None
            is_open = received.is_refused and is_guess
            yield f"with {parameter.name}", "open" if is_open else is_right, received.text
