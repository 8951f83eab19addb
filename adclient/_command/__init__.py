"""The command `adclient` and its subcommands."""

import argparse
import errno
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from itertools import takewhile
from shutil import get_terminal_size
from typing import Any, NoReturn

from adclient._command.terminal import (
    BOLD,
    YELLOW,
    did_you_mean,
    erase_line,
    painted,
    tell,
    wrapped,
)
from adclient._version import __version__

EXIT_CODES = {
    0: "done",
    1: "the service, the network, a ledger or a file failed",
    2: "the command line, or a file or a setting that it names, is invalid",
    130: "interrupted by Ctrl-C",
    141: "the reader of the output has closed it, as `head` does",
}

_COMMANDS = {
    "list": "list what one of the seven reads returns",
    "plan": "check a plan of changes, or stage them",
    "ledger": "show, settle and verify the record of writes",
    "mcp": "serve the operations to a model, over MCP",
    "doctor": "find out by reads what the service does where its interface leaves it open",
    "models": "write a class for the items of each listing in a service file",
    "conform": "check whether the service keeps to its interface",
    "fake": "serve a fake ad service over HTTP, with a page to approve its drafts",
}
# The modules of commands that have another name; the one that is chosen is loaded.
_MODULES = {"list": "_command.listing", "fake": "testing.command"}
# The arguments of clients and ledgers that options set under another name.
_ARGUMENTS = {
    **{name: f"{name}_id" for name in ("account", "campaign", "creative", "draft", "plan")},
    **{"header": "headers", "requests": "most_requests", "retries": "max_retries"},
    **{"ca_file": "verify", "class": "cls", "url": "base_url"},
}
Types = Mapping[str, Callable[[str], object] | Collection[str]]
_TYPES: Types = {"N": int, "NUMBER": int, "PORT": int, "SECONDS": float}
_VARIABLES = {"base_url": "ADCLIENT_BASE_URL", "token": "ADCLIENT_TOKEN"}  # that set them as well
_OPTION = re.compile(r"([|!]?) ?((?:-\S+ ?)*)(\[?[A-Z:-]*\]?)(?:=([^. ]\S*?))?(\.\.\.)?$")
_HELP = """\
adclient fake
adclient list beta.campaigns --url http://127.0.0.1:8765 -a account_b204

`adclient COMMAND --help` describes a command.
"""


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
    words = sys.argv[1:] if arguments is None else list(arguments)
    parser: Parser | None = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _tell_warning
            try:
                options = _parsed(words)
                parser = options.parser
                code: int = options.run(options)
                return code
            finally:
                erase_line()
                try:
                    sys.stdout.flush()  # now, while a full disk or a closed pipe can be handled
                except OSError:
                    _discard_output()
                    raise
    except KeyboardInterrupt:
        return 130
    except AdClientError as error:
        for problem in str(error).splitlines():  # a plan may have several
            tell(parser.with_options(problem, error.argument) if parser else problem)
        return 2 if isinstance(error, ConfigurationError | InvalidRequest) else 1
    except (ModuleNotFoundError, OSError) as error:
        if is_closed_pipe(error):
            _discard_output()
            return 141
        file, reason = getattr(error, "filename", None), getattr(error, "strerror", None)
        tell(": ".join(str(each) for each in (file, reason or error) if each is not None))
    except Exception as error:
        if os.environ.get("ADCLIENT_TRACEBACK") == "full":
            raise
        tell(f"a bug: {type(error).__name__}: {error}; ADCLIENT_TRACEBACK=full shows where")
    return 1


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    about = "Work with the ad service. It can stage drafts; nothing here approves one."
    parser = Parser(prog="adclient", description=about)
    parser.describe(_HELP)
    parser.add_argument("--version", action="version", version=f"adclient {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", title="commands")
    is_completing = "_ARGCOMPLETE" in os.environ  # the shell sets it for each completion
    chosen = next((word for word in words if not word.startswith("-")), None)
    for name, text in _COMMANDS.items():
        sub = _added(commands.add_parser, name, text)
        if is_completing or name == chosen:
            module = import_module(f"adclient.{_MODULES.get(name, f'_command.{name}')}")
            module.add_arguments(sub)
            sub.set_defaults(run=module.run)
    if is_completing:  # pragma: no cover  (in a process of its own, which this ends)
        from adclient._show.tracebacks import needs

        with needs("completion"):
            from argcomplete import autocomplete
        autocomplete(parser)
    for word in takewhile(lambda word: word.startswith("-"), words):
        if word not in parser._option_string_actions:
            parser.refuse(word)
    if not words or list(words) in (["plan"], ["ledger"]):
        return parser.parse_args([*words, "--help"])
    # In `--sort -spend`, argparse would take the second word for an option.
    line = re.sub("\0--sort\0-", "\0--sort=-", "\0".join(["", *words]))
    options, unknown = parser.parse_known_args(line.split("\0")[1:])
    if unknown:
        options.parser.refuse(unknown[0])
    options.parser.typed = {word.partition("=")[0] for word in words}
    return options


