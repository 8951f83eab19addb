"""Which parameter sets how many items a page has, by experiment.

It is right only if a smaller page has the first items of the usual one, and the page after it those
that follow: a filter, or a limit of the whole listing, does nothing of the kind. If another size
leads past items that are known, the continuation loses some.
"""

from collections.abc import Mapping, Sequence

import attrs

from adclient.survey.candidates import number_of
from adclient.survey.continuation import ASK
from adclient.survey.examination import Examination, Reading
from adclient.survey.observation import Observation, PageView, Probe

# The likely ones first: on short pages, not all can be tried.
NAMES = (
    *("limit", "page_size", "per_page", "pageSize", "size", "perPage", "max_results", "maxResults"),
    *("count", "page[size]", "page[limit]", "page_limit", "first", "top", "take", "rows", "num"),
    *("results_per_page", "items_per_page"),
)
_MOST_GROUPS = 4


def find_page_size(found: Examination) -> None:
    """Find the parameter on the listing with the longest pages, then try it on every read."""
    listings = [each for each in found.accepted if each.search and not each.search.trouble]
    listings.sort(key=_length, reverse=True)
    if not listings or _length(listings[0]) < 3:
        return
    found.no_page_size = "no name for it was found"
    name = found.size_parameter = _search(found, listings[0], NAMES, _length(listings[0]) - 2)
    if not name:
        return
    for reading in listings:
        if reading is listings[0] or _is_set_by(found, reading, name):
            found.page_sizes[reading.name] = _length(reading)
    sizes = {found.page_sizes.get(reading.name) for reading in listings}
    if len(sizes) == 1:
        size = {name: _length(listings[0])}
        rest = [reading for reading in found.accepted if reading not in listings]
        found.is_one_page_size = all(_is_left_alone(found, reading, size) for reading in rest)


def _search(found: Examination, reading: Reading, names: Sequence[str], together: int) -> str:
    """The right one of some names, or none; of several at once, each has a value of its own."""
    first, largest = reading.views[0], _length(reading) - 2
    for start in range(0, min(len(names), _MOST_GROUPS * together), together):
        group = names[start : start + together]
        sizes = {name: largest - place for place, name in enumerate(group)}
        seen = found.ask(_probe(reading, sizes))
        for name, size in sizes.items():
            if _is_shorter(seen, first, size) and _is_set_by(found, reading, name):
                return name
        if together > 1 and (seen.page is None or seen.page.ids != first.ids):
            # One of them is refused, or is a filter; the service may have said which one it knows.
            text = f"{first.next} {first.page} {reading.search and reading.search.control}"
            return _search(found, reading, sorted(names, key=lambda name: name not in text), 1)
    return ""


def _is_set_by(found: Examination, reading: Reading, name: str) -> bool:
    """Whether a parameter alone sets the length of the first pages, and no item is lost."""
    size = _length(reading) - 1
    if size < 1 or reading.search is None or f"`{name}`" == reading.way:
        return False
    seen = found.ask(_probe(reading, {name: size}))
    if not _is_shorter(seen, reading.views[0], size):
        return False
    keys = [key for page in reading.views for key in reading.keys(page)]
    following = _following(found, reading, seen)
    if following != keys[size : 2 * size]:
        if _loses(found, reading, name, keys):
            reading.search.trouble = f"with {name}={size}, a page lacks items that it has otherwise"
            reading.search.step = ASK
        return False
    # What a file suggests is known to change nothing.
    return _is_left_alone(found, reading, {name: size + 1})


def _following(found: Examination, reading: Reading, seen: Observation) -> list[str]:
    """The items of the page after a smaller one."""
    assert reading.search is not None
    assert reading.search.chosen is not None
    probe = reading.search.chosen.probe(seen)
    page = found.ask(attrs.evolve(probe, purpose="the page after it")).page
    return [] if page is None else [*reading.keys(page)]


def _loses(found: Examination, reading: Reading, name: str, keys: list[str]) -> bool:
    """Whether a smaller page leads past items that are known, by a continuation of its own."""
    usual, half = reading.views[0].next, _length(reading) // 2
    # A number may count pages of the usual size.
    sizes = (_length(reading) - 1, half, half + 1) if number_of(usual) is None else ()
    for size in sizes:
        seen = found.ask(_probe(reading, {name: size}))
        if _is_shorter(seen, reading.views[0], size) and seen.view.next != usual:
            following = _following(found, reading, seen)
            if following and following[0] in keys[size + 1 :]:
                return True
    return False


def _is_left_alone(found: Examination, reading: Reading, size: Mapping[str, int]) -> bool:
    """Whether a read returns the same with a page size as without."""
    seen, first = found.ask(_probe(reading, size)).page, reading.views[0]
    return seen is not None and (seen.ids, seen.end) == (first.ids, first.end)


def _probe(reading: Reading, sizes: Mapping[str, int]) -> Probe:
    """The request for a first page with sizes under one or more names."""
    probe, [(name, size), *others] = reading.pages[0].probe, sizes.items()
    return attrs.evolve(
        probe,
        purpose=f"a page size: {'&'.join(f'{name}={size}' for name, size in sizes.items())}",
        conventions=attrs.evolve(probe.conventions, page_size={name: size}, continuation=dict),
        cursor=dict(others) or None,  # whose entries become parameters
        is_needed=False,
    )


def _length(reading: Reading) -> int:
    return len(reading.views[0].ids)


def _is_shorter(seen: Observation, first: PageView, size: int) -> bool:
    """Whether a page has only the first items of another, and is not the last."""
    page = seen.page
    return page is not None and page.end is None and page.ids == first.ids[:size]
