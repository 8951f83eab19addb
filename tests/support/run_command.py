"""Run the command `adclient` in this process, and return what it prints."""

import io
import json
from collections.abc import Collection
from contextlib import redirect_stderr, redirect_stdout

import attrs

from adclient._command import main


@attrs.frozen
class Ran:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict]:
        return [json.loads(line) for line in self.out.splitlines()]


class Stream(io.StringIO):
    """A standard stream, which may be a terminal."""

    is_terminal = False

    def isatty(self) -> bool:
        return self.is_terminal


def run_command(*words: str, terminals: Collection[str] = ()) -> Ran:
    """Run a command; `terminals` are those of `out` and `err` that are a terminal."""
    out, err = Stream(), Stream()
    out.is_terminal, err.is_terminal = "out" in terminals, "err" in terminals
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as ended:  # by argparse
            code = ended.code
    return Ran(code, out.getvalue(), err.getvalue())
