"""The progress bar of a listing, in a terminal or a notebook."""

import sys
from typing import TYPE_CHECKING, NoReturn

from adclient._extras import needs

if TYPE_CHECKING:
    from tqdm.auto import tqdm


def check_installed() -> None:
    """Say at once what to install, and not in the middle of a listing."""
    with needs("notebook"):
        import tqdm.auto as _  # noqa: F401 (is it there?)


class Bar:
    """Counts the pages and items of one walk; it draws nothing before the first page.

    tqdm ends a bar when its last reference goes. So a loop that is left ends its bar, because it
    alone holds the iterator, which alone holds this.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._pages = self._items = 0
        self._drawn: tqdm[NoReturn] | None = None

    def add(self, items: int) -> None:
        """Count a page."""
        self._pages += 1
        self._items += items
        if self._drawn is None:
            from tqdm.auto import tqdm

            # A walk that goes on after an error goes on counting.
            self._drawn = tqdm(
                desc=self._title,
                unit=" items",
                initial=self._items - items,
                dynamic_ncols=True,
                disable=sys.stderr is None,  # a program without a terminal may have none
            )
        self._drawn.set_postfix_str(f"pages: {self._pages}", refresh=False)
        self._drawn.update(items)

    def close(self) -> None:
        """Leave the bar as it stands: the walk is over, or was interrupted."""
        if self._drawn is not None:
            self._drawn.close()
            self._drawn = None
