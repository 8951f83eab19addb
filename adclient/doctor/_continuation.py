"""How a listing continues: which value, under which name, by experiment.

With the right name, the second page has other items than the first. With a wrong one it has not.
Only both facts together are proof: a service that returns other items for any name, such as in
random order, proves nothing.
"""

import re
from collections.abc import Callable, Generator, Sequence
from typing import Literal
from urllib.parse import parse_qsl, urlencode

import attrs

from adclient._core.call import cursor_text
from adclient._core.paging import query_from_next_url
from adclient._core.redact import excerpt
from adclient.conventions import Conventions
from adclient.doctor._probe import Observation, PageView, Probe
from adclient.errors import InvalidRequest, PaginationError
from adclient.models import JSON

Asks = Generator[Probe, Observation, None]

WRONG_NAME = "adclient_doctor"

PAGE_NAMES = ("page", "page_number", "pageNumber", "page_no", "pageNo")
OFFSET_NAMES = ("offset", "start", "skip", "start_index", "startIndex", "from", "position")
# The most likely first: with a service that refuses unknown names, only a dozen can be tried.
_NAMES = (
    *("cursor", "page_token", "after", "next", "pageToken", "starting_after", "page", "offset"),
    *("next_token", "next_page_token", "startingAfter", "nextToken", "nextPageToken"),
    *("continuation_token", "continuationToken", "next_cursor", "nextCursor", "page_cursor"),
    *("pageCursor", "continuation", "continue", "marker", "next_page", "nextPage", "bookmark"),
    *("start_cursor", "startCursor", "start_after", "startAfter", "start_key", "startKey"),
    *("pagination_token", "paginationToken", "page_id", "pageId", "page_key", "pageKey"),
    *("paging_token", "pagingToken", "scroll_id", "scrollId", "since", "since_id"),
    *PAGE_NAMES,
    *OFFSET_NAMES,
)
# How many are tried one by one before the others are tried together.
_SINGLY = 3
_TO_TRY = 2  # requests: the name, and its repetition if it has an effect

Form = Literal["string", "number", "object", "URL", "URL that is not followed", "something else"]
Effect = Literal["other items", "other page", "same items", "refused", "no evidence"]
# What contains the parameters of the next request, and how they are tried.
_UNPACKED: dict[Form, str] = {
    "URL": "the URL in `next`, followed",
    "object": "each entry of `next` as a parameter",
}


def form_of(probe: Probe, page: PageView, endpoint: str) -> Form:
    """The form of a continuation, as the client would treat it."""
    cursor = page.next
    try:
        query = query_from_next_url(
            attrs.evolve(probe, cursor=cursor).call(), endpoint, Conventions()
        )
    except PaginationError:
        return "URL that is not followed"
    except InvalidRequest:  # such as half of a surrogate pair
        return "something else"
    if isinstance(cursor, str):
        return "string" if query is None else "URL"
    if cursor is None or isinstance(cursor, bool | list):
        return "something else"
    return "object" if isinstance(cursor, dict) else "number"


def effect_of(first: PageView, later: Observation) -> Effect:
    """What a request that was to continue a page brought instead of it."""
    page = later.page
    if page is None:
        return "refused" if later.is_refused else "no evidence"
    if page.ids == first.ids:
        return "same items"
    # The name may be that of a filter, which causes an empty or overlapping page.
    return "other items" if page.ids and not page.ids & first.ids else "other page"


