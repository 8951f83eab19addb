"""`adclient list`: what one of the seven reads returns, page after page, of one account or many."""

import argparse
import errno
import shlex
import sys
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, cast
from urllib.parse import quote

from adclient import AccountIterator, Page
from adclient._command import EXIT_CODES, Parser, Types, connection, output
from adclient._command.connection import json_or_text
from adclient._command.output import Writer, json_line
from adclient._command.terminal import YELLOW, tell
from adclient._service.file import read_service
from adclient._show.tracebacks import needs
from adclient._tables.rows import row_of
from adclient._values.json_values import JSON, has_fields
from adclient._values.redact import without_secrets
from adclient.errors import AdClientError, ConfigurationError
from adclient.extend import OPERATIONS
from adclient.models import Item
from adclient.options import check_count

_METHODS = {op.full_name: op for op in OPERATIONS if not op.is_write}
# `beta.campaigns` is `beta.list_campaigns`.
READS = {f"{op.namespace}.{op.name.partition('_')[2]}": op for op in _METHODS.values()}
_FILTERS = {each.name: each for read in _METHODS.values() for each in read.parameters[1:]}
_OPTIONS = {each: f"--{each.removesuffix('_id').replace('_', '-')}" for each in _FILTERS}
_NARROWING = "\n".join(
    f"{option} {'JSON' if _FILTERS[name].type == 'object' else option[2:].upper()}"
    f"  {_FILTERS[name].about or f'only this {option[2:]}'}"
    for name, option in _OPTIONS.items()
)
_NARROWED = "\n".join(
    f"  {name:<24} {' '.join(_OPTIONS[each.name] for each in read.parameters[1:])}".rstrip()
    for name, read in READS.items()
)
_SOME_FAILED = 3  # the exit code
_HELP = f"""\
adclient list beta.campaigns --account account_b204
adclient list gamma.ads -a account_c3d8 --sort -spend --limit 10
adclient list gamma.ads -a account_c3d8 --columns id,spend --csv >ads.csv
READ  what to list; see below
--account -a ID...  a connected account; repeatable; by default, those of the service file
--accounts-from FILE  a file with the id of an account in each line; - is standard input
--at-once N=10  how many of several accounts are read at once (%(default)s)
{_NARROWING}
--limit N  the most items to list; with --sort, the first of all
--cursor CURSOR  where to continue an earlier listing
{output.SHAPES}\
| --parquet FILE  a Parquet file; of several accounts, a folder with one for each (extra: arrow)
--class MODULE:NAME  the class that determines the columns of Parquet, from a module of yours
--convert MODULE:NAME  what converts values for the class, such as a Lenient(), from a module of
    yours
columns:
--columns NAMES  only these, in this order, such as id,name,spend
--sort NAMES  by these columns, such as -spend,name; a - is descending; all items are read first
--flat  the fields of objects as columns of their own, such as budget.amount
{connection.CONNECTION}
reads, and what narrows them:
{_NARROWED}

The names of the methods, such as beta.list_campaigns, are accepted as well.
JSON is written page by page. If that is interrupted, or if --limit leaves something out, the last \
line on standard error names the --cursor to continue with. That repeats what was written of the \
last page, if it was not complete.
"""


def add_arguments(parser: Parser) -> None:
    """Describe the command line."""
    types: Types = {
        "READ": [*READS, *_METHODS],
        "JSON": connection.json_object,
        "CURSOR": json_or_text,
        "MODULE:NAME": _imported,
        "NAMES": output.names_of,
    }
    codes = EXIT_CODES | {_SOME_FAILED: "some of several accounts failed"}
    parser.describe(_HELP, codes, types)
    parser.set_defaults(columns=[], sort=[])


