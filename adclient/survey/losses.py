"""Whether items are missing, as the continuations, smaller pages or the service itself show it."""

import re
from base64 import b64decode
from collections.abc import Iterator, Set
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import accumulate

import attrs

from adclient._service.model import Certainty
from adclient._values.jsontext import JSONError, loads
from adclient._values.redact import one_line
from adclient.models import JSON
from adclient.survey.candidates import COUNTING, PAGE_NAMES, number_of, query_in
from adclient.survey.observation import Observation, texts
from adclient.survey.reading import Candidate, Chain, Examination, Reading

ASK = "ask the makers of the service (`--markdown` has the questions)"
Scalar = str | int | float | None

_MOST_COUNTED = 100_000  # larger numbers count neither pages nor items
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_SIZE = re.compile("limit|size|per_?page|max_?results", re.IGNORECASE)
_HEADER = "header "  # precedes its name
_HEADERS = re.compile("next|cursor|continu|page|total|count")
_RELATION = re.compile(r"""\brel\s*=\s*["']?([^"';,]*)""", re.IGNORECASE)
_MORE_FOLLOWS = re.compile("next|more|remain|truncated|partial|incomplete", re.IGNORECASE)
_MAY_CONTINUE = re.compile(f"{_MORE_FOLLOWS.pattern}|cursor|token|after|continu", re.IGNORECASE)
_NUMBER_FOLLOWS = re.compile(r"(^|\.)next|next$|more|remain", re.IGNORECASE)
_IS_END = re.compile("last|end$|done|complete|final|finished|exhausted", re.IGNORECASE)
_OF_LIMITS = re.compile(r"(^|[._])(rate|quota|retry)", re.IGNORECASE)

# The words of a name that counts what there is, and nothing else.
_COUNTED = {
    *("x", "num", "number", "of", "all", "page", "pages", "item", "items", "result", "results"),
    *("record", "records", "row", "rows", "element", "elements", "entries", "hits", "objects"),
    *("campaign", "campaigns", "ad", "ads", "objectives", "options"),
    *("total", "count", "content", "range"),
}


def certainty_of(candidate: Candidate, pages: Chain) -> Certainty:
    """How certain it is that no other way leads to other pages.

    A parameter may take a number, or an id, for something else than the service means by it.
    """
    first, name = pages[0].view, candidate.name
    if skips(candidate, pages):
        return "not observed"
    if number_of(first.next) is None:
        is_open = isinstance(first.next, float) or _is_foreign_id(pages)
        return "likely" if is_open else "observed"
    if not (_counts(pages, by_page=True) or _counts(pages, by_page=False)):
        return "likely"
    # A page that is not the last shows what the service took the number for, by counting on. Of
    # one or two items, a number of pages may also be one of items.
    following = sum(seen.view.end is None for seen in pages)
    if following > 1 and (name in COUNTING or following > 2 or len(first.items) > 2):
        return "observed"
    return "likely" if name in COUNTING else candidate.known or "not observed"


def skips(candidate: Candidate, pages: Chain) -> bool:
    """Whether the continuations show that an item is on no page."""
    first, name = pages[0].view, candidate.name
    if not pages[1].view.ids:
        return False
    if isinstance(first.next, str) and re.search("[g-z]", _pattern(first.next)):
        return _is_foreign_id(pages)  # of an item that is on no page
    return name in COUNTING and not _counts(pages, by_page=name in PAGE_NAMES)


def has_item_before(
    found: Examination,
    reading: Reading,
    candidate: Candidate,
    pages: Chain,
    *,
    is_first: bool = True,
) -> bool:
    """Whether a value beside a continuation leads to an item between two pages.

    Such as of a time that several items share, or of a number that is taken for another.
    """
    first, second = pages[0].view, pages[1].view
    if not candidate.name or not second.ids:
        return False
    start, before = reading.keys(second)[0], {*reading.keys(first)}
    passed = 0  # pages that begin before that item, and do not come to it
    for value in _neighbours(pages, on_both_sides=is_first):
        probe = candidate.probe(pages[0], value)
        page = found.ask(probe, purpose="a value beside `next`", is_needed=False).page
        keys = () if page is None else reading.keys(page)
        at = keys.index(start) if start in keys else 0
        if at > 0 and keys[at - 1] not in before:
            return True
        passed += start not in keys and len(keys) > 1 and not before.isdisjoint(keys)
    # More items than a page has share this second. On both sides of the first continuation, pages
    # are such only if unknown values lead to the first page.
    return passed == 1 and bool(_TIME.match(str(first.next))) and "." not in str(first.next)


