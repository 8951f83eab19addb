"""The sixteen operations as an OpenAPI 3.1 document."""

from http import HTTPStatus
from typing import Any

from adclient._values.json_values import JSON
from adclient._version import __version__
from adclient.extend import OPERATIONS, Operation
from adclient.testing._fake.data import load

Object = dict[str, JSON]

_DATA = load("openapi.json")


def document() -> Object:
    """The document, for the default conventions; its errors are the fake's own."""
    fixed: dict[str, Any] = _DATA["document"]
    paths: Object = {o.path: {o.method.lower(): _described(o)} for o in OPERATIONS}
    return {**fixed, "info": {**fixed["info"], "version": __version__}, "paths": paths}


def _described(operation: Operation) -> Object:
    described: Object = {
        "operationId": operation.full_name,
        "summary": operation.about.removesuffix("."),
        "tags": [operation.namespace],
    }
    schemas: Object = {p.name: _DATA["types"][p.type] for p in operation.parameters}
    if operation.is_write:
        required: list[JSON] = [p.name for p in operation.parameters if p.required]
        body: Object = {"type": "object", "properties": schemas, "required": required}
        content = _json({**body, "additionalProperties": False})
        described["requestBody"] = {"required": True, "content": content}
        responses = {201: _ref("Draft"), **dict.fromkeys(_DATA["write_refusals"], _ref("Error"))}
    else:
        item = {**_DATA["item"], "title": operation.result.__name__}
        parts: Object = {"data": {"type": "array", "items": item}, "page": _DATA["page"]}
        listing: Object = {"type": "object", "properties": parts, "required": [*parts]}
        responses = {200: listing, **dict.fromkeys(_DATA["read_refusals"], _ref("Error"))}
        query: list[JSON] = []
        for p in operation.parameters:
            schema = schemas[p.name]
            shape: Object = {"content": _json(schema)} if p.type == "object" else {"schema": schema}
            query.append({"name": p.name, "in": "query", "required": p.required, **shape})
        described["parameters"] = [*query, _DATA["cursor"]]
    described["responses"] = {
        str(status): {"description": HTTPStatus(status).phrase, "content": _json(schema)}
        for status, schema in responses.items()
    }
    return described


def _ref(name: str) -> Object:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(schema: JSON) -> Object:
    return {"application/json": {"schema": schema}}
