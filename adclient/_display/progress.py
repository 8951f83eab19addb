"""The progress bar of an iteration, in a terminal or a notebook."""

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
    """The progress bar of one iteration; it appears with the first step.

    An abandoned loop closes its bar: the loop has the only reference to the iterator, and the
    iterator the only one to this. A bar of tqdm in a notebook is part of a reference cycle.
    """

    def __init__(self, title: str, *, unit: str, note: str, total: int | None = None) -> None:
        self._title, self._unit, self._note, self._total = title, unit, note, total
        self._done = self._noted = 0
        self._bar: tqdm[NoReturn] | None = None

    def add(self, done: int, noted: int) -> None:
        """Count units, and what the note counts, also if the bar cannot be drawn.

        It cannot on a closed pipe, for example.
        """
        from tqdm import auto

        self._noted += noted
        try:
            if self._bar is None:
                self._bar = auto.tqdm(
                    desc=self._title,
                    unit=f" {self._unit}",
                    total=self._total,
                    initial=self._done,  # not 0 if the iteration continues after an error
                    dynamic_ncols=True,
                )
            self._bar.set_postfix_str(f"{self._note}: {self._noted}", refresh=False)
            self._bar.update(done)
        except Exception:
            with suppress(Exception):  # tqdm may have failed without its lock
                cast(Any, auto.tqdm).get_lock().release()  # else no thread could draw a bar
        self._done += done

    def close(self) -> None:
        """Close the bar at the end of the iteration, or when it is interrupted."""
        bar, self._bar = self._bar, None
        if bar is not None:
            with suppress(Exception):
                bar.close()

    def __del__(self) -> None:
        self.close()