def try_later_pages(found: Examination, reading: Reading, reserve: int) -> None:
    """Report if values beside the continuations of later pages lead to items between pages.

    The first continuation was tried before, unless its way was known from another listing.
    """
    pages, chosen = reading.pages, reading.chosen
    is_number = number_of(pages[0].view.next) is not None
    if chosen is None or (is_number and (_counts(pages, by_page=True) or _steps(pages) <= {0, -1})):
        return
    ids = [each for page in reading.views for each in page.ids]
    is_unique = len({*ids}) == len(ids)
    for at in range(0 if chosen.known else 1, len(pages) - 1):
        is_id = is_unique and texts([pages[at].view.next]) == pages[at].view.ids[-1:]
        if is_id or not _neighbours(pages[at:], on_both_sides=False):
            continue
        if found.session.left() <= reserve:
            reading.trouble = f"whether items are missing was tried for {at} of {len(pages)} pages"
            reading.step = "allow more requests: `--requests`"
        elif has_item_before(found, reading, chosen, pages[at:], is_first=at == 0):
            reading.trouble = "its pages skip items: a value beside `next` leads to one"
            reading.step = ASK
        if reading.trouble:
            return


def _neighbours(pages: Chain, *, on_both_sides: bool) -> list[JSON]:
    """The values beside a continuation that does not count exactly, or that from which it comes."""
    value, later = pages[0].view.next, pages[1].view.next
    number = number_of(value)
    sides = slice(None)
    if not on_both_sides and later is not None:
        sides = slice(1) if str(value) < str(later) else slice(-1, None)
    if number is not None and not _counts(pages, by_page=True) and _steps(pages) != {0}:
        near = [number - 1, *([number + 1] if number > _MOST_COUNTED else ())]
        beside: list[JSON] = [str(each) if isinstance(value, str) else each for each in near]
        return beside[sides]
    if isinstance(value, str) and (time := _TIME.match(value)):
        with suppress(ValueError, OverflowError):  # it is no time, or the first or last one
            at, second = datetime.fromisoformat(time[0]), timedelta(seconds=1)
            near_times = [(at + step).isoformat(value[10]) for step in (-second, second)]
            return [f"{each}{value[19:]}" for each in near_times[sides]]
    return []


def ties(reading: Reading) -> str:
    """Which fields of the last item of a page a continuation is, if items share their values."""
    totals = accumulate(len(page.items) for page in reading.views)
    counted = zip(reading.views, totals, strict=True)
    following = [(page, total) for page, total in counted if page.end is None and page.items]
    last = [{"id": None, **dict(_fields_of(page.items[-1])), "": None} for page, _ in following]
    items = [dict(_fields_of(item)) for page in reading.views for item in page.items]
    nexts = [dict(_fields_of(_spelled(page.next))) for page, _ in following]
    paths: list[str] = []
    for name in nexts[0] if nexts else ():
        values = [str(each.get(name)) for each in nexts]
        # What stays the same does not tell where a page begins, and an offset does so exactly.
        is_offset = [number_of(each) for each in values] == [total for _, total in following]
        if len(set(values)) > 1 and not is_offset:
            found = (path for path in last[0] if [str(each.get(path)) for each in last] == values)
            paths.append(next(found, "id"))
    is_shared = len({tuple(str(each.get(path)) for path in paths) for each in items}) < len(items)
    if paths and "id" not in paths and is_shared:
        what = one_line(" and ".join(paths), 40)
        return f"`next` is the `{what}` of an item, which others share"
    return ""


def _spelled(value: JSON) -> JSON:
    """What a continuation consists of: the query of a URL, or what Base64 or JSON spells."""
    if isinstance(value, str):
        if query := dict(query_in(value)):
            return dict[str, JSON](query)
        with suppress(ValueError, JSONError):
            text = b64decode(value + "=" * (-len(value) % 4), b"-_", validate=True)
            return loads(text) if text[:1] == b"{" else text.decode()
    return value


