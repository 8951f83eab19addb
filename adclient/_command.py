"""The command `adclient` and its subcommands."""

import argparse
from collections.abc import Callable, Sequence
from typing import NamedTuple

from adclient._version import __version__
from adclient.doctor import command as doctor


class _Command(NamedTuple):
    """A subcommand; `run` returns the exit code."""

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


_COMMANDS = {"doctor": _Command(doctor.HELP, doctor.add_arguments, doctor.run)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: The arguments of the command; None for those of the command line.

    Returns:
        The exit code.

    Raises:
        SystemExit: An argument is invalid, or asks for help.
    """
    parser = argparse.ArgumentParser(prog="adclient", description="Work with the ad service.")
    parser.add_argument("--version", action="version", version=f"adclient {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in _COMMANDS.items():
        command.add_arguments(commands.add_parser(name, help=command.help))
    options = parser.parse_args(arguments)
    chosen: str = options.command
    return _COMMANDS[chosen].run(options)
