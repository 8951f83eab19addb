"""The ways in which a listing may continue, the likely ones first."""

import re
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import parse_qsl, unquote, urlsplit

import attrs

from adclient._core.paging import query_from_next_url
from adclient._service.model import Next
from adclient._values.jsontext import JSONError, dumps
from adclient._values.redact import excerpt
from adclient.conventions import Conventions, ReadConventions, query_of_url
from adclient.errors import AdClientError
from adclient.extend import READS
from adclient.models import JSON
from adclient.survey.observation import Observation
from adclient.survey.reading import Candidate, Examination, Reading

WRONG_NAME = "adclient_doctor"

PAGE_NAMES = ("page", "page_number", "pageNumber", "page_no", "pageNo", "page[number]")
OFFSET_NAMES = ("offset", "start", "skip", "start_index", "startIndex", "from", "position")
# Those that count come last: beside the true one, an old one may still work, and lose items.
NAMES = (
    *("page_token", "after", "next", "pageToken", "starting_after", "next_token"),
    *("next_page_token", "page[after]", "page[cursor]", "after_token", "last_id", "lastKey"),
    *("before", "exclusiveStartKey", "ExclusiveStartKey", "startingAfter", "nextToken"),
    *("nextPageToken", "continuation_token", "continuationToken", "next_cursor", "nextCursor"),
    *("page_cursor", "pageCursor", "continuation", "continue", "marker", "next_page", "nextPage"),
    *("bookmark", "start_cursor", "startCursor", "start_after", "startAfter", "start_key"),
    *("startKey", "last_key", "lastId", "after_id", "afterId", "max_id", "pagination_token"),
    *("paginationToken", "page_id", "page_key", "paging_token", "scroll_id", "since", "since_id"),
    *("token", "key", "NextToken", "Marker", *PAGE_NAMES, *OFFSET_NAMES),
)
COUNTING = frozenset({*PAGE_NAMES, *OFFSET_NAMES})
# Which may take a number, or a text, for something else than the service means by it. The first
# ones are tried even where another read has shown the way; few, since there are seven.
_RIVALS_OF_NUMBERS = (
    *("cursor", "after", "since_id", "offset", "last_id", "starting_after", "page_token"),
    *("before", *OFFSET_NAMES, *PAGE_NAMES),
)
_RIVALS_OF_TEXTS = ("cursor", "page_token", "after", "before", "start_key", "next_token")

FOLLOWED = Candidate(
    "the URL in `next`, followed", {"follow_next_urls": True, "continuation": None}
)
_BY_FUNCTIONS = (
    Candidate("the query of the URL in `next`", {"continuation": query_of_url}),
    Candidate("each entry of the object in `next`", {"continuation": dict}),
)

_OWN = {parameter.name for operation in READS.values() for parameter in operation.parameters}
_WORD = re.compile(r"[A-Za-z_][\w.-]*(?:\[\w+\])*")
_PAGING = re.compile(
    r"[_\[]|cursor|token|page|after|before|next|last|start|key|offset|skip|from|since|mark|contin|scroll",
    re.IGNORECASE,
)
_OF_ERRORS = re.compile("invalid|unknown|error|req(uest)?_")
_MOST_HINTS = 12


def number_of(value: JSON) -> int | None:
    """The number of a continuation; also of one that is a text of digits."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return int(value) if re.fullmatch(r"\d{1,18}", str(value), re.ASCII) else None


def by_name(name: str, reading: Reading) -> Candidate:
    """The way that sends a continuation in a parameter, also one that looks like a URL."""
    settings: ReadConventions = {"cursor_parameter": name, "continuation": None}
    if reading.form is not None and reading.form.form == "URL":
        settings["follow_next_urls"] = False
    return Candidate(f"`{name}`", settings)


def ways_without_names(found: Examination, reading: Reading) -> Iterator[Candidate]:
    """What the client does unasked, what continues other listings, and functions.

    A function that does not fit raises, so that nothing is sent.
    """
    first = reading.pages[0]
    with suppress(AdClientError, JSONError):
        call = attrs.evolve(first.probe, cursor=first.view.next).call()
        endpoint = found.options.base_url + first.probe.operation.path
        # Whether a client takes the continuation for a URL, and follows it.
        if query_from_next_url(call, endpoint, Conventions()) is not None:
            yield FOLLOWED
    for known in found.known.values():
        is_alike = known.name and known.settings == by_name(known.name, reading).settings
        if is_alike or known.settings.get("continuation") is not None:
            yield known
    yield from _BY_FUNCTIONS


def names_of(reading: Reading) -> list[str]:
    """The names to try; what the service mentions first, then numbers that count as they say."""
    page = reading.pages[0]
    number, size = number_of(page.view.next), len(page.view.items)
    counting = OFFSET_NAMES if number in (size, size + 1) else PAGE_NAMES
    likely = counting if number in (1, 2, size, size + 1) else ()
    return ["cursor", *_hints(page, reading.control), *likely, *NAMES]


def rivals_of(found: Examination, reading: Reading, right: Candidate) -> list[str]:
    """The names to try beside one that works: it may be an old one, that loses items."""
    value = reading.views[0].next
    is_text = isinstance(value, str) and number_of(value) is None
    names = [*(_RIVALS_OF_TEXTS if is_text else _RIVALS_OF_NUMBERS)]
    if right.known:
        names = names[: 1 if is_text else 4]
    elif is_text:
        names += _hints(reading.pages[0], reading.control)
    return [*names, *(each.name for each in found.known.values() if each.name)]


def _hints(first: Observation, control: Observation | None) -> list[str]:
    """The names that the service itself mentions: in URLs, beside `next`, and in a refusal."""
    said = [str(first.view.next), dumps(first.view.extra["page"], "page", errors="replace")]
    for response in (first.response, None if control is None else control.response):
        if response is not None:
            said += [response.headers.get("link", "")]
            said += [excerpt(response.body)] * (not response.is_success)
    text = unquote("\n".join(said))
    words = [word for word in _WORD.findall(text) if word in NAMES or _PAGING.search(word)]
    names = [*re.findall("[?&]([^=&]+)=", text), *words]
    names = [name for name in names if name not in {WRONG_NAME, *_OWN}]
    return list(dict.fromkeys(name for name in names if not _OF_ERRORS.match(name)))[:_MOST_HINTS]


def next_of(value: JSON, base_url: str) -> Next | None:
    """What a continuation looks like; None if a client cannot send it."""
    if value is None or isinstance(value, bool | list):
        return None
    if isinstance(value, dict):
        key = next((name for name, each in value.items() if query_in(each)), None)
        if key is None:
            return Next(form="object", parameters=tuple(value))
        url = next_of(value[key], base_url)
        assert url is not None
        return attrs.evolve(url, form="object", key=key)
    if not isinstance(value, str):
        return Next(form="number")
    query = query_in(value)
    if not query and "://" not in value:
        return Next(form="string")
    is_same = value.startswith(f"{base_url}/")
    return Next(
        form="URL",
        parameters=tuple(dict.fromkeys(name for name, _ in query)),
        host="same" if is_same else "other" if "://" in value else "relative",
    )


def query_in(value: JSON) -> list[tuple[str, str]]:
    """The query of a text that is a URL; empty for another value."""
    if not isinstance(value, str) or not ("://" in value or value[:1] in ("/", "?")):
        return []
    try:
        return parse_qsl(urlsplit(value).query, keep_blank_values=True)
    except ValueError:
        return []
