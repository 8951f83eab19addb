"""The sixteen operations as an OpenAPI 3.1 document."""

import inspect
from http import HTTPStatus
from typing import get_args

from adclient._core.operations import OPERATIONS, Operation, Parameter, ParameterType
from adclient._json import JSON
from adclient._sync.alpha import Alpha
from adclient._sync.beta import Beta
from adclient._sync.delta import Delta
from adclient._sync.gamma import Gamma
from adclient._version import __version__
from adclient.models import Item, Result

Object = dict[str, JSON]

_SCHEMAS: dict[ParameterType, Object] = {
    "id": {"type": "string", "minLength": 1},
    "text": {"type": "string"},
    "object": {"type": "object"},
    "number": {"type": "number"},
    "texts": {"type": "array", "items": {"type": "string"}},
}
_NAMESPACES = {"alpha": Alpha, "beta": Beta, "gamma": Gamma, "delta": Delta}
_REFUSALS = {
    "read": (400, 401, 403, 404, 410, 422, 429),
    "write": (400, 401, 403, 404, 409, 422, 429, 503),
}


def document() -> Object:
    """The document, for the default conventions; what it says of errors is the fake's own."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Ad management service (fake)",
            "version": __version__,
            "description": "Writes stage drafts, which take effect only after a human approves.",
        },
        # The token is optional: without one, the fake takes every request.
        "security": [{}, {"token": []}],
        "paths": {o.path: {o.method.lower(): _operation(o)} for o in OPERATIONS},
        "components": {
            "schemas": {"Draft": _draft(), "Error": _error()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(operation: Operation[Result]) -> Object:
    described: Object = {
        "operationId": operation.full_name,
        "summary": _summary(operation),
        "tags": [operation.namespace],
        "responses": _responses(operation),
    }
    if not operation.is_write:
        described["parameters"] = [*map(_in_query, operation.parameters), _cursor()]
    else:
        described["requestBody"] = {"required": True, "content": _json(_body(operation))}
    return described


def _summary(operation: Operation[Result]) -> str:
    """What the client's method says of itself in its first line."""
    method: object = getattr(_NAMESPACES[operation.namespace], operation.name)
    return (inspect.getdoc(method) or "").partition("\n")[0].removesuffix(".")


def _in_query(parameter: Parameter) -> Object:
    schema = _SCHEMAS[parameter.type]
    shape: Object = {"content": _json(schema)} if parameter.type == "object" else {"schema": schema}
    return {"name": parameter.name, "in": "query", "required": parameter.required, **shape}


def _cursor() -> Object:
    description = "Where the listing goes on: `page.next` of the page before."
    schema = _SCHEMAS["text"]
    return {"name": "cursor", "in": "query", "description": description, "schema": schema}


def _body(operation: Operation[Result]) -> Object:
    return {
        "type": "object",
        "properties": {p.name: _SCHEMAS[p.type] for p in operation.parameters},
        "required": [p.name for p in operation.parameters if p.required],
        "additionalProperties": False,
    }


def _responses(operation: Operation[Result]) -> Object:
    if not operation.is_write:
        success: Object = {"200": _answer(200, _listing(operation))}
    else:
        success = {"201": _answer(201, _reference("Draft"))}
    refusals = {
        str(s): _answer(s, _reference("Error"))
        for s in _REFUSALS[("write" if operation.is_write else "read")]
    }
    return {**success, **refusals}


def _answer(status: int, schema: Object) -> Object:
    return {"description": HTTPStatus(status).phrase, "content": _json(schema)}


def _json(schema: Object) -> Object:
    return {"application/json": {"schema": schema}}


def _reference(name: str) -> Object:
    return {"$ref": f"#/components/schemas/{name}"}


def _listing(operation: Operation[Result]) -> Object:
    item: Object = {
        **_object(id=_SCHEMAS["id"], name=_SCHEMAS["text"], status=_SCHEMAS["text"]),
        "title": _item_of(operation).__name__,
    }
    data: Object = {"type": "array", "items": item}
    return _object(data=data, page=_object(next={"description": "Null on the last page."}))


def _item_of(operation: Operation[Result]) -> type[Item]:
    item: type[Item] = get_args(operation.result)[0]
    return item


def _draft() -> Object:
    text = _SCHEMAS["text"]
    anything: Object = {"description": "Any JSON value."}
    diff = _object(field=text, before=anything, after=anything)
    pending: Object = {"const": "pending_approval"}
    requires: Object = {"const": "human_two_step_approve"}
    return _object(draft_id=_SCHEMAS["id"], status=pending, diff=diff, requires=requires)


def _error() -> Object:
    text = _SCHEMAS["text"]
    details: Object = {"type": "array", "items": {"type": "object"}}
    return _object(error=_object(code=text, message=text, details=details, request_id=text))


def _object(**properties: Object) -> Object:
    """The schema of an object that has all of these properties."""
    return {"type": "object", "properties": {**properties}, "required": [*properties]}
