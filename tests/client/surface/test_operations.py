"""Each of the sixteen operations against the interface, in the sync and the async client."""

import dataclasses
import inspect
from decimal import Decimal

import attrs
import httpx
import pytest
from cases import each_case
from clients import (
    BASE_URL,
    CLIENT_KINDS,
    DRAFT,
    Service,
    method_of,
    sync_and_async,
    wait,
)
from interface_table import NUMBER, OBJECT, ROWS, STRING, STRINGS

import adclient
from adclient import (
    AdClient,
    AsyncAdClient,
    AsyncListing,
    AsyncPage,
    Diff,
    Draft,
    InvalidRequest,
    Items,
    Page,
)
from adclient._core.operations import OPERATIONS

LISTING = {
    "data": [
        {"id": "x_1", "name": "First", "status": "ENABLED", "spend": 12.5},
        {"id": "x_2", "name": "Second", "status": "PAUSED"},
    ],
    "page": {"next": None},
}
READS = [row for row in ROWS if row.is_read]
WRITES = [row for row in ROWS if not row.is_read]
each_row = pytest.mark.parametrize("row", ROWS, ids=str)


def answer_to(row) -> httpx.Response:
    if row.is_read:
        return httpx.Response(200, json=LISTING, headers={"X-Request-Id": "req_1"})
    return httpx.Response(201, json=DRAFT, headers={"X-Request-Id": "req_1"})


async def called(client_kind, row, arguments, **options):
    """Return the result of a call and its only request."""
    service = Service(answer_to(row))
    async with client_kind.open(transport=service.transport, **options) as client:
        result = await wait(method_of(client, row.call)(**arguments))
    (request,) = service.requests
    return result, request


def sent(request: httpx.Request) -> tuple[str, str, str]:
    """The path, query and body of a request."""
    path, _, query = request.url.raw_path.decode().partition("?")
    return path, query, request.content.decode()


def expected(row, arguments) -> tuple[str, str, str]:
    text = row.encoded(arguments)
    return (f"/prefix{row.path}", text, "") if row.is_read else (f"/prefix{row.path}", "", text)


@each_case(("row", "operation"), list(zip(ROWS, OPERATIONS, strict=True)))
def test_operations_match_the_interface(row, operation) -> None:
    types = {"id": STRING, "text": STRING, "object": OBJECT, "number": NUMBER, "texts": STRINGS}
    assert operation.full_name == row.call
    assert (operation.method, operation.path) == (row.method, row.path)
    assert operation.is_write is not row.is_read
    assert [(p.name, types[p.type], p.required) for p in operation.parameters] == [
        (p.name, p.type, p.required) for p in row.parameters
    ]


@each_row
@sync_and_async
async def test_arguments_and_headers_are_exact(client_kind, row) -> None:
    options = {"token": "t0ken", "headers": {"X-Team": "ads"}}
    _, request = await called(client_kind, row, row.arguments, **options)
    assert request.method == row.method
    assert str(request.url).startswith(f"{BASE_URL}/v1/")
    assert sent(request) == expected(row, row.arguments)
    of_body = {"content-type": "application/json", "content-length": str(len(request.content))}
    assert dict(request.headers) == {
        "host": "ads.example.com",
        "accept": "application/json",
        "accept-encoding": "gzip",
        "user-agent": f"adclient/{adclient.__version__}",
        "authorization": "Bearer t0ken",
        "x-team": "ads",
        **({} if row.is_read else of_body),
    }


@each_row
@sync_and_async
async def test_missing_arguments_and_none_are_not_sent(client_kind, row) -> None:
    nothing = dict.fromkeys((p.name for p in row.parameters if not p.required), None)
    cursor = {"cursor": None} if row.is_read else {}
    for arguments in (row.required, {**row.required, **nothing, **cursor}):
        _, request = await called(client_kind, row, arguments)
        assert sent(request) == expected(row, row.required)


@pytest.mark.parametrize("row", WRITES, ids=str)
@sync_and_async
async def test_write_returns_a_draft(client_kind, row) -> None:
    draft, _ = await called(client_kind, row, row.arguments)
    assert draft == Draft(
        draft_id="draft_7c2e",
        status="pending_approval",
        diff=Diff(field="daily_budget", before=100, after=120),
        requires="human_two_step_approve",
    )
    assert draft.to_dict() == DRAFT
    assert "staged, waiting for approval" in repr(draft)
    assert (draft.response.status, draft.response.attempts) == (201, 1)
    assert draft.response.request_id == draft.response.headers["x-request-id"] == "req_1"


@pytest.mark.parametrize("row", READS, ids=str)
@sync_and_async
async def test_read_returns_a_page(client_kind, row) -> None:
    page, _ = await called(client_kind, row, row.arguments)
    assert type(page) is (Page if client_kind.client is AdClient else AsyncPage)
    assert isinstance(page.data, Items)
    assert {type(item) for item in page.data} == {row.result}
    assert [(item.id, item.name, item.status) for item in page.data] == [
        ("x_1", "First", "ENABLED"),
        ("x_2", "Second", "PAUSED"),
    ]
    assert page.data[0].extra == {"spend": 12.5}
    assert page.next is None
    assert page.to_dict() == LISTING
    assert (page.response.status, page.response.request_id) == (200, "req_1")


