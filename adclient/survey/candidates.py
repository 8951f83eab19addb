"""The ways in which a listing may continue, the likely ones first."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote, urlsplit

import attrs

from adclient._core.paging import query_from_next_url
from adclient._service.model import Next
from adclient._values.jsontext import JSONError
from adclient._values.redact import excerpt
from adclient.conventions import Conventions, ReadConventions, query_of_url
from adclient.errors import AdClientError
from adclient.models import JSON
from adclient.survey.examination import Candidate
from adclient.survey.observation import READS, Observation

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
    *("startKey", "last_key", "lastId", "after_id", "afterId", "pagination_token"),
    *("paginationToken", "page_id", "page_key", "paging_token", "scroll_id", "since", "since_id"),
    *("token", "key", *PAGE_NAMES, *OFFSET_NAMES),
)
COUNTING = frozenset({*PAGE_NAMES, *OFFSET_NAMES})

# Which may take a number, or an id, for something else than the service means by it.
_RIVALS = ("cursor", "after", "since_id", "last_id", "starting_after", "page_token", "before")
_TOKEN_RIVALS = ("cursor", "page_token", "after", "before", "start_key", "next_token")
# Of a way that continues another read; few, since there are seven.
_FEW_RIVALS = ("cursor", "after", "since_id", "offset")
_FEW_TOKEN_RIVALS = ("cursor",)
_OWN = {parameter.name for operation in READS.values() for parameter in operation.parameters}
_WORD = re.compile(r"[A-Za-z_][\w.-]*(?:\[\w+\])*")
_PAGING = re.compile(
    r"cursor|token|page|after|before|next|last|start|key|offset|skip|from|since|mark|contin|scroll",
    re.IGNORECASE,
)
_OF_ERRORS = re.compile("invalid|unknown|error|req(uest)?_")
_MOST_HINTS = 12


FOLLOWED = Candidate(
    "the URL in `next`, followed", {"follow_next_urls": True, "continuation": None}
)


def number_of(value: JSON) -> int | None:
    """The number of a continuation; also of one that is a text of digits."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return int(value) if re.fullmatch(r"\d{1,18}", str(value), re.ASCII) else None


def by_name(name: str, *, is_text: bool = False) -> Candidate:
    """The way that sends a continuation in a parameter; a text is sent also if it is a URL."""
    settings: ReadConventions = {"cursor_parameter": name, "continuation": None}
    if is_text:  # that a client would take for a URL
        settings["follow_next_urls"] = False
    return Candidate(f"`{name}`", settings)


def special_ways(form: Next) -> Iterator[Candidate]:
    """The ways that a continuation itself shows, besides a URL that is followed."""
    if form.form == "URL" or form.key is not None:
        yield Candidate("the query of the URL in `next`", {"continuation": query_of_url})
    if form.form == "object" and form.key is None:
        yield by_name("cursor")  # the default: it needs no setting
        yield Candidate("each entry of the object in `next`", {"continuation": dict})


def likely_names(first: Observation) -> list[str]:
    """The common names; those of numbers first if a continuation counts as they say."""
    number, size = number_of(first.view.next), len(first.view.items)
    likely = OFFSET_NAMES if number in (size, size + 1) else PAGE_NAMES
    return [*(likely if number in (1, 2, size, size + 1) else ()), *NAMES]


def rivals_of(value: JSON, hinted: list[str], *, is_known: bool) -> list[str]:
    """The names to try beside one that works: it may be an old one, that loses items."""
    if number_of(value) is not None or isinstance(value, float):
        return [*(_FEW_RIVALS if is_known else (*_RIVALS, *OFFSET_NAMES, *PAGE_NAMES))]
    return [*(_FEW_TOKEN_RIVALS if is_known else (*_TOKEN_RIVALS, *hinted))]


def applies(candidate: Candidate, form: Next) -> bool:
    """Whether what continues another listing can be tried with a continuation."""
    if candidate.settings.get("continuation") is not None:
        return form.form in ("URL", "object")
    is_text = candidate.settings.get("follow_next_urls") is False
    return bool(candidate.name) and is_text == (form.form == "URL")


def as_url(first: Observation, base_url: str) -> tuple[bool, bool]:
    """Whether a client takes a continuation for a URL, and whether it follows that."""
    endpoint = base_url + first.probe.operation.path
    try:
        call = attrs.evolve(first.probe, cursor=first.view.next).call()
        is_url = query_from_next_url(call, endpoint, Conventions()) is not None
    except (AdClientError, JSONError):
        return True, False
    return is_url, is_url


def hints(first: Observation, control: Observation | None) -> list[str]:
    """The names that the service itself mentions: in URLs, beside `next`, and in a refusal."""
    page = first.view
    urls, texts = [page.next], [*page.page, *page.page.values()]
    for response in (first.response, None if control is None else control.response):
        if response is not None:
            urls += re.findall("<([^>]*)>", response.headers.get("link", ""))
            texts += [unquote(excerpt(response.body))] * (not response.is_success)
    names = [name for url in urls for name, _ in _query(url)]
    words = [word for text in texts if isinstance(text, str) for word in _WORD.findall(text)]
    names += [word for word in words if word in NAMES or "_" in word or "[" in word]
    names += [word for word in words if _PAGING.search(word)]
    others = {"", WRONG_NAME, *_OWN}
    names = [name for name in names if name not in others and not _OF_ERRORS.match(name)]
    return list(dict.fromkeys(names))[:_MOST_HINTS]


def next_of(value: JSON, base_url: str) -> Next | None:
    """What a continuation looks like; None if a client cannot send it."""
    if value is None or isinstance(value, bool | list):
        return None
    if isinstance(value, dict):
        key = next((name for name, each in value.items() if _query(each)), None)
        if key is None:
            return Next(form="object", parameters=tuple(value))
        url = next_of(value[key], base_url)
        assert url is not None
        return attrs.evolve(url, form="object", key=key)
    if not isinstance(value, str):
        return Next(form="number")
    query = _query(value)
    if not query and "://" not in value:
        return Next(form="string")
    is_same = value.startswith(f"{base_url}/")
    return Next(
        form="URL",
        parameters=tuple(dict.fromkeys(name for name, _ in query)),
        host="same" if is_same else "other" if "://" in value else "relative",
    )


def _query(value: JSON) -> list[tuple[str, str]]:
    """The query of a text that is a URL; empty for another value."""
    if not isinstance(value, str) or not ("://" in value or value[:1] in ("/", "?")):
        return []
    try:
        return parse_qsl(urlsplit(value).query, keep_blank_values=True)
    except ValueError:
        return []
