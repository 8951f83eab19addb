"""Reads a service file; an error names the place in it."""

import os
import re
from contextlib import suppress
from functools import partial
from operator import eq
from typing import cast

import attrs
from cattrs.errors import ForbiddenExtraKeysError

from adclient._core.operations import READS
from adclient._core.typed import first_error, strict_converter
from adclient._http.network import checked_proxy
from adclient._service.model import AuthShape, Row, Service
from adclient._values import toml
from adclient._values.jsontext import JSONError, loads
from adclient._values.redact import looks_secret
from adclient._values.text import short
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


def read_service(path: str | os.PathLike[str]) -> Service:
    """Read a service file.

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
        return _checked(_converter.structure(values, Service))
    except Exception as error:
        steps, cause, _ = first_error(error)
        if isinstance(cause, ForbiddenExtraKeysError):
            known = [field.name for field in attrs.fields(cause.cl) if field.init]
            document.check_keys(cause.extra_fields, known if steps else ["format", *known], *steps)
        text = str(cause).partition(" (<class")[0]
        if isinstance(cause, LookupError):
            text = "missing"
        # The place names the table and the key, which such errors name themselves.
        if isinstance(cause, ConfigurationError) and cause.argument is not None:
            steps += cause.argument.split("/")
            text = text.removeprefix(f"{steps[0]}: ").removeprefix(f"{steps[-1]} ")
        elif found := re.fullmatch(r"'(\w+)' (must be .*)", text):
            steps.append(found[1])
            text = found[2]
        raise document.error(short(text, 300), *steps) from None


def _checked(service: Service) -> Service:
    """Check what the types do not; the argument of an error is the path of the key."""
    try:
        check_base_url(service.url)
    except ConfigurationError as error:
        raise ConfigurationError(error.message.removeprefix("base_"), argument="url") from None
    check_headers(service.headers)
    if service.proxy is not None and "@" in checked_proxy("proxy", service.proxy):
        problem = "a service file holds no secrets; name the proxy in HTTPS_PROXY instead"
        raise ConfigurationError(problem, argument="proxy")
    if service.ledger is not None and _PASSWORD.search(service.ledger):
        problem = "a service file holds no secrets; use PGPASSWORD or ~/.pgpass instead"
        raise ConfigurationError(problem, argument="ledger")
    for name, value in service.headers.items():
        if looks_secret(name, value):
            problem = "it may be a secret; name a variable that holds it in [auth.headers]"
            raise ConfigurationError(problem, argument=f"headers/{name}")
    auth = service.auth or AuthShape(env=ENV_TOKEN)
    check_headers(dict.fromkeys(auth.headers, "***"), argument="auth")
    places = [each for each in (auth.env, auth.file) if each is not None]
    is_named = len(places) == 1 or (not places and auth.headers)
    if not is_named or "" in (*places, *auth.headers.values()):
        problem = "expected either env, the name of a variable, or file, which hold the secret"
        raise ConfigurationError(problem, argument="auth")
    if not is_header_name(auth.header):
        raise ConfigurationError("it is not the name of a header", argument="auth/header")
    named = {"listings": service.listings, "conventions/reads": service.conventions.reads}
    for table, names in named.items():
        for name in names:
            if name not in READS:
                problem = f"expected one of {', '.join(READS)}"
                raise ConfigurationError(problem, argument=f"{table}/{name}")
    return service


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