# Arguments that are refused before anything is sent.

WRONG = {
    STRING: [7, b"bytes", ["a"], True],
    OBJECT: [dict, "text", 7, ["a"], [("a", 1)], {"a": object()}, {1: "a"}, {"a": float("nan")}],
    NUMBER: ["120", True, float("nan"), float("inf"), Decimal("NaN"), Decimal("-Infinity"), 1j, []],
    STRINGS: ["tent", [1], ["tent", None], 7, {"tent": 1}, b"tent"],
}
MISTYPED = [
    (row, parameter.name, value)
    for row in ROWS
    for parameter in row.parameters
    for value in [
        *WRONG[parameter.type],
        *([None] if parameter.required else []),
        *([""] if parameter.name.endswith("_id") else []),
    ]
]


@pytest.mark.parametrize("client_kind", CLIENT_KINDS[:2], ids=str)
@each_row
def test_missing_positional_and_unknown_arguments_are_type_errors(client_kind, row) -> None:
    method = method_of(client_kind.client(BASE_URL), row.call)
    for missing in row.required:
        arguments = {name: value for name, value in row.arguments.items() if name != missing}
        with pytest.raises(TypeError, match=missing):
            method(**arguments)
    with pytest.raises(TypeError, match="positional"):
        method(*row.required.values())
    with pytest.raises(TypeError, match="unexpected keyword"):
        method(**row.required, approve=True)


@pytest.mark.parametrize("client_kind", CLIENT_KINDS[:2], ids=str)
@each_case(("row", "name", "value"), MISTYPED)
def test_argument_of_a_wrong_type_is_refused(client_kind, row, name, value) -> None:
    async def scenario() -> None:
        async with client_kind.open(transport=service.transport) as client:
            with pytest.raises(InvalidRequest, match=rf"{name}\b.*nothing was sent") as caught:
                await wait(method_of(client, row.call)(**{**row.arguments, name: value}))
        assert caught.value.argument == name
        assert caught.value.operation == row.call
        assert not caught.value.outcome_unknown

    service = Service()
    client_kind.run(scenario)
    assert service.requests == []


# Signatures.

ANNOTATIONS = {
    STRING: str,
    OBJECT: adclient.models.ObjectLike,
    NUMBER: int | float | Decimal,
    STRINGS: list[str] | tuple[str, ...],
}


def expected_parameters(row) -> list[inspect.Parameter]:
    def parameter(name, annotation, **default) -> inspect.Parameter:
        kind = inspect.Parameter.KEYWORD_ONLY
        return inspect.Parameter(name, kind, annotation=annotation, **default)

    parameters = [
        parameter(p.name, ANNOTATIONS[p.type])
        if p.required
        else parameter(p.name, ANNOTATIONS[p.type] | None, default=None)
        for p in row.parameters
    ]
    cursor = [parameter("cursor", adclient.JSON, default=None)] if row.is_read else []
    return parameters + cursor


@pytest.mark.parametrize(
    ("client_class", "listing"), [(AdClient, Page), (AsyncAdClient, AsyncListing)]
)
@each_row
def test_signature_matches_the_interface(row, client_class, listing) -> None:
    method = method_of(client_class(BASE_URL), row.call)
    signature = inspect.signature(method)
    assert list(signature.parameters.values()) == expected_parameters(row)
    assert signature.return_annotation == (listing[row.result] if row.is_read else Draft)
    is_coroutine = client_class is AsyncAdClient and not row.is_read
    assert inspect.iscoroutinefunction(method) is is_coroutine


@pytest.mark.parametrize("client_class", [AdClient, AsyncAdClient])
def test_clients_have_no_other_operations(client_class) -> None:
    client = client_class(BASE_URL)
    found = {
        f"{namespace}.{name}"
        for namespace in ("alpha", "beta", "gamma", "delta")
        for name in dir(getattr(client, namespace))
        if not name.startswith("_")
    }
    assert found == {row.call for row in ROWS}


@attrs.frozen
class Geo:
    locations: list[str]


@dataclasses.dataclass
class Name:
    name: str


class Model:
    """Has the method by which a pydantic model gives its fields."""

    def model_dump(self, *, mode: str, by_alias: bool) -> dict[str, object]:
        return {"startDate": "2026-03-02"} if (mode, by_alias) == ("json", True) else {}


@sync_and_async
async def test_numbers_and_instances_with_fields_are_sent_exactly(client_kind) -> None:
    fields = {"geo": Geo(["DE"]), "all": [Name("x"), Model()]}
    arguments = {"account_id": "a", "campaign_id": "c", "daily_budget": Decimal("0.10")}
    _, request = await called(client_kind, ROWS[1], {**arguments, "fields": fields})
    assert request.content == (
        b'{"account_id":"a","campaign_id":"c","daily_budget":0.10,'
        b'"fields":{"geo":{"locations":["DE"]},"all":[{"name":"x"},{"startDate":"2026-03-02"}]}}'
    )
    assert fields["all"][0] == Name("x"), "not modified"
