"""What keeps a client from reading all that was tried; each problem ends with one next step."""

import re
from collections.abc import Iterator, Mapping

from adclient._core.decode import result_of
from adclient._core.jsontext import JSONError
from adclient._core.operations import READS
from adclient._core.redact import one_line
from adclient._core.response import Failure
from adclient.conventions import Conventions, of_read
from adclient.doctor._examination import Examination, Reading
from adclient.doctor._probe import Observation, PageView
from adclient.models import JSON, ResponseInfo

_ASK = "ask the makers of the service (`--markdown` has the questions)"
_AGAIN = "run the doctor again later"
_MORE = "allow more requests: `--requests`"
_NO_DIFFERENCE = "an account that cannot exist makes no difference"
_TOTAL = re.compile("total|count", re.IGNORECASE)
_MORE_FOLLOWS = re.compile("next|more", re.IGNORECASE)
_MAY_CONTINUE = re.compile("next|more|cursor|token|after", re.IGNORECASE)


def problems_of(found: Examination, conventions: Conventions) -> Iterator[str]:
    """The problems, the most general first."""
    if found.stopped is not None:
        yield f"ended early: {found.stopped}"
    if found.base is None:
        yield f"no read was accepted; {_advice(found)}"
        return
    temporary = [seen for seen in found.observations if seen.is_temporary]
    if temporary:
        first = temporary[0]
        yield f"{len(temporary)} requests failed, such as {first.probe}: {first}; {_AGAIN}"
    if not any(reading.makes_difference for reading in found.readings.values()):
        yield f"{_NO_DIFFERENCE}; pass an account that has items"
    if found.targeting is not None and len(found.styled) == 2 and not _is_found(found):
        yield "gamma.search_targeting: no style of the targeting has an effect; pass another one"
    names: dict[str, list[str]] = {}
    for name in READS:
        for problem in _problems_of_read(found, name, conventions):
            names.setdefault(problem, []).append(name)
    for problem, (name, *others) in names.items():
        more = f" and {len(others)} other{'s' * (len(others) > 1)}" * bool(others)
        yield f"{name}{more}: {problem}"


def _advice(found: Examination) -> str:
    last = found.observations[-1].outcome if found.observations else None
    if last is None or isinstance(last, Failure):
        return "check the address, and `--proxy` and `--ca-file`"
    if 300 <= last.status < 400 or last.is_success:
        return "check the address"
    if last.status == 401:
        return "check the token, `--token-header` and `--auth-scheme`"
    return "check the accounts" if found.observations[-1].is_refused else _AGAIN


def _is_found(found: Examination) -> bool:
    """Whether any search found something other than no search does."""
    plain = found.readings["gamma.search_targeting"].first.page
    pages = [seen.page for seen in found.styled.values() if seen.page is not None]
    return plain is not None and any(page.ids and page.ids != plain.ids for page in pages)


def _problems_of_read(found: Examination, name: str, conventions: Conventions) -> Iterator[str]:
    reading, namespace = found.readings.get(name), name.partition(".")[0]
    accepted = [each for each in found.readings.values() if each.pages]
    if reading is None:
        yield f"not sent; {_MORE}, or `--timeout`"
        return
    if not reading.pages:
        is_known = any(each.name.startswith(f"{namespace}.") for each in accepted)
        is_of_account = reading.first.is_refused and not is_known
        step = f"pass an account of {namespace} with `--account`" if is_of_account else _ASK
        yield f"not accepted: {reading.first}; {step}"
        return
    if reading.may_be_of_another and any(each.makes_difference for each in accepted):
        yield (
            f"accepted in the {reading.place} alone, and {_NO_DIFFERENCE}; pass an account of "
            f"{namespace} with `--account`"
        )
    search = reading.search
    if search is not None and search.trouble:
        step = _ASK if search.chosen else "set `cursor_parameter` or `continuation` yourself"
        yield search.trouble if "; " in search.trouble else f"{search.trouble}; {step}"
    end = of_read(conventions, name).end_of_listing
    for seen in reading.pages:
        assert seen.response is not None
        try:
            result_of(seen.probe.call(), seen.response, ResponseInfo(), end)
        except JSONError as error:
            yield f"{one_line(str(error), 100)}; {_ASK}"
            break
    ended = [each for each in accepted if _end(each) is not None]
    ways = {_way(each) for each in ended if len(each.pages) > 1}
    is_alike = _way(reading) in ways and len({_end(each) for each in ended}) == 1
    if _way(reading) and reading not in ended and not is_alike:
        yield f"not read to its end; {_MORE}"
    last = reading.pages[-1].page
    if last is not None and last.end is not None:
        for what in _contradictions(reading, last):
            yield f"{what}, so items may be missing; {_ASK}"


def _contradictions(reading: Reading, last: PageView) -> Iterator[str]:
    """What the service says that does not fit the items that were read."""
    link = _header(reading.pages[-1], "link")
    if re.search(r"rel=\"?next\b", link):
        yield "the last page has a `Link` to a next one"
    names = _MORE_FOLLOWS if last.end == "null" else _MAY_CONTINUE
    for name, value in _fields(last).items():
        is_number = isinstance(value, int | float) and value is not True
        if names.search(name) and value and not is_number:
            yield f"the last page has `{one_line(name, 40)}`"
    pages = [seen.page for seen in reading.pages if seen.page is not None]
    count = sum(len(page.items) for page in pages)
    fitting = {count, len(pages), *(len(page.items) for page in pages)}
    for name, value in {**_fields(pages[0]), **_fields(last)}.items():
        if _TOTAL.search(name) and type(value) is int and value not in fitting:
            yield f"`{one_line(name, 40)}` is {value}, and {count} items were read"


def _fields(page: PageView) -> Mapping[str, JSON]:
    """What a page has besides its items, one level deep."""
    fields: dict[str, JSON] = {}
    for name, value in {**page.extra, **page.page}.items():
        fields |= value if isinstance(value, dict) else {name: value}
    return fields


def _header(seen: Observation, name: str) -> str:
    return "" if seen.response is None else seen.response.headers.get(name, "")


def _way(reading: Reading) -> str:
    """How a listing is continued; empty if it is not known."""
    search = reading.search
    return "" if search is None or search.chosen is None else search.chosen.label


def _end(reading: Reading) -> str | None:
    page = reading.pages[-1].page
    return None if page is None else page.end
