"""Reads and writes a service file; an error names the place in it."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from operator import eq
from pathlib import Path
from typing import Any, cast

import attrs
from cattrs.errors import ForbiddenExtraKeysError

from adclient._core.converters import strict_converter
from adclient._core.operations import READS
from adclient._core.typed import first_error
from adclient._http.network import checked_proxy
from adclient._service.model import AuthShape, Row, Service, with_paths
from adclient._values import toml
from adclient._values.json_values import is_array, is_object
from adclient._values.jsontext import JSONError, dumps, loads
from adclient._values.redact import looks_secret
from adclient._values.text import short
from adclient._values.toml import key_text, value_text
from adclient.conventions import Continuation, Conventions, is_header_name, query_of_url
from adclient.errors import ConfigurationError
from adclient.options import ENV_TOKEN, check_base_url, check_headers

FORMAT = 2
CONTINUATIONS: dict[str, Continuation | None] = {
    "none": None,
    "dict": dict,
    "query_of_url": query_of_url,
}
"""The functions that a file can name; TOML has no null."""

# In a URL of PostgreSQL.
_PASSWORD = re.compile("^postgres(ql)?://([^/?#]*:[^/?#]*@|.*[?&]password=)", re.DOTALL)
_NAMES: dict[object, str] = {function: name for name, function in CONTINUATIONS.items()}
_ABOUT = """\
# What is known about this service; no secrets. You may edit it: a setting that `certainty` does not
# name counts as chosen by you.
"""
_DEPTHS = {"auth": 2, "conventions": 3, "listings": 3}  # of what has a header of its own
_SHORT = ("next", "page_size", "statuses")  # which are written in one line
_WIDTH = 80


def read_service(path: str | os.PathLike[str]) -> Service:
    """Read a service file; paths that are relative to its folder become usable here.

    Raises:
        ConfigurationError: The file cannot be read, or something in it is unknown or invalid.
    """
    document = toml.read(path)
    values = dict(document.values)
    version = values.pop("format", None)
    if type(version) is not int or version != FORMAT:  # true equals 1
        again = "renew it: adclient doctor URL --account ID --save FILE --force"
        raise document.error(f"expected {FORMAT}, of this version of adclient; {again}", "format")
    try:
        service = _converter.structure(values, Service)
    except Exception as error:
        steps, cause, _ = first_error(error)
        if isinstance(cause, ForbiddenExtraKeysError):
            known = [field.name for field in attrs.fields(cause.cl) if field.init]
            document.check_keys(cause.extra_fields, known if steps else ["format", *known], *steps)
        text = str(cause).partition(" (<class")[0]
        # The place names the table and the key, which such errors name themselves.
        if isinstance(cause, ConfigurationError) and cause.argument is not None:
            steps.append(cause.argument)
            text = text.removeprefix(f"{steps[0]}: ").removeprefix(f"{steps[-1]} ")
        elif found := re.fullmatch(r"'(\w+)' (must be .*)", text):
            steps.append(found[1])
            text = found[2]
        raise document.error(short(text, 300), *steps) from None
    for place, problem in _problems(service):
        if problem:
            raise document.error(short(problem, 300), *place)
    folder = Path(path).parent
    return with_paths(service, lambda place: str(folder / place))


def _problems(service: Service) -> Iterator[tuple[list[str], str]]:
    """Each place whose value has more than a type, and what is wrong with that; often nothing."""
    yield ["url"], _refusal(check_base_url, service.url)
    yield ["accounts"], "an account is empty" * ("" in service.accounts)
    yield ["headers"], _refusal(check_headers, service.headers)
    for name, value in service.headers.items():
        problem = "it may be a secret; name a variable that holds it in [auth.headers]"
        yield ["headers", name], problem * looks_secret(name, value)
    if service.proxy is not None:
        yield ["proxy"], _refusal(checked_proxy, "proxy", service.proxy)
        problem = "a service file holds no secrets; name the proxy in HTTPS_PROXY instead"
        yield ["proxy"], problem * ("@" in service.proxy)
    problem = "a service file holds no secrets; use PGPASSWORD or ~/.pgpass instead"
    yield ["ledger"], problem * bool(_PASSWORD.search(service.ledger or ""))
    auth = service.auth or AuthShape(env=ENV_TOKEN)
    yield ["auth"], _refusal(check_headers, dict.fromkeys(auth.headers, "***"), argument="auth")
    places = [each for each in (auth.env, auth.file) if each is not None]
    is_named = len(places) == 1 or (not places and auth.headers)
    if not is_named or "" in (*places, *auth.headers.values()):
        problem = "expected either env, the name of a variable, or file, which hold the secret"
        yield ["auth"], problem
    yield ["auth", "header"], "it is not the name of a header" * (not is_header_name(auth.header))
    tables = [["listings", name] for name in service.listings]
    tables += [["conventions", "reads", name] for name in service.conventions.reads]
    for table in tables:
        yield table, f"expected one of {', '.join(READS)}" * (table[-1] not in READS)


def _refusal(check: Callable[..., object], *values: object, **options: str) -> str:
    """What a check of an argument says, without the name of the argument."""
    try:
        check(*values, **options)
    except ConfigurationError as error:
        return re.sub(r"^\w+:? ", "", error.message)
    return ""


def text_of(service: Service) -> str:
    """The text of a service file; what has its default is left out."""
    values: dict[str, Any] = {"format": FORMAT}
    values |= attrs.asdict(service, filter=_is_written, value_serializer=_written)
    settings = values["conventions"]
    for name in service.certainty:  # also of what was observed to be the default
        if (value := getattr(service.conventions, name, None)) is not None:
            settings[name] = _written(service, None, value)
    return "\n".join([_ABOUT, *_lines(values)]) + "\n"


def _is_written(attribute: Any, value: object) -> bool:
    factory = getattr(attribute.default, "factory", None)
    default = attribute.default if factory is None else factory()
    return bool(attribute.init and (value != default or attribute.name == "conventions"))


def _written(_: object, field: Any, value: object) -> object:
    """A value, or the name of a function or of None; the JSON text of a row."""
    if field is not None and field.name in ("rows", "pages"):
        rows = [dumps(row, "row", errors="backslashreplace") for row in cast("tuple[Row]", value)]
        # Quotes as escapes, which are only in texts, so that TOML needs none.
        return [row.replace("'", "\\u0027").replace("\x7f", "\\u007f") for row in rows]
    if value is None or callable(value):
        if value not in _NAMES:
            raise ValueError(
                f"a service file cannot name {value!r}, only {', '.join(CONTINUATIONS)}"
            )
        return _NAMES[value]
    return value


def _lines(table: dict[str, Any], *path: str) -> Iterator[str]:
    """A table: its own values, then the tables in it."""
    own: list[str] = []
    inner: dict[str, Any] = {}
    for key, value in table.items():
        is_table = is_object(value) and key not in _SHORT
        if is_table and len(path) < _DEPTHS.get((*path, key)[0], 1):
            inner[key] = value
            continue
        text = value_text(value)
        if len(text) > _WIDTH and is_array(value):  # a line for each of its elements
            text = "\n".join(["[", *(f"  {value_text(each)}," for each in value), "]"])
        own.append(f"{key_text(key)} = {text}")
    if path and (own or not (inner or path == ("conventions",))):
        yield ""
        yield f"[{'.'.join(map(key_text, path))}]"
    yield from own
    for key, value in inner.items():
        yield from _lines(value, *path, key)


def _function(name: object, _: type) -> Continuation | None:
    if not isinstance(name, str) or name not in CONTINUATIONS:
        raise ValueError(f"expected {' or '.join(map(repr, CONTINUATIONS))}")
    return CONTINUATIONS[name]


def _reads(value: object, _: type) -> dict[str, dict[str, object]]:
    """The settings of each read, which are checked like those of all."""
    tables = cast("dict[str, dict[str, object]]", value)
    made = _converter.structure(tables, dict[str, Conventions])
    return {read: {key: getattr(made[read], key) for key in tables[read]} for read in made}


def _page_size(value: object, _: type) -> object:
    return None if value == "none" else value  # which `Conventions` checks


def _row(text: object, _: type) -> Row:
    with suppress(JSONError):
        if isinstance(text, str) and isinstance(row := loads(text.encode()), dict):
            return row
    raise ValueError("expected the JSON text of an object")


_converter = strict_converter.copy(forbid_extra_keys=True)
_fields = attrs.fields(Conventions)
for _type, _hook in (
    (Row, _row),
    (_fields.continuation.type, _function),
    (_fields.reads.type, _reads),
    (_fields.page_size.type, _page_size),
):
    _converter.register_structure_hook_func(partial(eq, _type), _hook)