@attrs.define
class Continuation:
    """The search for the continuation of one page, and what it found."""

    first: Observation
    endpoint: str
    form: Form = attrs.field(init=False)
    control: Observation | None = None
    unpacked: Observation | None = None
    tried: dict[str, Effect] = attrs.field(factory=dict[str, Effect])
    name: str | None = None
    is_consistent: bool = False
    is_stable: bool = True
    is_repeated: bool = False
    _page: PageView = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        page = self.first.page
        assert page is not None
        self._page = page
        self.form = form_of(self.first.probe, page, self.endpoint)

    @property
    def control_effect(self) -> Effect | None:
        """The effect of a wrong name."""
        return None if self.control is None else effect_of(self._page, self.control)

    @property
    def unpacked_effect(self) -> Effect | None:
        """The effect of sending what a URL or an object contains, each under its own name."""
        return None if self.unpacked is None else effect_of(self._page, self.unpacked)

    @property
    def is_url(self) -> bool:
        """Whether the client takes the value for a URL, unless it is told otherwise."""
        return self.form in ("URL", "URL that is not followed")

    @property
    def parameters_in_url(self) -> list[str]:
        """The names in the query of a continuation that is a URL."""
        return [name for name, _ in parse_qsl(str(self._page.next).partition("?")[2])]

    def search(self, left: Callable[[], int]) -> Asks:
        """Try a wrong name, what the value contains, and then names, while requests are left."""
        if self.form == "something else":
            return
        again = yield attrs.evolve(self.first.probe, purpose="the first page, again")
        if again.page is not None:
            is_same = again.page.ids == self._page.ids
            self.is_stable = is_same and form_of(self.first.probe, again.page, self.endpoint) == (
                self.form
            )
            self._page = again.page  # its continuation is the younger one: some expire
        if not self.is_stable:
            return
        self.control = yield self._probe(WRONG_NAME, "a wrong name for the continuation")
        if self.control_effect in ("other items", "other page"):
            return
        conventions = self.first.probe.conventions
        if self.form == "object":
            yield from self._try("cursor")  # the default: it needs no setting
            conventions = attrs.evolve(conventions, continuation=dict)
        if self.form in _UNPACKED and not self._is_over:
            self.unpacked = yield attrs.evolve(
                self.first.probe,
                purpose=_UNPACKED[self.form],
                cursor=self._page.next,
                conventions=conventions,
            )
            page = self.unpacked.page
            if page is not None and self.unpacked_effect == "other items":
                self.is_consistent = page.next != self._page.next
                yield from self._repeat(self.unpacked)
                return
        names = [name for name in self._names() if name not in self.tried]
        is_lenient = self.control_effect == "same items"
        in_query = self.first.probe.conventions.read_parameters == "query"
        singly = names[:_SINGLY] if is_lenient and in_query else names
        for name in singly:
            if self._is_over or left() < _TO_TRY:
                return
            yield from self._try(name)
        # A service may refuse a text as the number of a page, and all that is sent along with it.
        others = names[len(singly) :]
        numeric = [name for name in others if name in (*PAGE_NAMES, *OFFSET_NAMES)]
        yield from self._try_together([name for name in others if name not in numeric], left)
        yield from self._try_together(numeric, left)

    @property
    def _is_over(self) -> bool:
        """Whether there is nothing more to find: the name, or that names mean nothing."""
        return self.is_consistent or not self.is_stable

    def _try(self, name: str) -> Asks:
        later = yield self._probe(name, f"the continuation as `{name}`")
        self.tried[name] = effect_of(self._page, later)
        if self.tried[name] == "other items" and later.page is not None:
            is_consistent = _is_consistent(name, self._page, later.page)
            if is_consistent or self.name is None:
                self.name, self.is_consistent = name, is_consistent
                yield from self._repeat(later)

    def _repeat(self, later: Observation) -> Asks:
        """Repeat what continued the page, more often if chance could do so, too.

        A service that returns any one of two items looks like one that continues half of the time.
        """
        assert later.page is not None
        self.is_repeated = False
        for number in range(max(1, 5 - len(self._page.ids))):
            again = yield attrs.evolve(later.probe, purpose=f"{later.probe.purpose}, again")
            if again.page is None:  # such as of a continuation that can be used once
                return
            is_same = again.page.ids == later.page.ids
            if number > 0:
                control = yield self._probe(WRONG_NAME, "the wrong name, again")
                is_same = is_same and effect_of(self._page, control) == self.control_effect
            if not is_same:
                self.is_stable = False
                return
        self.is_repeated = len(self._page.ids) > 1  # a single item may always be chance

    def _try_together(
        self, names: Sequence[str], left: Callable[[], int], *, has_effect: bool = False
    ) -> Asks:
        """Halve the names again and again, down to the one that has an effect.

        A service that ignores unknown names lets us try many at once. A URL of the endpoint
        carries them, since the client sends the query of such a URL.
        """
        if not names or left() < _TO_TRY or self._is_over:
            return
        if len(names) == 1:
            yield from self._try(names[0])
            return
        if not has_effect:
            value = self._page.next
            if not isinstance(value, str):
                value = cursor_text(self.first.probe.operation, value)
            later = yield attrs.evolve(
                self.first.probe,
                purpose=f"the continuation under {len(names)} names, {names[0]} to {names[-1]}",
                cursor="?" + urlencode(dict.fromkeys(names, value)),
            )
            if (effect := effect_of(self._page, later)) == "same items":
                for name in names:
                    self.tried[name] = effect
                return
        middle = len(names) // 2
        yield from self._try_together(names[:middle], left)
        # If the first half was ignored, the effect is that of the second.
        is_ignored = all(self.tried.get(name) == "same items" for name in names[:middle])
        yield from self._try_together(names[middle:], left, has_effect=is_ignored)

    def _probe(self, name: str, purpose: str) -> Probe:
        conventions = attrs.evolve(
            self.first.probe.conventions, cursor_parameter=name, follow_next_urls=False
        )
        return attrs.evolve(
            self.first.probe, purpose=purpose, cursor=self._page.next, conventions=conventions
        )

    def _names(self) -> list[str]:
        """The names to try, those first that fit the value or that the service mentions."""
        number, size = _number(self._page.next), len(self._page.items)
        likely: tuple[str, ...] = ()
        if number is not None and number in (size, size + 1):
            likely = OFFSET_NAMES
        elif number in (1, 2):
            likely = PAGE_NAMES
        hints = self._hints()
        return sorted(dict.fromkeys([*likely[:3], *_NAMES]), key=lambda name: name not in hints)

    def _hints(self) -> set[str]:
        """The words of the service in which it may name its parameter."""
        texts = [*self._page.extra, *self.parameters_in_url]
        if self.control is not None and (response := self.control.response) is not None:
            texts.append(response.headers.get("link", ""))
            texts += [excerpt(response.body)] * self.control.is_refused
        return {word for text in texts for word in re.findall(r"\w+", text)} - {"next", "page"}


def _is_consistent(name: str, first: PageView, later: PageView) -> bool:
    """Whether a continuation moves on; a number by pages or items, whatever its name says."""
    if later.next == first.next:
        return False
    value, following = _number(first.next), _number(later.next)
    if value is None or name not in (*PAGE_NAMES, *OFFSET_NAMES):
        return True
    step = None if following is None else following - value
    if name in PAGE_NAMES:
        return value in (1, 2) and step in (None, 1)
    size = len(first.items)
    return value in (size, size + 1) and step in (None, size)


def _number(value: JSON) -> int | None:
    """The number of a continuation; also of one that is a text of digits."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return int(value) if re.fullmatch(r"\d{1,18}", str(value), re.ASCII) else None
