"""What keeps a client from reading all that was tried; each problem ends with one next step."""

import re
from collections.abc import Iterator, Mapping

from adclient._core.decode import result_of
from adclient._values.jsontext import JSONError
from adclient._values.redact import one_line
from adclient.conventions import Conventions, of_read
from adclient.extend import Failure
from adclient.models import JSON, ResponseInfo
from adclient.survey.continuation import ASK, LARGER, fields_of
from adclient.survey.examination import Examination, Reading
from adclient.survey.observation import READS, Observation, PageView

_AGAIN = "run the doctor again later"
_MORE = "allow more requests: `--requests`"
_NO_DIFFERENCE = "an account that cannot exist makes no difference"
_MORE_FOLLOWS = re.compile("next|more|remain|truncated|partial|incomplete", re.IGNORECASE)
_MAY_CONTINUE = re.compile(f"{_MORE_FOLLOWS.pattern}|cursor|token|after", re.IGNORECASE)
_NUMBER_FOLLOWS = re.compile(r"(^|\.|x-)next|next$|more|remain", re.IGNORECASE)
_IS_END = re.compile("last|end$|done|complete|final|finished|exhausted", re.IGNORECASE)
_HEADER_FOLLOWS = re.compile("next|cursor|continu")
_OF_LIMITS = re.compile(r"(^|[._])(rate|quota|retry)", re.IGNORECASE)
Scalar = str | int | float | None

_COUNTS = {"total", "count"}
_COUNTED = _COUNTS | {
    *("x", "num", "number", "of", "all", "page", "pages", "item", "items", "result", "results"),
    *("record", "records", "row", "rows", "element", "elements", "entries", "hits", "objects"),
    *("campaign", "campaigns", "ad", "ads", "objectives", "options"),
}


def problems_of(found: Examination, conventions: Conventions) -> Iterator[str]:
    """The problems, the most general first."""
    if found.stopped is not None:
        yield f"ended early: {found.stopped}"
    if found.base is None:
        yield f"no read was accepted; {_advice(found)}"
        return
    temporary = [seen for seen in found.observations if seen.is_temporary and seen.probe.is_needed]
    if temporary:
        first = temporary[0]
        yield f"{len(temporary)} requests failed, such as {first.probe}: {first}; {_AGAIN}"
    if not any(reading.makes_difference for reading in found.readings.values()):
        yield f"{_NO_DIFFERENCE}; pass an account that has items"
    if found.targeting is not None and len(found.styled) == 2 and not _is_found(found):
        yield "gamma.search_targeting: no style of the targeting has an effect; pass another one"
    used = {reading.first.probe.account_id for reading in found.accepted}
    for account_id in found.accounts:
        # An examination that ended early may not have come to it.
        if account_id not in used and found.stopped is None:
            yield f"{one_line(account_id, 60)} was not used for any read; examine it alone"
    names: dict[str, list[str]] = {}
    for name in READS:
        for problem in _problems_of_read(found, name, conventions):
            names.setdefault(problem, []).append(name)
    for problem, (name, *others) in names.items():
        more = f" and {len(others)} other{'s' * (len(others) > 1)}" * bool(others)
        yield f"{name}{more}: {problem}"


def _advice(found: Examination) -> str:
    telling = found.telling()
    last = None if telling is None else telling.outcome
    if telling is None or last is None or isinstance(last, Failure):
        return "check the address, and `--proxy` and `--ca-file`"
    if 300 <= last.status < 400 or last.is_success:
        return "check the address"
    if last.status == 401:
        return "check the token, `--token-header` and `--auth-scheme`"
    return "check the accounts" if telling.is_refused else _AGAIN


def _is_found(found: Examination) -> bool:
    """Whether any search found something other than no search does."""
    plain = found.readings["gamma.search_targeting"].first.page
    pages = [seen.page for seen in found.styled.values() if seen.page is not None]
    return plain is not None and any(page.ids and page.ids != plain.ids for page in pages)


