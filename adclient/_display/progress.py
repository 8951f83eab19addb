"""The progress bar of a listing, in a terminal or a notebook."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, cast

from adclient._display.extras import needs

if TYPE_CHECKING:
    from tqdm.auto import tqdm


def check_installed() -> None:
    """Raise now if tqdm is missing, not in the middle of an iteration."""
    with needs("notebook"):
        import tqdm.auto as _  # noqa: F401 (only imported to see whether it is there)


class Bar:
    """The progress bar of one iteration; it appears with the first page.

    An abandoned loop closes its bar: the loop has the only reference to the iterator, and the
    iterator the only one to this. A bar of tqdm in a notebook is part of a reference cycle.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._pages = self._items = 0
        self._bar: tqdm[NoReturn] | None = None

    def add(self, items: int) -> None:
        """Count a page, also if the bar cannot be drawn, as on a closed pipe."""
        from tqdm import auto

        self._pages += 1
        try:
            if self._bar is None:
                self._bar = auto.tqdm(
                    desc=self._title,
                    unit=" items",
                    initial=self._items,  # not 0 if the iteration continues after an error
                    dynamic_ncols=True,
                )
            self._bar.set_postfix_str(f"pages: {self._pages}", refresh=False)
            self._bar.update(items)
        except Exception:
            with suppress(Exception):  # tqdm may have failed without its lock
                cast(Any, auto.tqdm).get_lock().release()  # else no thread could draw a bar
        self._items += items

    def close(self) -> None:
        """Close the bar at the end of the iteration, or when it is interrupted."""
        bar, self._bar = self._bar, None
        if bar is not None:
            with suppress(Exception):
                bar.close()

    def __del__(self) -> None:
        self.close()
