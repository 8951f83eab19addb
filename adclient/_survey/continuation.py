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

from adclient._service.model import Certainty
from adclient._survey.candidates import (
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
from adclient._survey.examination import Candidate, Chain, Effect, Examination, Reading, Search
from adclient._survey.observation import Observation, PageView
from adclient._values.jsontext import dumps
from adclient._values.redact import one_line
from adclient.models import JSON

Way = tuple[Candidate, Chain]

LARGER = "pass an account with more items"
_ASK = "ask the makers of the service (`--markdown` has the questions)"
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
    again = _first_again(found, reading)
    if again is None:
        return
    reading.by_row = again.view.rows == reading.first.view.rows
    reading.expires = again.view.next != reading.first.view.next
    reading.pages = [again]
    ways: list[Way] = []
    hinted: list[str] = []
    for candidate in _candidates(found, reading, hinted):
        if found.left() < reserve + _TO_CONFIRM:
            result.trouble = "too few requests were left to find its continuation"
            result.step = "allow more: `--requests`"
            break
        ways += _tried(found, reading, candidate)
        if ways and _is_acceptable(ways[-1]):
            is_known = candidate.known is not None
            rivals = rivals_of(again.view.next, hinted, is_known=is_known) if candidate.name else []
            rivals += [each.name for each in found.known.values() if each.name]
            names = [name for name in {**dict.fromkeys(rivals)} if f"`{name}`" not in result.tried]
            is_text = candidate.settings.get("follow_next_urls") is False
            for name in _effective(found, reading, names, is_text=is_text):
                ways += _tried(found, reading, by_name(name, is_text=is_text))
            break
    _decide(found, reading, ways)


def read_on(found: Examination, reading: Reading, most: int) -> None:
    """Read a listing to its end, or some pages of it."""
    result = reading.search
    if result is not None and result.chosen is not None:
        pages, most = reading.pages, len(reading.pages) + max(most, 0)
        if reading.expires and pages[-1] not in found.observations[-1:]:
            if most < 2 * len(pages):
                return
            pages = [_fresh(found, reading)]
        effect, reading.pages = follow(found, reading, pages, result.chosen, most)
        if effect not in ("continues", "no items"):
            result.trouble = f"page {len(reading.pages) + 1}: {effect}"
        elif not _fits(result.chosen, reading.pages):
            result.trouble = "its pages skip items, as the continuations show"
        elif ties := _ties(reading):
            result.trouble, result.step = f"{ties}, so items may be missing", _ASK


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


def _first_again(found: Examination, reading: Reading) -> Observation | None:
    """The first page with a younger continuation; None, and trouble, if it is another page."""
    assert reading.search is not None
    again = found.ask(attrs.evolve(reading.first.probe, purpose="the first page, again"))
    if again.page is not None and again.page.ids == reading.views[0].ids:
        return again
    if again.page is None:
        reading.search.trouble = f"the first page, again: {again}"
        reading.search.step = "run the doctor again later"
    else:
        reading.search.trouble = "its pages change from request to request"
        reading.search.step = _ASK
    return None


def _candidates(found: Examination, reading: Reading, hinted: list[str]) -> Iterator[Candidate]:
    """The ways that may be right, the likely ones first; `hinted` becomes the names of hints."""
    result, [page] = reading.search, reading.pages
    assert result is not None
    assert result.form is not None
    is_url, is_followed = as_url(page, found.base_url)
    if is_followed:
        yield FOLLOWED
    for known in [*found.known.values()]:
        if applies(known, result.form):
            yield known
    probe = by_name(WRONG_NAME, is_text=True).probe(page)
    control = attrs.evolve(probe, purpose="a wrong name for the continuation")
    result.control = found.ask(control)
    found.is_strict = result.control.page is None
    if result.control.page is not None and result.control.page.ids != page.view.ids:
        result.trouble, result.step = "its pages change from request to request", _ASK
        return
    yield from special_ways(result.form)
    hinted += hints(page, result.control)
    names = dict.fromkeys(["cursor", *hinted, *likely_names(page)])
    fresh = [name for name in names if f"`{name}`" not in result.tried]
    for name in _effective(found, reading, fresh, is_text=is_url):
        yield by_name(name, is_text=is_url)


def _effective(
    found: Examination, reading: Reading, names: Sequence[str], *, is_text: bool
) -> Iterator[str]:
    """The names that have an effect; a service that ignores others is asked for several at once."""
    if found.is_strict:
        yield from names
        return
    # Brackets make an object of a name that is also sent without them.
    for group in ([n for n in names if "[" not in n], [n for n in names if "[" in n]):
        for at in range(0, len(group), _TOGETHER):
            yield from _effective_in(found, reading, group[at : at + _TOGETHER], is_text=is_text)


def _effective_in(
    found: Examination, reading: Reading, names: Sequence[str], *, is_text: bool
) -> Iterator[str]:
    assert reading.search is not None
    if len(names) < 2:
        yield from names
        return
    page = _fresh(found, reading)
    together = Candidate(", ".join(names), {"continuation": dict})
    seen = found.ask(together.probe(page, dict.fromkeys(names, page.view.next)))
    if seen.page is not None and seen.page.ids == page.view.ids:
        reading.search.tried |= {f"`{name}`": "same items" for name in names}
        return
    half = len(names) // 2
    yield from _effective_in(found, reading, names[:half], is_text=is_text)
    yield from _effective_in(found, reading, names[half:], is_text=is_text)


def _fresh(found: Examination, reading: Reading) -> Observation:
    """The first page, requested again if its continuation may have expired."""
    page = reading.pages[0]
    if reading.expires and page not in found.observations[-_OLD:]:
        again = found.ask(attrs.evolve(page.probe, purpose="a younger continuation"))
        if again.page is not None and again.page.ids == page.view.ids:
            reading.pages = [again]
    return reading.pages[0]


def _tried(found: Examination, reading: Reading, candidate: Candidate) -> list[Way]:
    """The way of a candidate if it continues a listing, or leads to its empty last page."""
    assert reading.search is not None
    effect, pages = follow(found, reading, [_fresh(found, reading)], candidate, _TO_CONFIRM)
    reading.search.tried[candidate.label] = effect
    is_empty_end = effect == "no items" and candidate.known and pages[-1].view.end is not None
    return [(candidate, pages)] * (effect == "continues" or bool(is_empty_end))


def _effect(reading: Reading, pages: Chain, seen: Observation) -> Effect:
    """What a request that was to continue some pages brought."""
    page = seen.page
    earlier = [each.view for each in pages]
    if page is None:
        return "refused" if seen.is_refused else "no evidence"
    if page.ids and reading.keys(page) == reading.keys(earlier[0]):
        return "same items"
    if any(set(reading.keys(page)) & set(reading.keys(each)) for each in earlier):
        return "overlap"
    if page.end is None and any(page.next == each.next for each in earlier):
        return "does not move on"
    return "continues" if page.ids else "no items"


def _decide(found: Examination, reading: Reading, ways: list[Way]) -> None:
    """Choose the way that loses no items, by reading each to its end if there are several."""
    result = reading.search
    assert result is not None
    labels = " and ".join(candidate.label for candidate, _ in ways)
    is_evident = any(_certainty(*way) == "observed" for way in ways)
    lost: list[Candidate] = []
    if len(ways) > 1:
        chains = [(each, _compared(found, reading, each)) for each, _ in ways]
        keys = [{key for seen in pages for key in reading.keys(seen.view)} for _, pages in chains]
        most = set[str]().union(*keys)
        lost = [each for (each, _), own in zip(chains, keys, strict=True) if own != most]
        kept = [way for way, own in zip(chains, keys, strict=True) if own == most]
        ways = [way for way in kept if len(way[1]) > 1]
        is_evident = is_evident and not lost
    ways = [way for way in ways if _is_acceptable(way)]
    sure = [way for way in ways if not _skips(found, reading, way)]
    if sure:
        result.chosen, reading.pages = sure[0]
        result.trouble = result.step = ""
        is_proven = is_evident and (result.control or not result.chosen.name)
        result.certainty = "observed" if is_proven else result.chosen.known or "likely"
        result.equal = [each._replace(known=result.certainty) for each, _ in sure]
        _learn(found, result, lost)
    elif ways:
        result.trouble = f"with {labels}, pages skip items: a value beside `next` leads to one"
        result.step = _ASK
    elif labels:
        result.trouble, result.step = f"whether {labels} loses items is not certain", LARGER
    elif overlapping := [label for label, it in result.tried.items() if it == "overlap"]:
        result.trouble = f"with {overlapping[0]}, pages overlap, so items come twice"
        result.step = _ASK
    elif not result.trouble:
        result.trouble = f"no way to continue it was found, of {len(result.tried)}"


def _learn(found: Examination, result: Search, lost: list[Candidate]) -> None:
    """Keep the ways that may continue other listings, and give up those that lose items."""
    found.known |= {each.label: each for each in result.equal}
    labels = {each.label for each in lost}
    for label in labels:
        found.known.pop(label, None)
    for other in [each.search for each in found.readings.values() if each.search is not None]:
        better = [each for each in other.equal if each.label not in labels]
        if other.chosen is not None and other.chosen.label in labels and better:
            other.chosen = better[0]


def _compared(found: Examination, reading: Reading, candidate: Candidate) -> Chain:
    """The pages to which a way leads from the first one; only that if it goes wrong."""
    effect, pages = follow(found, reading, [_fresh(found, reading)], candidate, _TO_COMPARE)
    return pages if effect == "continues" else pages[:1]


def _skips(found: Examination, reading: Reading, way: Way) -> bool:
    """Whether a neighbour of a continuation leads to an item between two pages.

    Such as of a time that several items share, or of a number that the name takes for another.
    """
    candidate, pages = way
    first, second = pages[0].view, pages[1].view
    if candidate.known or not candidate.name or not second.ids:
        return False
    for value in _neighbours(pages):
        probe = attrs.evolve(
            candidate.probe(pages[0], value), purpose="a value beside it", is_needed=False
        )
        page = found.ask(probe).page
        keys = () if page is None else reading.keys(page)
        start = reading.keys(second)[0]
        at = keys.index(start) if start in keys else 0
        if at > 0 and keys[at - 1] not in reading.keys(first):
            return True
    return False


def _neighbours(pages: Chain) -> list[JSON]:
    """The values beside a continuation that does not count exactly."""
    value = pages[0].view.next
    number = number_of(value)
    if number is not None and not _counts(pages, by_page=True) and _steps(pages) != {0}:
        near = [number - 1, *([number + 1] if number > _MOST_COUNTED else ())]
        return [str(each) if isinstance(value, str) else each for each in near if each >= 0]
    if isinstance(value, str) and (time := _TIME.match(value)):
        at, second = datetime.fromisoformat(time[0]), timedelta(seconds=1)
        return [
            f"{each:%Y-%m-%d}{value[10]}{each:%H:%M:%S}{value[19:]}"
            for each in (at - second, at + second)
        ]
    return []


def _ties(reading: Reading) -> str:
    """Which field of the last item of a page a continuation is, if items share its value."""
    following = [page for page in reading.views if page.end is None and page.items]
    if len(following) < 2 or _steps(reading.pages) == {0}:
        return ""
    last = [dict(fields_of(page.items[-1])) for page in following]
    items = [dict(fields_of(item)) for page in reading.views for item in page.items]
    for path in last[0].keys() - {"", "id"}:
        is_next = all(
            str(each.get(path)) == str(page.next)
            for each, page in zip(last, following, strict=True)
        )
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
