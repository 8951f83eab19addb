"""The command `adclient` and its subcommands."""

import argparse
import os
import sys
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
        The exit code; 141, as a shell reports it, if nobody reads the output to its end.

    Raises:
        SystemExit: An argument is invalid, or asks for help.
    """
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()  # now, while a closed pipe can still be handled
    except BrokenPipeError:
        # At its end, Python flushes again what could not be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _run(arguments: Sequence[str] | None) -> int:
    parser = argparse.ArgumentParser(prog="adclient", description="Work with the ad service.")
    parser.add_argument("--version", action="version", version=f"adclient {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in _COMMANDS.items():
        command.add_arguments(commands.add_parser(name, help=command.help))
    options = parser.parse_args(arguments)
    chosen: str = options.command
    return _COMMANDS[chosen].run(options)
