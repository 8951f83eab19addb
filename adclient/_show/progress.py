"""The progress of an iteration: a line in a terminal, a bar in a notebook, its end elsewhere."""

import sys
import time
from contextlib import suppress
from importlib import import_module
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
        global _line
        with suppress(Exception):  # such as a closed pipe: a bar is not worth an error
            shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
            if getattr(shell, "kernel", None) is not None:  # a notebook
                display: Any = import_module("IPython.display").display
                length = f' value="{self._done}" max="{self._total}"' if self._total else ""
                bar = f'<progress aria-label="{self._title}"{length}></progress> '
                html = (bar if self._total or self._is_open else "") + self._text
                bundle = {"text/plain": self._text, "text/html": html}
                # A saved or exported notebook has what was displayed last.
                if self._shown is None:
                    self._shown = display(bundle, raw=True, display_id=True)
                else:
                    self._shown.update(bundle, raw=True)
            elif sys.stderr.isatty():
                text = self._text
                if self._total:
                    cells = _CELLS * self._done // self._total
                    text += f" [{'#' * cells:.<{_CELLS}}]"
                draw_line(text)
                if not self._is_open:
                    print(file=sys.stderr, flush=True)
                    _line = ""
            elif not self._is_open:
                print(self._text, file=sys.stderr)

    @property
    def _text(self) -> str:
        counted = _counted(self._done, self._unit)
        if self._total is not None:
            counted = f"{self._done:,} of {_counted(self._total, self._unit)}"
        noted = f", {_counted(self._noted, self._note)}" if self._noted else ""
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        return f"{self._title}: {counted}{noted}, {minutes}:{seconds:02}"


def draw_line(text: str) -> None:
    """Draw a line on the terminal of standard error, in place of the one before."""
    global _line
    erase_line()
    plain = text.encode("ascii", "backslashreplace").decode()  # so that its width is known
    _line = plain[: get_terminal_size().columns - 1]
    print(_line, end="", file=sys.stderr, flush=True)


def erase_line() -> None:
    """Erase that line, so that another can be written there."""
    global _line
    if _line:
        print(f"\r{' ' * len(_line)}\r", end="", file=sys.stderr, flush=True)
        _line = ""


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what.removesuffix('s') if count == 1 else what}"
