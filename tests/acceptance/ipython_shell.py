"""An in-process IPython shell: the output of cells and of `?`, and completions."""

import os
import sys
from contextlib import contextmanager
from unittest import mock

from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config


class Shell:
    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell

    def run(self, cell: str) -> str:
        """Run a cell, or a query such as `Draft?`, and return what it prints."""
        with capture_output() as printed:
            self._shell.run_cell(cell)
        return printed.stdout

    def complete(self, text: str, *, jedi: bool = True) -> list[str]:
        """Return the completions at the end of a text, by their last component."""
        completer = self._shell.Completer
        completer.use_jedi = jedi
        with provisionalcompleter():
            offered = [found.text for found in completer.completions(text, len(text))]
        return sorted({name.rpartition(".")[2] for name in offered} - {""})


@contextmanager
def opened(folder):
    """A shell that restores the interpreter's state; `folder` is for its files."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    before = sys.modules["__main__"], sys.displayhook, sys.excepthook
    shell = InteractiveShell(config=config, ipython_dir=str(folder))
    try:
        with mock.patch.dict(os.environ, TERM="dumb"):  # it has no pager
            yield Shell(shell)
    finally:
        shell.restore_sys_module_state()
        sys.modules["__main__"], sys.displayhook, sys.excepthook = before
