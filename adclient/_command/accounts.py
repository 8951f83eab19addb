"""`adclient list` of many accounts."""

import argparse
import errno
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from adclient._command import connection, output
from adclient._command.terminal import tell
from adclient._service.file import read_service
from adclient._tables.records import row_of
from adclient.errors import AdClientError, ConfigurationError

if TYPE_CHECKING:
    from adclient import AccountRead, AdClient, Items
    from adclient.models import Item

SOME_FAILED = 3  # the exit code


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options for the accounts."""
    add = parser.add_argument
    about = "a connected account; repeatable; by default, those of the service file"
    add("--account", "-a", action="append", metavar="ID", help=about)
    about = "a file with the id of an account in each line; - is standard input"
    add("--accounts-from", metavar="FILE", help=about)
    about = "how many of several accounts are read at once (%(default)s)"
    add("--at-once", type=int, default=10, metavar="N", help=about)


def account_ids(options: argparse.Namespace) -> list[str]:
    """The accounts that the options name, or else the service file, each once."""
    ids: list[str] = [*(options.account or ())]
    file: str | None = options.accounts_from
    if file is not None:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ConfigurationError(f"--accounts-from: {file} is not UTF-8") from None
        lines = map(str.strip, text.splitlines())
        ids += [line for line in lines if line and not line.startswith("#")]
    if not ids and file is None and (path := connection.service_path(options)) is not None:
        ids += read_service(path).accounts
    if not ids:
        raise ConfigurationError("no account: pass --account ID or --accounts-from FILE")
    return [*dict.fromkeys(ids)]


def list_accounts(
    client: "AdClient", read: "AccountRead[Item]", ids: Sequence[str], options: argparse.Namespace
) -> int:
    """Write the items of each account; the exit code."""
    writer = output.Writer(options)
    folder = None if options.parquet is None else Path(options.parquet)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)  # an error before anything is read
    progress, failed = writer.leaves_place_for_bar, 0
    with client.over_accounts(read, ids, at_once=options.at_once, progress=progress) as accounts:
        for account_id, result in accounts:
            error: Exception | None = None
            if isinstance(result, AdClientError):
                error = result
            elif folder is not None:
                error = _write_part(folder, account_id, result)
            else:
                writer.add({"account_id": account_id} | row_of(item) for item in result)
            if error is not None:
                tell(f"{account_id}: {error}")
                failed += 1
    if folder is None:
        writer.end()
    if failed:
        tell(f"{failed} of {len(ids)} accounts failed")
    return 1 if failed == len(ids) else SOME_FAILED if failed else 0


def _write_part(folder: Path, account_id: str, items: "Items[Item]") -> Exception | None:
    """Write the items of an account to a file of their own, which appears when it is complete.

    An error that concerns only this account is returned.
    """
    part = folder / f"part-{quote(account_id, safe='')}.parquet"
    unfinished = part.with_name(f".{part.name}")  # which readers of a folder skip
    try:
        output.write_parquet(str(unfinished), items)
    except (ValueError, OSError) as error:  # such as a value that does not fit the class
        if isinstance(error, OSError) and error.errno != errno.ENAMETOOLONG:
            raise
        return error
    unfinished.replace(part)
    return None
