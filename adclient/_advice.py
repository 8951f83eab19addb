"""What to write instead of common mistakes. Loaded only when something went wrong."""

import sys
from collections.abc import Collection
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from inspect import signature
from traceback import extract_stack
from types import FunctionType

from attrs.exceptions import FrozenInstanceError

# Names that a class does not have, and what to do instead. Sync and async classes share a row.
_ATTRIBUTES = (
    ("Draft", "id", "use draft_id"),
    ("Draft", "before after change percent", "use diff.{name}"),
    ("Draft Diff Item Page", "get items keys values json", "to_dict() returns a dict"),
    ("Page", "results rows records", "use data"),
    ("Page", "has_next has_more next_page total", "iterate over all pages, or use collect()"),
    ("Listing", "data next extra response to_dict", "use `await`, as in `(await listing).{name}`"),
    ("Items", "append clear copy extend insert pop sort", "use list(items), which is a list"),
    ("Items", "count index", "use list(items), which has it"),
    ("AdClientError", "status_code response", "use status, body and its other attributes"),
)
# What arguments are called elsewhere, and what to use in place of others.
_RENAMED = {"url": "base_url", "api_key": "token", "access_token": "token", "next": "cursor"}
_ELSEWHERE = {
    "limit": "limit what you take instead, with collect(limit=…) or to_pandas(limit=…)",
    "page_size": "set it for the client, with Conventions(page_size=…)",
}


def no_attribute(value: object, name: str) -> AttributeError:
    """The error for an attribute that a value does not have."""
    text = f"{type(value).__name__} has no attribute {name!r}{_of_attribute(value, name)}"
    return AttributeError(text, name=name, obj=value)


def _of_attribute(value: object, name: str) -> str:
    kinds = {cls.__name__.removeprefix("Async") for cls in type(value).__mro__}
    # Of a class without the field, `extra` would be a name that it does not have.
    if hasattr(type(value), "extra") and name in getattr(value, "extra", ()):
        advice = ", or page.typed(…) with a class that has it" if "Item" in kinds else ""
        return f", but the service sent it: use extra[{name!r}]{advice}"
    for classes, names, advice in _ATTRIBUTES:
        if name in names.split() and not kinds.isdisjoint(classes.split()):
            return f"; {advice.format(name=name)}"
    if name.startswith(("approve", "confirm", "publish", "reject")):
        return "; only a human approves or rejects drafts, in the approval dashboard"
    if kinds & {"AdClient", "Namespace"}:
        from adclient._core.operations import OPERATIONS

        places = {each.name: each.full_name for each in OPERATIONS}
        near = get_close_matches(name, places, 1, 0.8)  # also of `pause_beta_campaign`
        return f"; use client.{places[near[0]]}" if near else ""
    return ", and the service sent no such field" if "Item" in kinds else ""


def frozen(value: object, name: str) -> FrozenInstanceError:
    """The error for `value.name = …`."""
    kind, error = type(value).__name__, FrozenInstanceError()
    text = f"a {kind} is a record and cannot be changed; stage another draft with another {name}"
    AttributeError.__init__(error, text, name=name, obj=value)  # its own takes no text
    return error


def no_name(name: str) -> AttributeError | ImportError:
    """The error for a name that the package does not have."""
    text = f"module 'adclient' has no attribute {name!r}"
    for home in ("ledger", "policy", "plan", "gate", "agents", "testing", "doctor", "conform"):
        with suppress(ImportError):  # a frozen build may lack it
            if name in import_module(f"adclient.{home}").__all__:
                text += f"; use `from adclient.{home} import {name}`"
                # `from adclient import …` would replace an AttributeError by a bare ImportError.
                if extract_stack(limit=3)[0].name == "_handle_fromlist":
                    return ImportError(text, name="adclient")
    return AttributeError(text, name=name, obj=sys.modules["adclient"])


def explain(error: TypeError, method: FunctionType, count: int, named: Collection[str]) -> None:
    """Add the right call to the error of a wrong one, without values, which may be private."""
    _, *parameters = signature(method).parameters.values()
    names = [parameter.name for parameter in parameters]
    renamed = [_RENAMED.get(name, name) for name in named]
    meant = {near for name in renamed for near in get_close_matches(name, names, 1)}
    meant.update([name for name in names if name not in meant][:count])
    shown = [each.name for each in parameters if each.default is each.empty or each.name in meant]
    called = method.__qualname__.removesuffix(".__init__").rpartition(".")[2]
    right = f"pass arguments by keyword: {called}({', '.join(f'{name}=…' for name in shown)})"
    advice = next((_ELSEWHERE[name] for name in named if name in _ELSEWHERE), right)
    error.args = (f"{error}; {advice}",)
