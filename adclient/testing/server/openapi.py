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
_ID, _TEXT = _SCHEMAS["id"], _SCHEMAS["text"]
_CURSOR: Object = {
    "name": "cursor",
    "in": "query",
    "description": "Where the listing continues: `page.next` of the page before.",
    "schema": _TEXT,
}
_NAMESPACES = {"alpha": Alpha, "beta": Beta, "gamma": Gamma, "delta": Delta}
_REFUSALS = {
    "read": (400, 401, 403, 404, 410, 422, 429),
    "write": (400, 401, 403, 404, 409, 422, 429, 503),
}


def document() -> Object:
    """The document, for the default conventions; its errors are the fake's own."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Ad management service (fake)",
            "version": __version__,
            "description": "Writes stage drafts, which take effect only after a human approves.",
        },
        # The token is optional: without one, the fake accepts every request.
        "security": [{}, {"token": []}],
        "paths": {o.path: {o.method.lower(): _operation(o)} for o in OPERATIONS},
        "components": {
            "schemas": {"Draft": _draft(), "Error": _error()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(operation: Operation[Result]) -> Object:
    method: object = getattr(_NAMESPACES[operation.namespace], operation.name)
    summary = (inspect.getdoc(method) or "").partition("\n")[0].removesuffix(".")
    is_read = not operation.is_write
    success = _response(200, _listing(operation)) if is_read else _response(201, _ref("Draft"))
    refusals = [
        _response(status, _ref("Error")) for status in _REFUSALS["read" if is_read else "write"]
    ]
    described: Object = {
        "operationId": operation.full_name,
        "summary": summary,
        "tags": [operation.namespace],
        "responses": dict([success, *refusals]),
    }
    if is_read:
        described["parameters"] = [*map(_query_parameter, operation.parameters), _CURSOR]
    else:
        body: Object = {
            "type": "object",
            "properties": {p.name: _SCHEMAS[p.type] for p in operation.parameters},
            "required": [p.name for p in operation.parameters if p.required],
            "additionalProperties": False,
        }
        described["requestBody"] = {"required": True, "content": _json(body)}
    return described


def _query_parameter(parameter: Parameter) -> Object:
    schema = _SCHEMAS[parameter.type]
    shape: Object = {"content": _json(schema)} if parameter.type == "object" else {"schema": schema}
    return {"name": parameter.name, "in": "query", "required": parameter.required, **shape}


def _listing(operation: Operation[Result]) -> Object:
    item: type[Item] = get_args(operation.result)[0]
    schema = {**_object(id=_ID, name=_TEXT, status=_TEXT), "title": item.__name__}
    data: Object = {"type": "array", "items": schema}
    return _object(data=data, page=_object(next={"description": "Null on the last page."}))


def _draft() -> Object:
    anything: Object = {"description": "Any JSON value."}
    diff = _object(field=_TEXT, before=anything, after=anything)
    pending: Object = {"const": "pending_approval"}
    requires: Object = {"const": "human_two_step_approve"}
    return _object(draft_id=_ID, status=pending, diff=diff, requires=requires)


def _error() -> Object:
    details: Object = {"type": "array", "items": {"type": "object"}}
    return _object(error=_object(code=_TEXT, message=_TEXT, details=details, request_id=_TEXT))


def _response(status: int, schema: Object) -> tuple[str, Object]:
    return str(status), {"description": HTTPStatus(status).phrase, "content": _json(schema)}


def _json(schema: Object) -> Object:
    return {"application/json": {"schema": schema}}


def _ref(name: str) -> Object:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(**properties: Object) -> Object:
    """The schema of an object that has all of these properties."""
    return {"type": "object", "properties": {**properties}, "required": [*properties]}
