"""How a listing continues: which value, under which name, by experiment.

A way is right only if it leads to items that no earlier page has, moves on from page to page,
counts as its name says, and if a wrong name does nothing of the kind. Of two ways that lead to
different pages, one loses items.
"""

import re
from itertools import accumulate

import attrs

from adclient._service.model import Certainty
from adclient._survey.candidates import (
    COUNTING,
    FEW_RIVALS,
    FEW_TOKEN_RIVALS,
    PAGE_NAMES,
    RIVALS,
    TOKEN_RIVALS,
    WRONG_NAME,
    by_name,
    candidates,
    hints,
    next_of,
    number_of,
)
from adclient._survey.examination import Candidate, Chain, Effect, Examination, Reading, Search
from adclient._survey.observation import Observation, PageView
from adclient._values.jsontext import dumps
from adclient.models import JSON

Way = tuple[Candidate, Chain]

_LARGER = "pass an account with more items"
_MOST_COUNTED = 100_000  # larger numbers count neither pages nor items
_TO_CONFIRM = 3  # pages
_TO_COMPARE = 20


def search(found: Examination, reading: Reading, reserve: int) -> None:
    """Find out how a listing continues, and read up to three pages of it."""
    page = reading.first.view
    result = reading.search = Search(next_of(page.next, found.base_url))
    if result.form is None:
        result.trouble = "`next` is no text, number or object"
        return
    probe = by_name(WRONG_NAME, is_text=True).probe(reading.first)
    result.control = found.ask(attrs.evolve(probe, purpose="a wrong name for the continuation"))
    # The younger continuation: some expire.
    again = found.ask(attrs.evolve(reading.first.probe, purpose="the first page, again"))
    if again.page is None:
        result.trouble = f"the first page, again: {again}"
        result.step = "run the doctor again later"
        return
    for seen in (again, result.control):
        if seen.page is not None and seen.page.ids != page.ids:
            result.trouble = "its pages change from request to request"
            result.step = "ask the makers of the service (`--markdown` has the questions)"
            return
    reading.pages = [again]
    ways: list[Way] = []
    rivals: frozenset[str] | None = None  # all, until a way is found
    for candidate in candidates(found, again, result):
        if rivals is not None and candidate.name not in rivals:
            continue
        if found.left() < reserve + _TO_CONFIRM:
            result.trouble = "too few requests were left to find its continuation"
            result.step = "allow more: `--requests`"
            return
        effect, pages = _follow(found, [again], candidate, _TO_CONFIRM)
        result.tried[candidate.label] = effect
        if effect == "no items" and candidate.known and not ways:
            result.trouble = "its second page is empty"
            result.step = _LARGER
            return
        if effect == "continues":
            ways.append((candidate, pages))
            if _is_acceptable(ways[-1]):
                others = _rivals_of(ways[-1], hints(again, result.control))
                rivals = others if rivals is None else rivals & others
    _decide(found, reading, result, ways)


def read_on(found: Examination, reading: Reading, most: int) -> None:
    """Read a listing to its end, or some pages of it."""
    result = reading.search
    if result is not None and result.chosen is not None:
        most = len(reading.pages) + max(most, 0)
        effect, reading.pages = _follow(found, reading.pages, result.chosen, most)
        if not _fits(result.chosen, reading.pages):
            effect = "overlaps or skips"
        if effect != "continues":
            result.trouble = f"page {len(reading.pages) + 1}: {effect}"


def _decide(found: Examination, reading: Reading, result: Search, ways: list[Way]) -> None:
    """Choose the way that loses no items, by reading each to its end if they differ."""
    labels = " and ".join(candidate.label for candidate, _ in ways)
    is_evident = any(_certainty(*way) == "observed" for way in ways)
    if len({_ids(pages) for _, pages in ways}) > 1:
        is_evident, compared = False, list[Way]()
        for candidate, start in ways:
            effect, pages = _follow(found, start, candidate, _TO_COMPARE)
            if effect == "continues":
                compared.append((candidate, pages))
        items = [{each for ids in _ids(pages) for each in ids} for _, pages in compared]
        most = set[str]().union(*items)
        ways = [way for way, ids in zip(compared, items, strict=True) if ids == most]
    ways = [way for way in ways if _is_acceptable(way)]
    if not ways:
        result.trouble = f"no way to continue it was found, of {len(result.tried)}"
        if labels:
            result.trouble = f"whether {labels} loses items is not certain"
            result.step = _LARGER
        return
    result.chosen, reading.pages = ways[0]
    assert result.control is not None
    is_proven = is_evident and (result.control.is_refused or result.control.page is not None)
    result.certainty = "observed" if is_proven else result.chosen.known or "likely"
    found.known[result.chosen.label] = result.chosen._replace(known=result.certainty)


