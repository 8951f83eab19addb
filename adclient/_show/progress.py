"""The progress of an iteration: a line in a terminal, a bar in a notebook, its end elsewhere."""

import sys
import time
from contextlib import suppress
from shutil import get_terminal_size
from typing import Any

_BETWEEN = 0.1  # seconds from one drawing to the next
_CELLS = 20

_line = ""  # what the last line of the terminal shows now


class Bar:
    """The progress bar of one iteration; it appears with the first step.

    An abandoned loop closes its bar: the loop has the only reference to the iterator, and the
    iterator the only one to this.
    """

    def __init__(self, title: str, *, unit: str, note: str, total: int | None = None) -> None:
        self._title, self._unit, self._note, self._total = title, unit, note, total
        self._done = self._noted = 0
        self._began = time.monotonic()
        self._next = 0.0
        self._is_open = False
        self._shown: Any = None

    def add(self, done: int, noted: int) -> None:
        """Count units, and what the note counts, also if the bar cannot be drawn."""
        self._done += done
        self._noted += noted
        self._is_open = True
        if time.monotonic() >= self._next:
            self._draw()
            self._next = time.monotonic() + _BETWEEN

    def close(self) -> None:
        """Show the end of the iteration, or where it was interrupted."""
        if self._is_open:
            self._is_open = False
            self._draw()

    def __del__(self) -> None:
        self.close()

    def _draw(self) -> None:
        with suppress(Exception):  # such as a closed pipe: a bar is not worth an error
            if _is_notebook():
                self._display()
            elif sys.stderr.isatty():
                self._write()
            elif not self._is_open:
                print(self._text, file=sys.stderr)

    def _write(self) -> None:
        global _line
        text = self._text
        if self._total:
            cells = _CELLS * self._done // self._total
            text += f" [{'#' * cells:.<{_CELLS}}]"
        erase_bar()
        _line = "" if not self._is_open else text[: get_terminal_size().columns - 1]
        print(_line or text, end="" if _line else "\n", file=sys.stderr, flush=True)

    def _display(self) -> None:
        from IPython.display import display

        length = f' value="{self._done}" max="{self._total}"' if self._total else ""
        bar = f'<progress aria-label="{self._title}"{length}></progress> '
        html = (bar if self._total or self._is_open else "") + self._text
        bundle = {"text/plain": self._text, "text/html": html}
        # A saved or exported notebook has what was displayed last.
        if self._shown is None:
            self._shown = display(bundle, raw=True, display_id=True)
        else:
            self._shown.update(bundle, raw=True)

    @property
    def _text(self) -> str:
        counted = _counted(self._done, self._unit)
        if self._total is not None:
            counted = f"{self._done:,} of {_counted(self._total, self._unit)}"
        noted = f", {_counted(self._noted, self._note)}" if self._noted else ""
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        return f"{self._title}: {counted}{noted}, {minutes}:{seconds:02}"


def erase_bar() -> None:
    """Erase the line of a bar, so that another can be written; the next step draws it again."""
    global _line
    if _line:
        print(f"\r{' ' * len(_line)}\r", end="", file=sys.stderr, flush=True)
        _line = ""


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what.removesuffix('s') if count == 1 else what}"


def _is_notebook() -> bool:
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return getattr(shell, "kernel", None) is not None