def run(options: argparse.Namespace) -> int:
    """List the items; the exit code."""
    read = READS.get(options.read) or _METHODS[options.read]
    if options.limit is not None:
        check_count("limit", options.limit, least=1)
    filters = {name: value for name in _OPTIONS if (value := getattr(options, name)) is not None}
    for name in filters.keys() - {each.name for each in read.parameters}:
        raise ConfigurationError(f"{options.read} takes no {_OPTIONS[name]}")
    ids: list[str] = options.account_id
    if options.accounts_from is not None:
        text = connection.read_text("--accounts-from", options.accounts_from)
        lines = map(str.strip, text.splitlines())
        ids += [line for line in lines if line and not line.startswith("#")]
        if not ids:
            raise ConfigurationError(f"--accounts-from: {options.accounts_from} names no account")
    elif not ids and (path := connection.service_path(options)) is not None:
        ids += read_service(path).accounts
    if not ids:
        raise ConfigurationError("no account: pass --account ID or --accounts-from FILE")
    ids = [*dict.fromkeys(ids)]  # each once
    is_one = len(ids) == 1 and options.accounts_from is None
    cls: type[Any] | None = options.cls
    limit: int | None = None if options.sort else options.limit
    if cls is not None and not has_fields(cls):
        raise ConfigurationError("--class names neither an attrs class nor a dataclass")
    if cls is not None and options.parquet is None:
        raise ConfigurationError("--class is for --parquet")
    if cls is None and options.convert is not None:
        raise ConfigurationError("--convert is for --class")
    if not is_one and (options.cursor, limit) != (None, None):
        raise ConfigurationError("--limit and --cursor are for one --account; --sort takes --limit")
    if options.parquet is not None:
        if options.columns or options.sort or options.flat:
            raise ConfigurationError("--columns, --sort and --flat are not for --parquet")
        with needs("arrow"):  # before anything is read
            import_module("pyarrow.parquet")
    writer = Writer(options)
    with connection.open_client(options) as client:
        method = cast("Callable[..., Page[Item]]", attrgetter(read.full_name)(client))

        def call(*, account_id: str, cursor: JSON = None) -> Page[Item]:
            page = method(account_id=account_id, cursor=cursor, **filters)
            return page if cls is None else page.typed(cls, convert=options.convert)

        if not is_one:
            progress = writer.leaves_place_for_bar
            accounts = client.over_accounts(call, ids, at_once=options.at_once, progress=progress)
            return _write_accounts(accounts, writer, options)
        page = call(account_id=ids[0], cursor=options.cursor)
        is_read = page.next is None or (limit is not None and limit <= len(page.data))
        if not is_read and writer.leaves_place_for_bar:
            page = page.progress()
        _read(page, limit, options.cursor, writer)
    writer.end()
    return 0


def _write_accounts(
    accounts: AccountIterator[Item], writer: Writer, options: argparse.Namespace
) -> int:
    """Write the items of each account, in Parquet to a file of its own; the exit code."""
    folder = None if options.parquet is None else Path(options.parquet)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)  # an error before anything is read
    count = failed = 0
    with accounts:
        for account_id, result in accounts:
            count += 1
            try:
                if isinstance(result, AdClientError):
                    raise result
                if folder is None:
                    writer.add({"account_id": account_id} | row_of(item) for item in result)
                else:
                    part = folder / f"part-{quote(account_id, safe='')}.parquet"
                    unfinished = part.with_name(f".{part.name}")  # which readers of a folder skip
                    output.write_parquet(str(unfinished), result)
                    unfinished.replace(part)
            except (AdClientError, OSError) as error:
                # Of this account alone: such as a value that does not fit the class.
                if not isinstance(error, AdClientError) and error.errno != errno.ENAMETOOLONG:
                    raise
                tell(options.parser.with_options(f"{account_id}: {error}"))
                failed += 1
    if folder is None:
        writer.end()
    if failed:
        tell(f"{failed} of {count} accounts failed")
    return 1 if failed == count else _SOME_FAILED if failed else 0


def _read(page: Page[Item], left: int | None, cursor: JSON, writer: Writer) -> None:
    """Write all pages, or as many items as are left to be read; say how to continue."""
    try:
        for each in page.pages():
            data = each.data[:left]
            writer.extend(data)
            is_cut = len(data) < len(each.data)
            cursor = cursor if is_cut else each.next
            left = None if left is None else left - len(data)
            if left == 0:
                if is_cut or cursor is not None:
                    again = f", which repeats {len(data)} items" if is_cut else ""
                    tell(f"more items follow{_how_to_continue(cursor, again)}", YELLOW)
                break
    except (AdClientError, KeyboardInterrupt):
        if writer.is_streamed and cursor is not None:
            tell(f"the listing is not complete{_how_to_continue(cursor)}")
        raise


def _how_to_continue(cursor: JSON, remark: str = "") -> str:
    if cursor is None:
        return ""
    shown = without_secrets(cursor)
    if shown != cursor:
        remark += ", which lacks a credential that the service put there"
    # A text that reads as JSON, or that a terminal would not show, is written as JSON.
    is_plain = isinstance(shown, str) and shown.isprintable() and json_or_text(shown) == shown
    text = str(shown) if is_plain else json_line(shown)
    return f"; continue with --cursor {shlex.quote(text)}{remark}"


def _imported(name: str) -> Any:
    """What has a name in a module that Python finds, also in the current folder."""
    if ":" not in name:
        raise argparse.ArgumentTypeError(f"{name!r}: expected MODULE:NAME")
    sys.path.insert(0, "")
    try:
        return resolve_name(name)
    except (Exception, SystemExit) as error:  # whatever the module raises
        problem = f"{name!r}: {type(error).__name__}: {error}"
        raise argparse.ArgumentTypeError(problem) from None
