"""`adclient list`: what one of the seven reads returns, page after page."""

import argparse
import shlex
import sys
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from adclient._command import EXIT_CODES, accounts, connection, describe, output
from adclient._command.output import Writer, json_line
from adclient._command.terminal import YELLOW, tell
from adclient._show.tracebacks import needs
from adclient._tables.items import Items
from adclient._values.json_values import JSON, has_fields
from adclient._values.jsontext import JSONError, loads
from adclient._values.redact import without_secrets
from adclient.errors import AdClientError, ConfigurationError
from adclient.extend import OPERATIONS, Operation
from adclient.models import Item
from adclient.options import check_count

if TYPE_CHECKING:
    from adclient import Page

_METHODS = {op.full_name: op for op in OPERATIONS if not op.is_write}
# `beta.campaigns` is `beta.list_campaigns`.
_READS = {f"{op.namespace}.{op.name.partition('_')[2]}": op for op in _METHODS.values()}
_PARAMETERS = {each.name: each for read in _METHODS.values() for each in read.parameters[1:]}
# Each parameter of a read, and its option.
_OPTIONS = {each: f"--{each.removesuffix('_id').replace('_', '-')}" for each in _PARAMETERS}
_EXAMPLES = """\
adclient list beta.campaigns --account account_b204
adclient list gamma.ads -a account_c3d8 --sort -spend --limit 10
adclient list gamma.ads -a account_c3d8 --columns id,spend --csv >ads.csv
"""
_ABOUT = """\
reads, and what narrows them:
{reads}

The names of the methods, such as beta.list_campaigns, are accepted as well.
JSON is written page by page. If that is interrupted, or if --limit leaves something out, the last \
line on standard error names the --cursor to continue with. That repeats what was written of the \
last page, if it was not complete.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    reads = [
        f"  {name:<24} {' '.join(_OPTIONS[each] for each in _filters(read))}".rstrip()
        for name, read in _READS.items()
    ]
    codes = EXIT_CODES | {accounts.SOME_FAILED: "some of several accounts failed"}
    describe(parser, _EXAMPLES, _ABOUT.format(reads="\n".join(reads)), codes)
    add = parser.add_argument
    add("read", metavar="READ", choices=[*_READS, *_METHODS], help="what to list; see below")
    accounts.add_arguments(parser)
    for name, option in _OPTIONS.items():
        is_object, about = _PARAMETERS[name].type == "object", _PARAMETERS[name].about
        kind, metavar = (connection.json_object, "JSON") if is_object else (str, option[2:].upper())
        add(option, metavar=metavar, dest=name, type=kind, help=about or f"only this {option[2:]}")
    about = "the most items to list; with --sort, the first of all"
    add("--limit", type=int, metavar="N", help=about)
    add("--cursor", type=_cursor, metavar="CURSOR", help="where to continue an earlier listing")
    add_shape = output.add_arguments(parser)
    about = "a Parquet file; of several accounts, a folder with one for each (extra: arrow)"
    add_shape("--parquet", metavar="FILE", help=about)
    about = "the class that determines the columns of Parquet, from a module of yours"
    add("--class", dest="cls", type=_class, metavar="MODULE:NAME", help=about)
    about = "what converts values for the class, such as a Lenient(), from a module of yours"
    add("--convert", type=_imported, metavar="MODULE:NAME", help=about)
    output.add_columns(parser)
    connection.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """List the items; the exit code."""
    from adclient import AdClient

    read = _READS.get(options.read) or _METHODS[options.read]
    if options.limit is not None:
        check_count("limit", options.limit, least=1)
    filters = {name: value for name in _OPTIONS if (value := getattr(options, name)) is not None}
    for name in filters.keys() - set(_filters(read)):
        raise ConfigurationError(f"{options.read} takes no {_OPTIONS[name]}")
    ids = accounts.account_ids(options)
    is_one = len(ids) == 1 and options.accounts_from is None
    cls: type[Any] | None = options.cls
    if cls is not None and options.parquet is None:
        raise ConfigurationError("--class is for --parquet")
    if cls is None and options.convert is not None:
        raise ConfigurationError("--convert is for --class")
    if not is_one and (options.cursor, options.limit if not options.sort else None) != (None, None):
        raise ConfigurationError("--limit and --cursor are for one --account; --sort takes --limit")
    if options.parquet is not None:
        if options.columns or options.sort or options.flat:
            raise ConfigurationError("--columns, --sort and --flat are not for --parquet")
        with needs("arrow"):  # before anything is read
            import_module("pyarrow.parquet")
    with AdClient(**connection.settings(options)) as client:
        method = cast("Callable[..., Page[Item]]", attrgetter(read.full_name)(client))

        def call(*, account_id: str, cursor: JSON = None) -> "Page[Item]":
            page = method(account_id=account_id, cursor=cursor, **filters)
            return page if cls is None else page.typed(cls, convert=options.convert)

        if not is_one:
            return accounts.list_accounts(client, call, ids, options)
        writer, kept = Writer(options), list[Item]()
        page = call(account_id=ids[0], cursor=options.cursor)
        limit: int | None = None if options.sort else options.limit
        is_read = page.next is None or (limit is not None and limit <= len(page.data))
        if not is_read and writer.leaves_place_for_bar:
            page = page.progress()
        items: Writer | list[Item] = writer if options.parquet is None else kept
        _read(page, limit, options.cursor, items)
    if options.parquet is None:
        writer.end()
    else:
        try:
            output.write_parquet(str(options.parquet), Items(kept, cls=cls))
        except ValueError as misfit:  # which names the item and the field
            tell(str(misfit))
            return 1
    return 0


def _read(page: "Page[Item]", left: int | None, cursor: JSON, items: Writer | list[Item]) -> None:
    """Read all pages, or as many items as are left to be read; say how to continue."""
    try:
        for each in page.pages():
            data = each.data[:left]
            items.extend(data)
            is_cut = len(data) < len(each.data)
            cursor = cursor if is_cut else each.next
            left = None if left is None else left - len(data)
            if left == 0:
                if is_cut or cursor is not None:
                    again = f", which repeats {len(data)} items" if is_cut else ""
                    tell(f"more items follow{_how_to_continue(cursor, again)}", YELLOW)
                break
    except (AdClientError, KeyboardInterrupt):
        if isinstance(items, Writer) and items.is_streamed and cursor is not None:
            tell(f"the listing is not complete{_how_to_continue(cursor)}")
        raise


def _how_to_continue(cursor: JSON, remark: str = "") -> str:
    if cursor is None:
        return ""
    shown = without_secrets(cursor)
    if shown != cursor:
        remark += ", which lacks a credential that the service put there"
    cursor = shown
    # A text that reads as JSON, or that a terminal would not show, is written as JSON.
    is_plain = isinstance(cursor, str) and cursor.isprintable() and _cursor(cursor) == cursor
    text = str(cursor) if is_plain else json_line(cursor)
    return f"; continue with --cursor {shlex.quote(text)}{remark}"


def _cursor(text: str) -> JSON:
    """A continuation: any JSON, or text."""
    try:
        return loads(text.encode())
    except (JSONError, UnicodeEncodeError):
        return text


def _class(name: str) -> type[Any]:
    if not has_fields(cls := _imported(name)):
        raise argparse.ArgumentTypeError(f"{name!r} is neither an attrs class nor a dataclass")
    return cls


def _imported(name: str) -> Any:
    """What has a name in a module that Python finds, also in the current folder."""
    module, _, attribute = name.partition(":")
    sys.path.insert(0, "")
    try:
        return getattr(import_module(module), attribute)
    except (Exception, SystemExit) as error:  # whatever the module raises
        problem = f"{name!r}: {type(error).__name__}: {error}"
        raise argparse.ArgumentTypeError(problem) from None


def _filters(read: Operation) -> list[str]:
    return [parameter.name for parameter in read.parameters if not parameter.required]
