"""The operations as tools for models: plain dictionaries, which any framework takes."""

from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, overload

from anyio import to_thread

from adclient._values.json_values import JSON, copied, is_array, is_object
from adclient._values.text import short
from adclient.agents import _results as results
from adclient.errors import AdClientError, InvalidRequest
from adclient.extend import OPERATIONS, Operation, parts_of, run, validated
from adclient.ledger.entry import Entry
from adclient.ledger.sql import SQLLedger
from adclient.policy import Policy
from adclient.policy.guard import RecordedCall, guard_of

if TYPE_CHECKING:
    from adclient import AdClient, AsyncAdClient

__all__ = ["call_tool", "tools"]

Object = dict[str, JSON]

_TYPES: dict[str, Object] = {
    "id": {"type": "string"},
    "text": {"type": "string"},
    "object": {"type": "object"},
    "number": {"type": "number"},
    "texts": {"type": "array", "items": {"type": "string"}},
}
_OPERATIONS = {each.full_name.replace(".", "_"): each for each in OPERATIONS}
_OF_READS: dict[str, Object] = {
    "columns": {**_TYPES["texts"], "description": "The fields to show"},
    "cursor": {**_TYPES["text"], "description": "`next` of an earlier result"},
}
# Parameters that several tools have, and that only the first describes: tokens are scarce.
_SHARED: dict[str, str] = {"date_range": "text", "columns": "texts", "cursor": "text"}
_ZERO, _ANY = Decimal(0), Decimal("Infinity")  # amounts
_OF_WRITES = "Nothing changes until a human approves it."
_RUN: Callable[..., Any] = run  # for either client
STAGED = "list_staged_drafts"
_ABOUT_STAGED = "List the drafts that {} staged. Whether one was approved is not known here."


def actor_of(client: "AdClient | AsyncAdClient") -> str | None:
    """The actor of a client."""
    return parts_of(client).options.actor


def tools(client: "AdClient | AsyncAdClient", *, writes: bool = False) -> list[Object]:
    """Describe the operations of a client as tools for a model, with their JSON Schemas.

    The policy of the client decides which operations and accounts are offered. If it names a single
    account, the tools have no parameter for it.

    Args:
        client: The client whose operations are described.
        writes: Whether to include the nine operations that stage drafts. By default, only the seven
            reads are described.

    Returns:
        A dictionary with `name`, `description` and `input_schema` for each tool.

    Raises:
        AttributeError: `client` is not a client.

    Examples:
        >>> from adclient.agents import tools
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> tool = tools(client)[0]
        >>> tool["name"], tool["description"]
        ('beta_list_campaigns', 'List the campaigns of an account.')
    """
    policy = guard_of(client).policy
    if policy.accounts == ():  # an `enum` must not be empty
        return []
    # What one account or another allows.
    each = [policy.for_account(name) for name in policy.accounts or policy.account or ()]
    each += [policy] if policy.accounts is None else []
    patterns = {*chain(*(("*",) if own.operations is None else own.operations for own in each))}
    # Each key that a write may set, with its highest amount; none if one policy allows any key.
    allowed, known = dict[str, Decimal](), dict[str, JSON]()
    is_open = any(own.fields is None and own.money is None for own in each)
    for own in () if is_open else each:
        limits = own.money or {}
        for key in (*(own.fields or ()), *limits):
            allowed[key] = max(allowed.get(key, _ZERO), limits.get(key, _ANY))
    described = [
        _described(operation, policy, allowed, known)
        for operation in OPERATIONS
        if (writes or not operation.is_write)
        and any(fnmatchcase(operation.full_name, pattern) for pattern in patterns)
    ]
    if _ledger_to_list(client, writes) is not None:
        who = "you have" if actor_of(client) else "were"
        described.append(_tool(STAGED, _ABOUT_STAGED.format(who), {}, []))
    return described


@overload
def call_tool(
    client: "AdClient", name: str, arguments: object, *, writes: bool = False
) -> Object: ...
@overload
def call_tool(
    client: "AsyncAdClient", name: str, arguments: object, *, writes: bool = False
) -> Coroutine[Any, Any, Object]: ...
def call_tool(
    client: "AdClient | AsyncAdClient", name: str, arguments: object, *, writes: bool = False
) -> Object | Coroutine[Any, Any, Object]:
    """Call a tool, and return a small dictionary for the model; await it with an async client.

    An error of this library is a result as well, with its class in `error`, and `outcome_unknown`.

    Args:
        client: The client that makes the call.
        name: The name of the tool, such as `beta_list_campaigns`.
        arguments: The arguments from the model: any value, which is checked.
        writes: Whether operations that stage drafts may be called. By default, they are refused.

    Returns:
        A dictionary of JSON values, with a `summary` in words. What the service sent is in
            `untrusted`, shortened and without control characters. A listing has `next` if there is
            more.

    Raises:
        Exception: Any error of your own functions, such as `token`.

    Examples:
        >>> from adclient.agents import call_tool
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> ids = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
        >>> result = call_tool(client, "beta_pause_campaign", ids, writes=True)
        >>> result["summary"]
        'Staged, waiting for approval. Nothing has changed; a human decides.'
        >>> result["untrusted"]["diff"]
        ['status: ENABLED -> PAUSED']
    """
    if hasattr(client, "aclose"):

        async def call_async() -> Object:
            try:
                call, show = _prepared(client, name, arguments, writes)
                return show(await call())
            except AdClientError as error:
                return results.of_error(error)

        return call_async()
    try:
        call, show = _prepared(client, name, arguments, writes)
        return show(call())
    except AdClientError as error:
        return results.of_error(error)


