"""Take away what Windows does not have, as Python starts."""

# ruff: noqa: E402

import _socket

vars(_socket).pop("socketpair", None)  # so `socket` defines one of its own, as it does there

import asyncio
import builtins
import os
import signal
import socket
from contextlib import suppress

with suppress(ImportError):
    import trio  # noqa: F401  (it asks for the platform, and then needs what that has)

_MISSING = {
    os: "fork forkpty register_at_fork fchmod fchown chown getpgid killpg mkfifo sched_getaffinity",
    signal: "SIGHUP SIGKILL SIGPIPE SIGQUIT SIGALRM SIGUSR1 SIGUSR2 alarm setitimer pthread_kill",
    socket: "AF_UNIX SO_REUSEPORT",
}
for _module, _names in _MISSING.items():
    for _name in _names.split():
        vars(_module).pop(_name, None)  # macOS lacks some of them itself

MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}
_import = builtins.__import__


def _import_unless_missing(name, namespace=None, *arguments, **options):
    # Other libraries decide by the name of the platform what they import.
    if name in MODULES and str((namespace or {}).get("__name__")).startswith("adclient"):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return _import(name, namespace, *arguments, **options)


builtins.__import__ = _import_unless_missing


def _not_implemented(*_: object) -> None:
    raise NotImplementedError


# What the event loop of Windows, which waits for operations, has no use for.
for _name in ("add_reader", "add_writer", "add_signal_handler"):
    setattr(asyncio.SelectorEventLoop, _name, _not_implemented)
