"""How a listing continues: which value, under which name, by experiment.

A way is right only if it leads to items that no earlier page has, moves on from page to page,
counts as its name says, and if a wrong name does nothing of the kind. Of several ways, which may
lose items, the one that leads to all of them is right.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import accumulate

import attrs

from adclient._service.model import Certainty, Next
from adclient._values.jsontext import dumps
from adclient._values.redact import one_line
from adclient.models import JSON
from adclient.survey.candidates import (
    COUNTING,
    FOLLOWED,
    PAGE_NAMES,
    WRONG_NAME,
    applies,
    as_url,
    by_name,
    hints,
    likely_names,
    next_of,
    number_of,
    rivals_of,
    special_ways,
)
from adclient.survey.examination import Candidate, Chain, Effect, Examination, Reading, Search
from adclient.survey.observation import Observation, PageView

Way = tuple[Candidate, Chain]

LARGER = "pass an account with more items"
ASK = "ask the makers of the service (`--markdown` has the questions)"
_MOST_COUNTED = 100_000  # larger numbers count neither pages nor items
_TO_CONFIRM = 3  # pages
_TO_COMPARE = 20
_TOGETHER = 8  # names in one request
_OLD = 3  # requests, after which a continuation that expires is not used
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")


def search(found: Examination, reading: Reading, reserve: int) -> None:
    """Find out how a listing continues, and read up to three pages of it."""
    result = reading.search = Search(next_of(reading.views[0].next, found.base_url))
    if result.form is None:
        result.trouble = "`next` is no text, number or object"
        return
    first = reading.first.view
    again = found.ask(attrs.evolve(reading.first.probe, purpose="the first page, again"))
    if again.page is None:
        result.trouble, result.step = (
            f"the first page, again: {again}",
            "run the doctor again later",
        )
    elif again.page.ids != first.ids:
        result.trouble = "its pages change from request to request"
        result.step = ASK
    else:
        reading.by_row = again.page.rows == first.rows
        reading.expires = again.page.next != first.next
        reading.pages = [again]
        _Trial(found, reading, result, result.form).run(reserve)


def read_on(found: Examination, reading: Reading, most: int) -> None:
    """Read a listing to its end, or some pages of it."""
    result, pages = reading.search, reading.pages
    if result is None or result.chosen is None:
        return
    if reading.expires and pages[-1] not in found.observations[-1:]:
        pages = [fresh(found, reading)]
    end = len(reading.pages) + max(most, 0)
    effect, reading.pages = follow(found, reading, pages, result.chosen, end)
    if effect not in ("continues", "no items"):
        result.trouble = f"page {len(reading.pages) + 1}: {effect}"
    elif not _fits(result.chosen, reading.pages):
        result.trouble = "its pages skip items, as the continuations show"
    elif ties := _ties(reading):
        result.trouble, result.step = f"{ties}, so items may be missing", ASK


def follow(
    found: Examination, reading: Reading, pages: Chain, candidate: Candidate, most: int
) -> tuple[Effect, Chain]:
    """Continue a listing in one way, up to a number of pages, its end, or what is wrong."""
    pages = list(pages)
    is_right = len(pages) > 1
    while len(pages) < most and found.left() > 0 and pages[-1].view.end is None:
        seen = found.ask(candidate.probe(pages[-1]))
        effect = _effect(reading, pages, seen)
        if effect not in ("continues", "no items"):
            return effect, pages
        is_right = is_right or effect == "continues"
        pages.append(seen)
    return "continues" if is_right else "no items", pages


def fresh(found: Examination, reading: Reading) -> Observation:
    """The first page, requested again if its continuation may have expired."""
    page = reading.pages[0]
    if reading.expires and page not in found.observations[-_OLD:]:
        again = found.ask(attrs.evolve(page.probe, purpose="a younger continuation"))
        reading.pages = [again if _ids(again) == page.view.ids else page]
    return reading.pages[0]


def _ids(seen: Observation) -> tuple[str, ...] | None:
    return None if seen.page is None else seen.page.ids


def _effect(reading: Reading, pages: Chain, seen: Observation) -> Effect:
    """What a request that was to continue some pages brought."""
    page = seen.page
    if page is None:
        return "refused" if seen.is_refused else "no evidence"
    keys, earlier = reading.keys(page), [each.view for each in pages]
    if page.ids and keys == reading.keys(earlier[0]):
        return "same items"
    if any(set(keys) & set(reading.keys(each)) for each in earlier):
        return "overlap"
    if page.end is None and any(page.next == each.next for each in earlier):
        return "does not move on"
    return "continues" if page.ids else "no items"


@attrs.define(eq=False, repr=False)
class _Trial:
    """The search of one listing: the ways that were tried, and those that continue it."""

    found: Examination
    reading: Reading
    result: Search
    form: Next
    hinted: list[str] = attrs.field(factory=list[str])
    ways: list[Way] = attrs.field(factory=list[Way])

    def run(self, reserve: int) -> None:
        """Try the ways until one is right, then its rivals, and decide."""
        for candidate in self._candidates():
            if self.found.left() < reserve + _TO_CONFIRM:
                self.result.trouble = "too few requests were left to find its continuation"
                self.result.step = "allow more: `--requests`"
                break
            if self._try(candidate) and _is_acceptable(self.ways[-1]):
                self._try_rivals(candidate)
                break
        self._decide()

    def _candidates(self) -> Iterator[Candidate]:
        """The ways that may be right, the likely ones first."""
        result, page = self.result, self.reading.pages[0]
        is_url, is_followed = as_url(page, self.found.base_url)
        if is_followed:
            yield FOLLOWED
        yield from [each for each in self.found.known.values() if applies(each, self.form)]
        probe = by_name(WRONG_NAME, is_text=True).probe(fresh(self.found, self.reading))
        wrong = attrs.evolve(probe, purpose="a wrong name for the continuation")
        result.control = self.found.ask(wrong)
        # An unknown name may be a filter, too.
        self.found.is_strict = _ids(result.control) != page.view.ids
        yield from special_ways(self.form)
        self.hinted = hints(page, result.control)
        for name in self._effective(["cursor", *self.hinted, *likely_names(page)]):
            yield by_name(name, is_text=is_url)

    def _try_rivals(self, right: Candidate) -> None:
        """Try what may be right as well, beside a way that is: one of them may lose items."""
        if right.name:
            value, is_known = self.reading.views[0].next, right.known is not None
            names = rivals_of(value, self.hinted, is_known=is_known)
            names += [each.name for each in self.found.known.values() if each.name]
            is_text = right.settings.get("follow_next_urls") is False
            for name in self._effective(names):
                self._try(by_name(name, is_text=is_text))

    def _effective(self, names: Sequence[str]) -> Iterator[str]:
        """The names that have an effect; several are tried at once if others are ignored."""
        new = [name for name in dict.fromkeys(names) if f"`{name}`" not in self.result.tried]
        if self.found.is_strict:
            yield from new
            return
        # Brackets make an object of a name that is also sent without them.
        for group in ([n for n in new if "[" not in n], [n for n in new if "[" in n]):
            for at in range(0, len(group), _TOGETHER):
                yield from self._effective_of(group[at : at + _TOGETHER])

    def _effective_of(self, names: Sequence[str]) -> Iterator[str]:
        if len(names) > 1:
            page = fresh(self.found, self.reading)
            together = Candidate(", ".join(names), {"continuation": dict})
            seen = self.found.ask(together.probe(page, dict.fromkeys(names, page.view.next)))
            if _ids(seen) == page.view.ids:
                self.result.tried.update((f"`{name}`", "same items") for name in names)
                return
            half = len(names) // 2
            yield from self._effective_of(names[:half])
            yield from self._effective_of(names[half:])
        else:
            yield from names

    def _try(self, candidate: Candidate) -> bool:
        """Whether a candidate continues the listing, or leads to its empty last page."""
        effect, pages = self._follow(candidate, _TO_CONFIRM)
        self.result.tried[candidate.label] = effect
        is_end = effect == "no items" and candidate.known and pages[-1].view.end is not None
        is_way = effect == "continues" or bool(is_end)
        self.ways += [(candidate, pages)] * is_way
        return is_way

    def _follow(self, candidate: Candidate, most: int) -> tuple[Effect, Chain]:
        first = fresh(self.found, self.reading)
        return follow(self.found, self.reading, [first], candidate, most)

    def _decide(self) -> None:
        """Choose the way that loses no items, by reading each to its end if there are several."""
        result, ways = self.result, self.ways
        labels = " and ".join(candidate.label for candidate, _ in ways)
        is_evident = any(_certainty(*way) == "observed" for way in ways)
        lost: set[str] = set()
        if len(ways) > 1:
            ways, lost = self._compared()
        ways = [way for way in ways if _is_acceptable(way)]
        sure = [way for way in ways if not self._skips(*way)]
        if sure:
            result.chosen, self.reading.pages = sure[0]
            result.trouble = result.step = ""
            is_proven = is_evident and not lost and (result.control or not result.chosen.name)
            result.certainty = "observed" if is_proven else result.chosen.known or "likely"
            result.equal = [each._replace(known=result.certainty) for each, _ in sure]
            self._learn(lost)
        elif ways:
            result.trouble = f"with {labels}, pages skip items: a value beside `next` leads to one"
            result.step = ASK
        elif labels:
            result.trouble, result.step = f"whether {labels} loses items is not certain", LARGER
        elif overlapping := [label for label, it in result.tried.items() if it == "overlap"]:
            result.trouble = f"with {overlapping[0]}, pages overlap, so items come twice"
            result.step = ASK
        elif not result.trouble:
            result.trouble = f"no way to continue it was found, of {len(result.tried)}"

    def _compared(self) -> tuple[list[Way], set[str]]:
        """The ways that lead to all items, and the labels of those that do not."""
        chains: list[tuple[Candidate, Chain, set[str]]] = []
        for candidate, _ in self.ways:
            effect, pages = self._follow(candidate, _TO_COMPARE)
            pages = pages if effect == "continues" else pages[:1]
            keys = {key for seen in pages for key in self.reading.keys(seen.view)}
            chains.append((candidate, pages, keys))
        most = set[str]().union(*(keys for _, _, keys in chains))
        lost = {candidate.label for candidate, _, keys in chains if keys != most}
        return [(each, it) for each, it, keys in chains if keys == most and len(it) > 1], lost

    def _learn(self, lost: set[str]) -> None:
        """Keep the ways that may continue other listings, and give up those that lose items."""
        self.found.known |= {each.label: each for each in self.result.equal}
        for label in lost:
            self.found.known.pop(label, None)
        for other in [each.search for each in self.found.readings.values() if each.search]:
            better = [each for each in other.equal if each.label not in lost]
            if other.chosen is not None and other.chosen.label in lost and better:
                other.chosen = better[0]

    def _skips(self, candidate: Candidate, pages: Chain) -> bool:
        """Whether a value beside a continuation leads to an item between two pages.

        Such as of a time that several items share, or of a number that is taken for another.
        """
        first, second = pages[0].view, pages[1].view
        if candidate.known or not candidate.name or not second.ids:
            return False
        start = self.reading.keys(second)[0]
        for value in _neighbours(pages):
            probe = attrs.evolve(candidate.probe(pages[0], value), is_needed=False)
            page = self.found.ask(attrs.evolve(probe, purpose="a value beside `next`")).page
            keys = () if page is None else self.reading.keys(page)
            at = keys.index(start) if start in keys else 0
            if at > 0 and keys[at - 1] not in self.reading.keys(first):
                return True
        return False


def _neighbours(pages: Chain) -> list[JSON]:
    """The values beside a continuation that does not count exactly."""
    value = pages[0].view.next
    number = number_of(value)
    if number is not None and not _counts(pages, by_page=True) and _steps(pages) != {0}:
        near = [number - 1, *([number + 1] if number > _MOST_COUNTED else ())]
        return [str(each) if isinstance(value, str) else each for each in near]
    if isinstance(value, str) and (time := _TIME.match(value)):
        at, second = datetime.fromisoformat(time[0]), timedelta(seconds=1)
        near_times = [(at + step).isoformat(value[10]) for step in (-second, second)]
        return [f"{each}{value[19:]}" for each in near_times]
    return []


def _ties(reading: Reading) -> str:
    """Which field of the last item of a page a continuation is, if items share its value."""
    following = [page for page in reading.views if page.end is None and page.items]
    if len(following) < 2 or _steps(reading.pages) == {0}:
        return ""
    last = [dict(fields_of(page.items[-1])) for page in following]
    items = [dict(fields_of(item)) for page in reading.views for item in page.items]
    for path in last[0].keys() - {"", "id"}:
        ends = [str(each.get(path)) for each in last]
        is_next = ends == [str(page.next) for page in following]
        if is_next and len({str(each.get(path)) for each in items}) < len(items):
            return f"`next` is the `{one_line(path, 40)}` of an item, which others share"
    return ""


def fields_of(value: JSON, path: str = "", depth: int = 3) -> Iterator[tuple[str, JSON]]:
    """What an object contains, by the paths to it."""
    if isinstance(value, dict) and depth:
        for name, each in value.items():
            yield from fields_of(each, f"{path}.{name}" if path else name, depth - 1)
    else:
        yield path, value


def _fits(candidate: Candidate, pages: Chain) -> bool:
    """Whether no item is skipped, as far as the continuation shows it."""
    first, second = pages[0].view, pages[1].view
    if not second.ids:
        return True
    if isinstance(first.next, str) and re.search("[g-z]", _pattern(first.next)):
        # The id of an item that is on no page: that item was skipped.
        return not _is_like_ids(first) or _names_item(first, second)
    name = candidate.name
    return name not in COUNTING or _counts(pages, by_page=name in PAGE_NAMES)


def _is_acceptable(way: Way) -> bool:
    return _fits(*way) and (way[0].known is not None or _certainty(*way) != "not observed")


def _steps(pages: Chain, *, by_page: bool = False) -> set[int]:
    """By how much continuations differ from the pages, or the items, until there."""
    views = [seen.view for seen in pages]
    numbers = [number_of(page.next) for page in views if page.end is None]
    totals = accumulate(1 if by_page else len(page.items) for page in views)
    pairs = zip(numbers, totals, strict=False)
    return {total - number for number, total in pairs if number is not None}


def _counts(pages: Chain, *, by_page: bool) -> bool:
    """Whether continuations count from 0 or 1; nothing contradicts it if they are no numbers."""
    steps = _steps(pages, by_page=by_page)
    return steps <= {0} or steps == {-1} or number_of(pages[0].view.next) is None


def _certainty(candidate: Candidate, pages: Chain) -> Certainty:
    """How certain it is that no other way leads to other pages.

    A parameter may take a number, or an id, for something else than the service means by it.
    """
    first, second, last = pages[0].view, pages[1].view, pages[-1].view
    number, is_counting = number_of(first.next), candidate.name in COUNTING
    if not _fits(candidate, pages):
        return "not observed"
    if not candidate.name or isinstance(first.next, dict):
        return "observed"
    if isinstance(first.next, float):
        return "likely"
    if number is None:
        return "observed" if not _is_like_ids(first) or _names_item(first, second) else "likely"
    # A page that is not the last shows what the service took the number for, by counting on. Of
    # one or two items, a number of pages may also be one of items.
    if not (_counts(pages, by_page=True) or _counts(pages, by_page=False)):
        return "likely"
    is_shown = second.end is None and (is_counting or last.end is None or len(first.items) > 2)
    return "observed" if is_shown else "likely" if is_counting else "not observed"


def _is_like_ids(page: PageView) -> bool:
    """Whether a continuation looks like the id of an item."""
    return {_pattern(each) for each in page.ids} == {_pattern(_text(page.next))}


def _names_item(first: PageView, second: PageView) -> bool:
    """Whether a continuation is the id of the last item of a page, or of the next one."""
    return _text(first.next) in (*first.ids[-1:], *second.ids[:1])


def _text(value: JSON) -> str:
    return dumps(value, "next", errors="backslashreplace")


def _pattern(text: str) -> str:
    return re.sub("[0-9a-f]+", "0", text)