def _prepared(
    client: "AdClient | AsyncAdClient", name: str, given: object, writes: bool
) -> tuple[Callable[[], Any], Callable[[Any], Object]]:
    """The call of a tool, and what shows its result. The call itself checks the values."""
    operation, guard = _OPERATIONS.get(str(name)), guard_of(client)
    policy, ledger = guard.policy, _ledger_to_list(client, writes)
    if name == STAGED and ledger is not None:
        if not is_object(given) or given:
            raise _refused(STAGED, "arguments", "must be an empty object")

        def read() -> Iterable[Entry]:
            return ledger.entries(actor=actor_of(client)) if ledger.exists() else ()

        # It may block.
        reading = partial(to_thread.run_sync, read) if hasattr(client, "aclose") else read
        return reading, partial(results.of_entries, accounts=policy.accounts)
    if operation is None or (operation.is_write and not writes):
        writing = f"{name} stages a draft, and this caller may only read"
        problem = writing if operation else f"there is no tool {short(name)}"
        raise InvalidRequest(f"{problem}; nothing was sent", argument="name")
    arguments: dict[str, Any] = dict.fromkeys(each.name for each in operation.parameters)
    if policy.accounts is not None and len(policy.accounts) == 1:
        arguments["account_id"] = policy.accounts[0]
    if not operation.is_write:
        arguments |= dict.fromkeys(_OF_READS)
    if not is_object(given):
        raise _refused(operation.full_name, "arguments", "must be an object")
    for unknown in given.keys() - arguments.keys():
        problem = f"is not one of {', '.join(arguments)}"
        raise _refused(operation.full_name, short(unknown), problem)
    arguments |= {str(key): value for key, value in given.items() if value is not None}
    for each in operation.parameters:
        if each.type in ("id", "text", "texts"):
            value = arguments[each.name]
            arguments[each.name] = [*map(_as_text, value)] if is_array(value) else _as_text(value)
    if operation.is_write:
        write = RecordedCall.of(validated(operation, arguments))
        return partial(_RUN, client, write), lambda draft: results.of_draft(draft, write.over_limit)
    columns: object = arguments.pop("columns")
    columns, cursor = () if columns is None else columns, arguments.pop("cursor")
    if not is_array(columns) or not all(isinstance(each, str) for each in columns):
        raise _refused(operation.full_name, "columns", "must be a list of str")
    start = results.Position() if cursor is None else results.Position.read(cursor)
    if start is None:
        raise _refused(operation.full_name, "cursor", "must be the `next` of an earlier result")
    call = validated(operation, arguments, start.cursor)
    wanted = [str(each) for each in columns]
    return partial(_RUN, client, call), partial(results.of_page, start=start, wanted=wanted)


def _as_text(value: object) -> object:
    """A whole number as text, as models may send an id or a keyword; anything else unchanged."""
    if type(value) is int or (type(value) is float and value.is_integer() and abs(value) < 2**53):
        with suppress(ValueError):  # it has too many digits
            return str(int(value))
    return value


def _ledger_to_list(client: "AdClient | AsyncAdClient", writes: bool) -> SQLLedger | None:
    """The ledger whose drafts a tool lists; None if it is not offered."""
    guard = guard_of(client)
    is_offered = writes and guard.policy.accounts != ()
    return guard.ledger if is_offered and isinstance(guard.ledger, SQLLedger) else None


def _refused(name: str, argument: str, problem: str) -> InvalidRequest:
    text = f"{name}: {argument} {problem}; nothing was sent"
    return InvalidRequest(text, operation=name, argument=argument)


def _described(
    operation: Operation, policy: Policy, allowed: dict[str, Decimal], known: Object
) -> Object:
    """A tool; `known` has a short schema for each parameter that an earlier tool describes."""
    name = operation.full_name.replace(".", "_")
    # A single account is not asked for; it is the first parameter.
    parameters = operation.parameters[1 if len(policy.accounts or ()) == 1 else 0 :]
    properties = dict[str, Object]()
    for each in parameters:
        schema = properties[each.name] = dict(_TYPES[each.type])
        if each.about:
            schema["description"] = each.about
        if each.name == "account_id" and policy.accounts is not None:
            schema["enum"] = list(policy.accounts)
        if each.type == "number" and (most := allowed.get(each.name, _ANY)) != _ANY:
            schema["maximum"] = int(most) if most % 1 == 0 else float(most)
    keys = [key if most == _ANY else f"{key} up to {most:f}" for key, most in allowed.items()]
    if "fields" in properties and keys:
        properties["fields"]["description"] = f"Allowed keys: {', '.join(keys)}"
    if not operation.is_write:
        properties |= _OF_READS
    shown: Object = {key: known.get(key, schema) for key, schema in properties.items()}
    known |= {key: _TYPES[_SHARED[key]] for key in properties.keys() & _SHARED.keys()}
    if policy.accounts is not None:
        known.setdefault("account_id", {**_TYPES["id"], "description": f"As in {name}"})
    required: list[JSON] = [each.name for each in parameters if each.required]
    text = operation.about + f" {_OF_WRITES}" * operation.is_write
    return _tool(name, text, shown, required)


def _tool(name: str, text: str, properties: Object, required: list[JSON]) -> Object:
    schema: Object = {"type": "object", "properties": properties, "required": required}
    schema["additionalProperties"] = False
    # A copy, as frameworks change schemas in place.
    return {"name": name, "description": text, "input_schema": copied(schema)}