def _problems_of_read(found: Examination, name: str, conventions: Conventions) -> Iterator[str]:
    reading, namespace = found.readings.get(name), name.partition(".")[0]
    accepted = found.accepted
    if reading is None:
        yield f"not sent; {_MORE}, or `--timeout`"
        return
    if not reading.pages:
        is_known = any(each.name.startswith(f"{namespace}.") for each in accepted)
        is_of_account = reading.first.is_refused and not is_known
        step = f"pass an account of {namespace} with `--account`" if is_of_account else ASK
        yield f"not accepted: {reading.first}; {step}"
        return
    if reading.may_be_of_another and any(each.makes_difference for each in accepted):
        yield (
            f"accepted in the {reading.place} alone, and {_NO_DIFFERENCE}; pass an account of "
            f"{namespace} with `--account`"
        )
    search = reading.search
    if search is not None and search.trouble:
        usual = ASK if search.chosen else "set `cursor_parameter` or `continuation` yourself"
        yield f"{search.trouble}; {search.step or usual}"
    end = of_read(conventions, name).end_of_listing
    for seen in reading.pages:
        assert seen.response is not None
        try:
            result_of(seen.probe.call(), seen.response, ResponseInfo(), dict, end)
        except JSONError as error:
            yield f"{one_line(str(error), 100)}; {ASK}"
            break
    ended = [each for each in accepted if each.views[-1].end is not None]
    ways = {each.way for each in ended if len(each.pages) > 1}
    is_alike = reading.way in ways and len({each.views[-1].end for each in ended}) == 1
    has_trouble = search is not None and search.trouble
    if (
        not found.is_check
        and reading.way
        and reading not in ended
        and not is_alike
        and not has_trouble
    ):
        yield f"not read to its end; {_MORE}"
    last = reading.views[-1]
    if last.end is not None:
        # Where no page has a next one, a page without it may mean something else.
        sure = {"null", *(each.views[-1].end for each in accepted if len(each.pages) > 1)}
        if last.end not in sure and not found.is_check:
            yield f"no listing with two pages ended as this page does; {LARGER}"
        for what in _contradictions(reading, last):
            yield f"{what}, so items may be missing; {ASK}"


def _contradictions(reading: Reading, last: PageView) -> Iterator[str]:
    """What the service says that does not fit the items that were read."""
    first = reading.pages[0]
    links = _headers(reading.pages[-1]).get("link", "")
    relations = re.findall(
        r"""\brel\s*=\s*(?:"([^"]*)|'([^']*)|([^\s;,]*))""", links, re.IGNORECASE
    )
    if any("next" in "".join(each).lower().split() for each in relations):
        yield "the last page has a `Link` to a next one"
    for name, text in _headers(reading.pages[-1]).items():
        if _HEADER_FOLLOWS.search(name) and text.lower() not in ("", "0", "false", "null", "none"):
            yield f"the last page has the header {one_line(name, 40)}"
    texts = _MORE_FOLLOWS if last.end == "null" else _MAY_CONTINUE
    ending = [*_fields(last.extra), *_fields(last.page), *_counts(reading.pages[-1])]
    for name, value in ending:
        number, is_flag = _number(value), isinstance(value, str | bool)
        is_set = bool(value) if number is None else number > 0
        has_more = is_set and (texts if is_flag else _NUMBER_FOLLOWS).search(name)
        is_no_end = value is False and _IS_END.search(name)
        if (has_more or is_no_end) and not _OF_LIMITS.search(name):
            yield f"the last page has `{one_line(name, 40)}`"
    pages = reading.views
    count = sum(len(page.items) for page in pages)
    fitting = {count, *(len(page.items) for page in pages)}
    beginning = [*_fields(first.view.extra), *_fields(first.view.page), *_counts(first)]
    for name, value in dict.fromkeys(beginning + ending):
        number, words = _number(value), _words(name)
        is_of_pages = "pages" in words or words == {"page", "count"}
        is_count = words & _COUNTS or words == {"pages"} or name == "content-range"
        if number is None or not is_count or not words <= _COUNTED | {"content", "range"}:
            continue
        if number not in ({len(pages), count and 1} if is_of_pages else {*fitting, len(pages)}):
            stated = f"`{one_line(name, 40)}` is {one_line(str(value), 40)}"
            yield f"{stated}, and {count} items were read"


def _fields(value: JSON) -> Iterator[tuple[str, Scalar]]:
    """What a page says besides its items, by the path to it."""
    for path, each in fields_of(value):
        yield path, each if isinstance(each, str | int | float | None) else bool(each)


def _counts(seen: Observation) -> Iterator[tuple[str, str]]:
    """The headers that say how much there is."""
    for name, text in _headers(seen).items():
        if re.search("page|total|count", name):
            yield name, text
        elif name == "content-range":
            yield name, text.rpartition("/")[2]


def _headers(seen: Observation) -> Mapping[str, str]:
    return {} if seen.response is None else seen.response.headers


def _number(value: Scalar) -> float | None:
    """A number, also one that is a text; None if it is none."""
    if isinstance(value, str):
        return float(value) if re.fullmatch(r"\d{1,18}", value, re.ASCII) else None
    return None if isinstance(value, bool) else value


def _words(name: str) -> set[str]:
    """The words of the last name of a path, written in any style."""
    spaced = re.sub("(?<=[a-z])(?=[A-Z])", "_", name.rpartition(".")[2])
    return {word for word in re.split("[^a-z]+", spaced.lower()) if word}
