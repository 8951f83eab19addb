"""The command `adclient` and its subcommands."""

import argparse
import errno
import io
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from adclient._version import __version__


class Parser(argparse.ArgumentParser):
    """A parser to which an option that is given twice is an error, unless it may be repeated."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name in (None, "store"):
            self.register("action", name, _StoreOnce)


class _StoreOnce(argparse.Action):
    """Stores the value of an option; a second one would silently replace it."""

    is_stored = False

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        if self.is_stored:
            parser.error(f"{option_string} is given twice")
        self.is_stored = True
        setattr(namespace, self.dest, values)


EXIT_CODES = {
    0: "done",
    1: "the service, the network, a ledger or a file failed",
    2: "the command line, or a file or a setting that it names, is invalid",
    130: "interrupted by Ctrl-C",
    141: "the reader of the output has closed it, as `head` does",
}

# The module of each subcommand, which is loaded when that is chosen, and its help text.
_COMMANDS = {
    "list": ("_command.listing", "list what one of the seven reads returns"),
    "plan": ("_command.plan", "check a plan of changes, or stage them"),
    "ledger": ("_command.ledger", "show, settle and verify the record of writes"),
    "mcp": ("_command.mcp", "serve the operations to a model, over MCP"),
    "doctor": (
        "_command.doctor",
        "find out by reads what the service does where its interface leaves it open",
    ),
    "models": ("_command.models", "write a class for the items of each listing in a service file"),
    "conform": ("_command.conform", "check whether the service keeps to its interface"),
    "fake": (
        "testing.command",
        "serve a fake ad service over HTTP, with a page to approve its drafts",
    ),
}
_EPILOG = "`adclient COMMAND --help` describes a command, and the exit codes that it adds."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: The arguments of the command; None for those of the command line.

    Returns:
        The exit code.

    Raises:
        SystemExit: An argument is invalid, or asks for help.
    """
    from adclient.errors import AdClientError, ConfigurationError, InvalidRequest

    for name, mode in {"stdin": "r", "stdout": "w", "stderr": "w"}.items():
        if getattr(sys, name) is None:  # closed, as `>&-` does
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (stays open)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # What the encoding of a terminal does not have is written as escapes.
            stream.reconfigure(errors="backslashreplace")
            if not stream.isatty():  # the same bytes on each system
                stream.reconfigure(encoding="utf-8", newline="\n")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _tell_warning
            try:
                options = _parsed(sys.argv[1:] if arguments is None else list(arguments))
                code: int = options.run(options)
                return code
            finally:
                _flush_output()
    except KeyboardInterrupt:
        return 130
    except (ConfigurationError, InvalidRequest) as error:
        for problem in str(error).splitlines():  # a plan may have several
            tell(problem)
        return 2
    except (AdClientError, ModuleNotFoundError, OSError) as error:
        if is_closed_pipe(error):
            _discard_output()
            return 141
        tell(str(error))
    except Exception as error:
        if os.environ.get("ADCLIENT_TRACEBACK") == "full":
            raise
        tell(f"a bug: {type(error).__name__}: {error}; ADCLIENT_TRACEBACK=full shows where")
    return 1


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    about = "Work with the ad service. It can stage drafts; nothing here approves one."
    parser = Parser(prog="adclient", description=about, allow_abbrev=False)
    describe(parser)
    parser.epilog = f"{parser.epilog}\n\n{_EPILOG}"
    parser.add_argument("--version", action="version", version=f"adclient {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    is_completing = "_ARGCOMPLETE" in os.environ  # the shell sets it for each completion
    chosen = next((word for word in words if not word.startswith("-")), None)
    for name, (place, text) in _COMMANDS.items():
        sub = _added(commands.add_parser, name, text)
        if is_completing or name == chosen:
            module = import_module(f"adclient.{place}")
            module.add_arguments(sub)
            sub.set_defaults(run=module.run)
    if is_completing:  # pragma: no cover  (in a process of its own, which this ends)
        from adclient._show.tracebacks import needs

        with needs("completion"):
            from argcomplete import autocomplete
        autocomplete(parser)
    return parser.parse_args(words)


def describe(
    parser: argparse.ArgumentParser, text: str = "", codes: Mapping[int, str] = EXIT_CODES
) -> None:
    """Add a text and a table of exit codes below the options of a command."""
    table = "".join(f"\n  {code:<4} {meaning}" for code, meaning in sorted(codes.items()))
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"{text}exit codes:{table}"


def add_actions(
    parser: argparse.ArgumentParser, **actions: str
) -> dict[str, argparse.ArgumentParser]:
    """Add what a subcommand can do, each with its help text, and return their parsers."""
    group = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    return {name: _added(group.add_parser, name, text) for name, text in actions.items()}


def _added(
    add: Callable[..., argparse.ArgumentParser], name: str, text: str
) -> argparse.ArgumentParser:
    return add(name, help=text, description=f"{text[0].upper()}{text[1:]}.", allow_abbrev=False)


def is_closed_pipe(error: BaseException) -> bool:
    """Return True for an error of output that nobody reads."""
    if not isinstance(error, OSError):
        return False
    # To Windows, that is an invalid argument; so is the name of a file, which its error has.
    is_invalid = error.errno == errno.EINVAL and error.filename is None
    return is_invalid or isinstance(error, BrokenPipeError)


def tell(text: str) -> None:
    """Write one line to standard error."""
    from adclient._values.redact import one_line

    with suppress(OSError):  # there is nowhere to report it
        print(f"adclient: {one_line(text, 1000)}", file=sys.stderr)


def _tell_warning(message: Warning | str, *_: object, **__: object) -> None:
    tell(f"warning: {message}")


def _flush_output() -> None:
    """Flush now, while a full disk or a closed pipe can be handled."""
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()
        raise


def _discard_output() -> None:
    """Discard what cannot be written: Python flushes it again at its end, and would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
