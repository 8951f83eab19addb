"""The progress bar of a listing, in a terminal or a notebook."""

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
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
        self._show_end: Callable[[bool], object] = lambda _: None
        self._is_broken = False

    def add(self, items: int) -> None:
        """Count a page. A bar that cannot be drawn, as on a closed pipe, is dropped."""
        self._pages += 1
        self._items += items
        if self._is_broken:
            return
        try:
            if self._bar is None:
                self._bar = self._made(self._items - items)
            self._bar.set_postfix_str(f"pages: {self._pages}", refresh=False)
            self._bar.update(items)
        except Exception:
            self._drop()

    def close(self, *, is_failed: bool = False) -> None:
        """Close the bar at the end of the iteration, or when it is interrupted."""
        bar, self._bar = self._bar, None
        if bar is not None:
            with suppress(Exception):
                bar.close()
                self._show_end(is_failed)

    def __del__(self) -> None:
        self.close()

    def _drop(self) -> None:
        from tqdm import auto

        lock = cast(Any, auto.tqdm).get_lock()
        with suppress(Exception):  # tqdm may have failed without it
            lock.release()  # else no other thread could draw a bar
        if self._bar is not None:
            self._bar.disable = True  # so it draws nothing when it is closed
        self._bar, self._is_broken = None, True

    def _made(self, initial: int) -> "tqdm[NoReturn]":
        """A new bar; `initial` is not 0 if the iteration continues after an error."""
        from tqdm import auto

        make = partial(
            auto.tqdm, desc=self._title, unit=" items", initial=initial, dynamic_ncols=True
        )
        # tqdm.auto loads this module in a notebook with widgets.
        notebook = sys.modules.get("tqdm.notebook")
        if notebook is None or not issubclass(auto.tqdm, notebook.tqdm):
            return make(disable=sys.stderr is None)  # as in a program without a console
        # A notebook is saved with the text of the widget, which would stay that of its start.
        bar: Any = make(display=False)
        shown = import_module("IPython.display").display(bar.container, display_id=True)

        def show_end(is_failed: bool) -> None:
            if is_failed:  # else it is green: without a total, tqdm takes any end for a success
                bar.disp(bar_style="danger")
            shown.update(bar.container)

        self._show_end = show_end
        return cast("tqdm[NoReturn]", bar)
