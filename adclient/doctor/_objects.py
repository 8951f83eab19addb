"""How an object is written in a query, by experiment.

A search by the name of an item of the account finds something else than no search at all, if the
service understands how the search is written. A style that changes nothing was ignored.
"""

from collections.abc import Callable
from typing import Literal

import attrs

from adclient.conventions import Conventions
from adclient.doctor._continuation import Asks
from adclient.doctor._probe import Observation, PageView
from adclient.models import JSON

Style = Literal["json", "deep_object"]
Effect = Literal["understood", "ignored", "refused", "no evidence"]

_FOR_OTHERS = 10  # requests that are left for the continuation

STYLES: tuple[Style, ...] = ("json", "deep_object")


@attrs.define
class Objects:
    """The search for the style of objects, and what it found."""

    plain: Observation
    targeting: JSON = None
    styled: dict[Style, Observation] = attrs.field(factory=dict[Style, Observation])
    is_stable: bool = True
    is_repeated: bool = False
    _page: PageView = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        page = self.plain.page
        assert page is not None
        self._page = page

    def search(self, left: Callable[[], int]) -> Asks:
        """Send a search in both styles; and none again, to know that the listing is stable."""
        targeting = self.targeting or _targeting_for(self._page)
        if targeting is None:
            return
        conventions: Conventions = self.plain.probe.conventions
        for style in STYLES:
            self.styled[style] = yield attrs.evolve(
                self.plain.probe,
                purpose=f"an object, written as {style}",
                targeting=targeting,
                conventions=attrs.evolve(conventions, object_style=style),
            )
        understood = [self.styled[style] for style in STYLES if self.effect(style) == "understood"]
        # With few items to choose from, chance could select other ones.
        for _ in range(max(1, 5 - len(self._page.ids))):
            for seen in (self.plain, *understood):
                again = yield attrs.evolve(seen.probe, purpose=f"{seen.probe.purpose}, again")
                if again.page is None or seen.page is None:
                    return
                if again.page.ids != seen.page.ids:
                    self.is_stable = False
                    return
            if left() < _FOR_OTHERS:
                return
        self.is_repeated = True

    def effect(self, style: Style) -> Effect:
        """The effect of an object in a style."""
        found = self.styled[style]
        if found.page is None:
            return "refused" if found.is_refused else "no evidence"
        if found.page.ids == self._page.ids:
            return "ignored"
        # A service that searches for this text as a word finds nothing.
        return "understood" if found.page.ids else "no evidence"


def _targeting_for(page: PageView) -> JSON:
    """A search for one of the items; None if it could not be told from no search."""
    names = [item.get("name") for item in page.items if isinstance(item, dict)]
    name = next((name for name in reversed(names) if isinstance(name, str) and name), None)
    return None if name is None or len(page.ids) < 2 else {"query": name}
