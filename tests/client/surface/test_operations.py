"""Each of the sixteen operations against the interface, in the sync and the async client."""

import inspect
from decimal import Decimal

import httpx
import pytest
from cases import each_case
from clients import BASE_URL, DRAFT, Service, each_client_class, method_of, sync_and_async, wait
from interface_table import NUMBER, OBJECT, ROWS, STRING, STRINGS

import adclient
from adclient import AdClient, AsyncAdClient, AsyncListing, AsyncPage, Diff, Draft, Page
from adclient._core.operations import OPERATIONS

LISTING = {
    "data": [
        {"id": "x_1", "name": "First", "status": "ENABLED", "spend": 12.5},
        {"id": "x_2", "name": "Second", "status": "PAUSED"},
    ],
    "page": {"next": None},
}


def expected(row, arguments) -> tuple[str, str, str]:
    """The path, query and body of a request."""
    text = row.encoded(arguments)
    return (f"/prefix{row.path}", text, "") if row.is_read else (f"/prefix{row.path}", "", text)


def sent(request: httpx.Request) -> tuple[str, str, str]:
    path, _, query = request.url.raw_path.decode().partition("?")
    return path, query, request.content.decode()


@each_case(("row", "operation"), *list(zip(ROWS, OPERATIONS, strict=True)))
def test_operations_match_the_interface(row, operation) -> None:
    types = {"id": STRING, "text": STRING, "object": OBJECT, "number": NUMBER, "texts": STRINGS}
    assert operation.full_name == row.call
    assert (operation.method, operation.path) == (row.method, row.path)
    assert operation.is_write is not row.is_read
    assert [(p.name, types[p.type], p.required) for p in operation.parameters] == [
        (p.name, p.type, p.required) for p in row.parameters
    ]


@each_case("row", *ROWS)
@sync_and_async
async def test_call_sends_its_arguments_and_returns_a_draft_or_a_page(client_kind, row) -> None:
    status, body = (200, LISTING) if row.is_read else (201, DRAFT)
    answer = httpx.Response(status, json=body, headers={"X-Request-Id": "req_1"})
    service = Service(*[answer] * 3)
    options = {"token": "t0ken", "headers": {"X-Team": "ads"}, "transport": service.transport}
    nothing = dict.fromkeys((p.name for p in row.parameters if not p.required), None)
    cursor = {"cursor": None} if row.is_read else {}
    async with client_kind.open(**options) as client:
        method = method_of(client, row.call)
        result = await wait(method(**row.arguments))
        await wait(method(**row.required))
        await wait(method(**row.required, **nothing, **cursor))
    assert sent(service.requests[0]) == expected(row, row.arguments)
    assert [*map(sent, service.requests[1:])] == [expected(row, row.required)] * 2
    request = service.requests[0]
    assert request.method == row.method
    assert str(request.url).startswith(f"{BASE_URL}/v1/")
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
    info = result.response
    assert (info.status, info.attempts) == (answer.status_code, 1)
    assert info.request_id == info.headers["x-request-id"] == "req_1"
    if not row.is_read:
        assert result == Draft(
            draft_id="draft_7c2e",
            status="pending_approval",
            diff=Diff(field="daily_budget", before=100, after=120),
            requires="human_two_step_approve",
        )
        assert result.to_dict() == DRAFT
        return
    assert type(result) is (Page if client_kind.client is AdClient else AsyncPage)
    assert {type(item) for item in result.data} == {row.result}
    names = [(item.id, item.name, item.status) for item in result.data]
    assert names == [("x_1", "First", "ENABLED"), ("x_2", "Second", "PAUSED")]
    assert result.data[0].extra == {"spend": 12.5}
    assert result.next is None
    assert result.to_dict() == LISTING


# Signatures.

ANNOTATIONS = {STRING: str, OBJECT: adclient.models.ObjectLike, NUMBER: int | float | Decimal}
ANNOTATIONS[STRINGS] = list[str] | tuple[str, ...]


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
@each_case("row", *ROWS)
def test_signature_matches_the_interface(row, client_class, listing) -> None:
    method = method_of(client_class(BASE_URL), row.call)
    signature = inspect.signature(method)
    assert list(signature.parameters.values()) == expected_parameters(row)
    assert signature.return_annotation == (listing[row.result] if row.is_read else Draft)
    is_coroutine = client_class is AsyncAdClient and not row.is_read
    assert inspect.iscoroutinefunction(method) is is_coroutine


@each_client_class
def test_clients_have_no_other_operations(client_class) -> None:
    client = client_class(BASE_URL)
    found = {
        f"{namespace}.{name}"
        for namespace in ("alpha", "beta", "gamma", "delta")
        for name in dir(getattr(client, namespace))
        if not name.startswith("_")
    }
    assert found == {row.call for row in ROWS}