def compare_sizes(found: Examination, reading: Reading) -> bool:
    """Ask for smaller pages, and see whether the next one lacks items; False if none is smaller.

    A continuation may stand for a time, or something else that items share, without showing it.
    """
    first, chosen = reading.pages[0], reading.chosen
    length = len(first.view.ids)
    keys = [key for page in reading.views for key in reading.keys(page)]
    parameters = () if reading.form is None else reading.form.parameters
    own = next(iter(found.options.conventions.page_size or ()), "limit")
    name = next(filter(_SIZE.search, parameters), own)
    for size in (length - 1, length // 2, length // 2 + 1):
        if chosen is None or chosen.name == name or found.session.left() < 2:
            break
        conventions = attrs.evolve(first.probe.conventions, page_size={name: size})
        what = f"a page size: {name}={size}"
        seen = found.ask(first.probe, purpose=what, conventions=conventions, is_needed=False)
        if seen.page is None or seen.page.end is not None or seen.ids != first.view.ids[:size]:
            return False
        if seen.page.next == first.view.next:  # it is not about the size
            continue
        page = found.ask(chosen.probe(seen), purpose="the page after it").page
        if page is not None and page.ids and reading.keys(page)[0] in keys[size + 1 :]:
            reading.trouble = f"with {name}={size}, a page lacks items that it has otherwise"
            reading.step = ASK
            break
    return True


def _fields_of(value: JSON, path: str = "", depth: int = 3) -> Iterator[tuple[str, JSON]]:
    """What an object contains, by the paths to it."""
    if isinstance(value, dict) and depth:
        for name, each in value.items():
            yield from _fields_of(each, f"{path}.{name}" if path else name, depth - 1)
    else:
        yield path, value


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


def _is_foreign_id(pages: Chain) -> bool:
    """Whether a continuation looks like an id, and is not that of an item beside it."""
    first, second = pages[0].view, pages[1].view
    (value,) = texts([first.next])
    is_alike = {_pattern(each) for each in first.ids} == {_pattern(value)}
    return is_alike and value not in (*first.ids[-1:], *second.ids[:1])


def _pattern(text: str) -> str:
    return re.sub("[0-9a-f]+", "0", text)


def contradictions(reading: Reading, sizes: Set[int]) -> Iterator[str]:
    """What the service says that does not fit the items that were read, or sizes of other pages."""
    pages, last = reading.views, reading.views[-1]
    beginning, ending = ([*_said(reading.pages[at])] for at in (0, -1))
    for name, value in ending:
        number = _number(value)
        is_set = bool(value) if number is None else number > 0
        follows = _MORE_FOLLOWS if last.end == "null" and name[:7] != _HEADER else _MAY_CONTINUE
        follows = follows if isinstance(value, str | bool) else _NUMBER_FOLLOWS
        is_no_end = value is False and _IS_END.search(name)
        has_more = (is_set and follows.search(name)) or is_no_end
        if has_more and not _OF_LIMITS.search(name):
            yield f"the last page has `{one_line(name, 40)}`"
    count = sum(len(page.items) for page in pages)
    own = {count, len(pages), *(len(page.items) for page in pages)}
    for name, value in dict.fromkeys(beginning + ending):
        # The words of the last name of a path, written in any style.
        last_name = name.removeprefix(_HEADER).rpartition(".")[2]
        spaced = re.sub("(?<=[a-z])(?=[A-Z])", "_", last_name).lower()
        number, words = _number(value), {*re.split("[^a-z]+", spaced)} - {""}
        is_count = words & {"total", "count", "range", "pages"} and words <= _COUNTED
        fitting = own if "total" in words else own | sizes
        if number is not None and is_count and number not in fitting:
            stated = f"`{one_line(name, 40)}` is {one_line(str(value), 40)}"
            yield f"{stated}, and {count} items were read"


def _said(seen: Observation) -> Iterator[tuple[str, Scalar]]:
    """What a page says besides its items, by the path to it, and what its headers say of others."""
    for path, each in _fields_of(seen.view.extra):
        yield path, each if isinstance(each, str | int | float | None) else bool(each)
    assert seen.response is not None
    for name, text in seen.response.headers.items():
        if name == "link":
            relations = (word for each in _RELATION.findall(text) for word in each.lower().split())
            yield f"{_HEADER}Link to next", "next" in relations
        elif name == "content-range":
            yield f"{_HEADER}{name}", text.rpartition("/")[2]
        elif _HEADERS.search(name):
            yield f"{_HEADER}{name}", "" if text.lower() in ("false", "null", "none") else text


def _number(value: Scalar) -> float | None:
    """A number, also one that is a text; None if it is none."""
    if isinstance(value, str):
        return float(value) if re.fullmatch(r"\d{1,18}", value, re.ASCII) else None
    return None if isinstance(value, bool) else value
