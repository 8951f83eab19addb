"""Reads a service file; an error names the place in it."""

import os
import re
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from typing import Any, Literal, cast, get_args, get_origin

import attrs
from cattrs.errors import ForbiddenExtraKeysError

from adclient._core.operations import READS
from adclient._core.typed import first_error, strict_converter
from adclient._http.network import checked_proxy
from adclient._service.model import AuthShape, Service
from adclient._values import toml
from adclient._values.json_values import is_object
from adclient._values.text import short
from adclient.conventions import (
    Continuation,
    Conventions,
    ReadConventions,
    is_header_name,
    query_of_url,
)
from adclient.errors import ConfigurationError
from adclient.options import ENV_TOKEN, check_base_url, check_headers

FORMAT = 1
CONTINUATIONS: dict[str, Continuation | None] = {
    "none": None,
    "dict": dict,
    "query_of_url": query_of_url,
}
"""The functions that a file can name; TOML has no null."""

_SETTINGS = [field.name for field in attrs.fields(Conventions) if field.init]
_OF_READS = list(ReadConventions.__annotations__)
_PASSWORD = re.compile(
    "^postgres(ql)?://([^/?#]*:[^/?#]*@|.*[?&]password=)", re.DOTALL
)  # in a URL of PostgreSQL
_LISTED = (("page", "next"), ("extra", "data"), ("extra", "page"))  # have a place of their own


def read_service(path: str | os.PathLike[str]) -> Service:
    """Read a service file.

    Raises:
        ConfigurationError: The file cannot be read, or something in it is unknown or invalid.
    """
    document = toml.read(path)
    values = dict(document.values)
    version = values.pop("format", None)
    if type(version) is not int or version != FORMAT:  # true equals 1
        problem = f"expected format = {FORMAT}, the only one that this version of adclient reads"
        raise document.error(problem, "format")
    try:
        return _checked(_converter.structure(values, Service))
    except Exception as error:
        steps, cause, _ = first_error(error)
        if isinstance(cause, ForbiddenExtraKeysError):
            known = [field.name for field in attrs.fields(cause.cl) if field.init]
            document.check_keys(cause.extra_fields, known if steps else ["format", *known], *steps)
        text = str(cause).partition(" (<class")[0]
        if isinstance(cause, LookupError):
            text = f"{steps[-1]} is missing here"
        if isinstance(cause, ConfigurationError) and cause.argument is not None:
            steps += cause.argument.split("/")
        raise document.error(short(text, 300), *steps) from None


def _checked(service: Service) -> Service:
    """Check what the types do not; the argument of an error is the path of the key."""
    try:
        check_base_url(service.url)
    except ConfigurationError as error:
        raise ConfigurationError(error.message, argument="url") from None
    check_headers(service.headers)
    if service.proxy is not None and "@" in checked_proxy("proxy", service.proxy):
        problem = "a service file holds no secrets; name the proxy in HTTPS_PROXY instead"
        raise ConfigurationError(problem, argument="proxy")
    if service.ledger is not None and _PASSWORD.search(service.ledger):
        problem = "a service file holds no secrets; use PGPASSWORD or ~/.pgpass instead"
        raise ConfigurationError(problem, argument="ledger")
    auth = service.auth or AuthShape(env=ENV_TOKEN)
    if "" in (auth.env, auth.file) or (auth.env is None) == (auth.file is None):
        problem = "expected either env, the name of a variable, or file, which hold the secret"
        raise ConfigurationError(problem, argument="auth")
    if not is_header_name(auth.header):
        raise ConfigurationError("it is not the name of a header", argument="auth/header")
    for name, listing in service.listings.items():
        _check_name("listings", name, READS)
        for table, key in _LISTED:
            if key in getattr(listing, table):
                problem = f"{key} is not a field that {table} describes"
                raise ConfigurationError(problem, argument=f"listings/{name}/{table}/{key}")
    for name in service.conventions.reads:
        _check_name("conventions/reads", name, READS)
    settings = [*_SETTINGS, *(f"{read}.{name}" for read in READS for name in _OF_READS)]
    for name in service.certainty:
        _check_name("certainty", name, settings)
    return service


def _check_name(table: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        near = get_close_matches(short(name), known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        problem = f"{short(name)} is none of {', '.join([*known][:7])}{hint}"
        raise ConfigurationError(problem, argument=f"{table}/{name}")


def _conventions(value: object, _: type) -> Conventions:
    """Conventions, in which a function is written as its name."""
    if not is_object(value):
        raise ConfigurationError("expected a table")
    settings = {str(key): each for key, each in value.items()}
    reads = settings.get("reads", {})
    if is_object(reads):
        settings["reads"] = {name: _of_read(str(name), table) for name, table in reads.items()}
    unknown = settings.keys() - set(_SETTINGS)
    if unknown:
        raise ForbiddenExtraKeysError("", Conventions, unknown)
    return Conventions(**_named(settings))


def _of_read(name: str, table: object) -> object:
    """The settings of one read; the argument of an error is the path of the key."""
    if not is_object(table):
        raise ConfigurationError("expected a table", argument=f"reads/{name}")
    for key in table:
        _check_name(f"reads/{name}", str(key), _OF_READS)
    try:
        settings = _named(table)
        Conventions(**settings)
    except ConfigurationError as error:
        path = f"reads/{name}/{error.argument}"
        raise ConfigurationError(f"{name}: {error.message}", argument=path) from None
    return settings


def _named(table: Mapping[Any, object]) -> dict[str, Any]:
    """The settings in a table, with the function, or None, that it names."""
    settings = {**table}
    if "continuation" in settings:
        name = settings["continuation"]
        if not isinstance(name, str) or name not in CONTINUATIONS:
            expected = " or ".join(map(repr, CONTINUATIONS))
            raise ConfigurationError(f"expected {expected}", argument="continuation")
        settings["continuation"] = CONTINUATIONS[name]
    if settings.get("page_size") == "none":
        settings["page_size"] = None
    return settings


_converter = strict_converter.copy(forbid_extra_keys=True)
_converter.register_structure_hook(Conventions, _conventions)


@_converter.register_structure_hook_factory(lambda cls: cast(object, get_origin(cls)) is Literal)
def _choice_reader(cls: type) -> Callable[[object, type], object]:
    names = get_args(cls)

    def read(value: object, _: type) -> object:
        if value not in names:
            raise ConfigurationError(f"expected one of {', '.join(names)}")
        return value

    return read