def _ids(pages: Chain) -> tuple[tuple[str, ...], ...]:
    return tuple(seen.view.ids for seen in pages)


def _follow(
    found: Examination, pages: Chain, candidate: Candidate, most: int
) -> tuple[Effect, Chain]:
    """Continue a listing in one way, up to a number of pages, its end, or what is wrong."""
    pages = list(pages)
    is_right = len(pages) > 1
    while len(pages) < most and found.left() > 0 and pages[-1].view.end is None:
        seen = found.ask(candidate.probe(pages[-1]))
        effect = _effect(pages, seen)
        if effect not in ("continues", "no items"):
            return effect, pages
        is_right = is_right or effect == "continues"
        pages.append(seen)
    return "continues" if is_right else "no items", pages


def _effect(pages: Chain, seen: Observation) -> Effect:
    """What a request that was to continue some pages brought."""
    page = seen.page
    earlier = [each.view for each in pages]
    if page is None:
        return "refused" if seen.is_refused else "no evidence"
    if page.ids and page.ids == earlier[0].ids:
        return "same items"
    if any(set(page.ids) & set(each.ids) for each in earlier):
        return "overlaps or skips"
    if page.end is None and any(page.next == each.next for each in earlier):
        return "does not move on"
    return "continues" if page.ids else "no items"


def _fits(candidate: Candidate, pages: Chain) -> bool:
    """Whether no item is skipped, as far as the continuation shows it."""
    first, second = pages[0].view, pages[1].view
    if isinstance(first.next, str) and re.search("[g-z]", _pattern(first.next)):
        # The id of an item that is on no page: that item was skipped.
        return not _is_like_ids(first) or _names_item(first, second)
    name = candidate.name
    return name not in COUNTING or _counts(pages, by_page=name in PAGE_NAMES)


def _rivals_of(way: Way, hinted: list[str]) -> frozenset[str]:
    """The names to try beside a way: the way may be an old one, that loses items."""
    candidate, pages = way
    first = pages[0].view
    is_number = number_of(first.next) is not None or isinstance(first.next, float)
    if not candidate.name or (is_number and _certainty(*way) == "observed"):
        return frozenset()
    if candidate.known:
        return FEW_RIVALS if is_number else FEW_TOKEN_RIVALS
    return RIVALS if is_number else TOKEN_RIVALS | {*hinted}


def _is_acceptable(way: Way) -> bool:
    return _fits(*way) and (way[0].known is not None or _certainty(*way) != "not observed")


def _counts(pages: Chain, *, by_page: bool) -> bool:
    views = [seen.view for seen in pages]
    numbers = [number_of(page.next) for page in views if page.end is None]
    totals = accumulate(1 if by_page else len(page.items) for page in views)
    # Pages are counted from 0 or 1, and so are items.
    steps = {
        total - number for number, total in zip(numbers, totals, strict=False) if number is not None
    }
    return steps <= {0} or steps == {-1} or numbers[0] is None


def _certainty(candidate: Candidate, pages: Chain) -> Certainty:
    """How certain it is that no other way leads to other pages; if not at all, all are tried.

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
    is_counted = _counts(pages, by_page=True) or _counts(pages, by_page=False)
    is_shown = second.end is None and (is_counting or last.end is None or len(first.items) > 2)
    if is_counted and is_shown:
        return "observed"
    is_other = number > _MOST_COUNTED or _names_number(number, first, second)
    return "likely" if is_counting or is_other else "not observed"


def _names_number(number: int, first: PageView, second: PageView) -> bool:
    """Whether the id of the last item of a page, or of the next one, ends with a number."""
    ids = (*first.ids[-1:], *second.ids[:1])
    return any(re.search(rf"(?<!\d){number}\"?$", each) for each in ids)


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