class Parser(argparse.ArgumentParser):
    """A parser with tables of options, errors of one line, and help of at most 79 columns."""

    typed: Collection[str] = ()  # the options of the command line

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=_Help, allow_abbrev=False, **settings)
        self.color = False  # that of Python 3.14: headings stand out in every version

    def describe(
        self, text: str, codes: Mapping[int, str] = EXIT_CODES, types: Types = _TYPES
    ) -> None:
        """Add the examples and options of a text, and exit codes; its end is shown as it is.

        Examples begin with `adclient`. The line of an option has names, a value, and the help. A
        value `N=10` has a default, `ID...` may be repeated, and `[URL]` left out. A line that ends
        with a colon begins a group; lines that begin with `|` exclude each other, and one that
        begins with `!` is required. The end is behind an empty line. `types` are those of values,
        or choices.
        """
        table, _, end = text.partition("\n\n")
        examples = "examples:"
        types = {**_TYPES, **types}
        group: Any = self
        exclusive: Any = None
        for line in re.sub("\n {4,}", " ", table).splitlines():
            if line.startswith("adclient "):
                examples += f"\n  {line}"
                continue
            if line.endswith(":"):
                group, exclusive = self.add_argument_group(line[:-1]), None
                continue
            option, about = re.split(" {2,}", line, maxsplit=1)
            mark, names, value, default, dots = _OPTION.findall(option)[0]
            exclusive = (exclusive or group.add_mutually_exclusive_group()) if mark == "|" else None
            word = value.strip("[]")
            name = (names or word).split()[0].strip("-").lower().replace("-", "_")
            given: dict[str, Any] = {"help": about, "dest": _ARGUMENTS.get(name, name)}
            if not value:
                given["action"] = "store_true"
            else:
                kind = types.get(word, str)
                given |= {"metavar": word, "type" if callable(kind) else "choices": kind}
            if default:
                given["default"] = default
            if dots:
                given |= {"action": "append", "default": []} if names else {"nargs": "+"}
            if value != word:
                given |= {"nargs": "?", "default": argparse.SUPPRESS}
            if mark == "!":
                given["required"] = True
            (exclusive or group).add_argument(*names.split(), **given)
        meanings = "".join(f"\n  {code:<4} {meaning}" for code, meaning in sorted(codes.items()))
        parts = (examples, end.rstrip(), f"exit codes:{meanings}" if codes else "")
        self.epilog: str | None = "\n\n".join(filter(None, parts))

    def add_actions(self, actions: str, types: Types = _TYPES) -> None:
        """Add what a command can do: blocks of a name, a help text, an example and options."""
        group = self.add_subparsers(dest="action", required=True, metavar="ACTION", title="actions")
        for each in actions.split("\n\n"):
            head, _, text = each.partition("\n")
            _added(group.add_parser, *head.split(": ")).describe(text, {}, types)

    def with_options(self, problem: str, argument: str | None = None) -> str:
        """A problem that names the option of an argument, as it was typed, or its variable."""
        if argument is not None:  # before it, there may be the name of an operation
            option = self._option_of(argument)
            problem = re.sub(rf"^([a-z_.]+: )?{re.escape(argument)}\b", rf"\g<1>{option}", problem)
        return re.sub(r"\bbase_url\b", self._option_of("base_url"), problem)

    def _option_of(self, argument: str) -> str:
        names: list[str] = []
        for each in self._actions:
            if each.dest in (argument, f"{argument}_file", f"{argument}_env"):
                names += each.option_strings or [str(each.metavar)]
        variable = _VARIABLES.get(argument, "")
        if "URL" not in names and os.environ.get(variable, "").strip():
            names.append(variable)
        is_meant = {*self.typed, variable}.__contains__
        return next(filter(is_meant, names), names[0] if names else argument)

    def refuse(self, word: str) -> NoReturn:
        """Refuse a word that is no argument of this command."""
        near = did_you_mean(word, self._option_string_actions)
        self.error(f"{self.prog} takes no {word}{near}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [*map(str, action.choices)]
            near = did_you_mean(value, known)
            if not near and action.metavar == "COMMAND":  # `campaigns` is what `list` lists
                from adclient._command.listing import READS

                near = did_you_mean(value, (f"list {read}" for read in READS))
            hint = near or f": choose from {', '.join(known)}"
            what = str(action.metavar).lower()
            raise argparse.ArgumentError(None, f"there is no {what} {value}{hint}")

    def print_help(self, file: Any = None) -> None:
        """Print the help, with headings that stand out on a terminal."""
        text = self.format_help()
        text = re.sub("(?m)^[a-z ]+:", lambda found: painted(found[0], BOLD, sys.stdout), text)
        print(text, end="", file=file)

    def error(self, message: str) -> NoReturn:
        """Say in one line what is wrong, and what describes the command."""
        end = "" if message.endswith("?") else "."
        tell(f"{message.removeprefix('argument ')}{end} See `{self.prog} --help`")
        raise SystemExit(2)


class _Help(argparse.HelpFormatter):
    """Help of at most 79 columns, with a short usage, and texts that keep their lines."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(get_terminal_size().columns, 80) - 1)

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any = None) -> None:
        """Show what is required; the options are listed below."""
        del groups
        shown = [each for each in actions if each.required or not each.option_strings]
        if len(shown) < len(actions):
            shown.insert(0, argparse.Action(["options"], "", nargs=0))
        super().add_usage(usage, shown, [], prefix)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return wrapped(indent + text, width)


def _added(add: Callable[..., Parser], name: str, text: str) -> Parser:
    parser = add(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.set_defaults(parser=parser)
    return parser


def is_closed_pipe(error: BaseException) -> bool:
    """Return True for an error of output that nobody reads."""
    if not isinstance(error, OSError):
        return False
    # To Windows, that is an invalid argument; so is the name of a file, which its error has.
    is_invalid = error.errno == errno.EINVAL and error.filename is None
    return is_invalid or isinstance(error, BrokenPipeError)


def _tell_warning(message: Warning | str, *_: object, **__: object) -> None:
    tell(f"warning: {message}", YELLOW)


def _discard_output() -> None:
    """Discard what cannot be written: Python flushes it again at its end, and would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
