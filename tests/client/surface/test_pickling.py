"""What a call gives or raises goes to another process and back, and loses nothing."""

import copy
import inspect
import json
import multiprocessing
import pickle
import pickletools
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal

import attrs
import httpx
import pytest
from cases import each_case
from clients import (
    BASE_URL,
    DRAFT,
    SYNC,
    Service,
    close,
    each_client_class,
    method_of,
    sync_and_async,
    wait,
)
from interface_table import ROWS

import adclient
from adclient import (
    Ad,
    AdClientError,
    AsyncPage,
    BusinessProfile,
    Campaign,
    Conventions,
    Diff,
    Draft,
    DraftEvent,
    Hooks,
    Items,
    Plan,
    Request,
    RequestEvent,
    ResponseEvent,
    ResponseInfo,
    RetryEvent,
    RetryPolicy,
    errors,
)
from adclient.testing import FakeAdService, Fault

_MODULES = (
    "",
    ".conventions",
    ".errors",
    ".hooks",
    ".ledger",
    ".models",
    ".options",
    ".plan",
    ".policy",
)
PUBLIC = {f"adclient{name}" for name in _MODULES}
IDS = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}

CLASSES = [
    cls
    for _, cls in sorted(inspect.getmembers(errors, inspect.isclass))
    if issubclass(cls, AdClientError)
]


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield pool


def same(value: object) -> object:
    return value


def raises(error: Exception) -> None:
    raise error


def stage(fault: Fault | None) -> object:
    """What a worker does: it makes a client, calls, and gives or raises what came."""
    fake = FakeAdService()
    if fault is not None:
        fake.faults.add(fault, times=9)
    with fake.client() as client:
        return client.beta.pause_campaign(**IDS)


def modules_named_in(data: bytes) -> set[str]:
    """The modules of this library that a pickle names."""
    texts = [argument for _, argument, _ in pickletools.genops(data) if isinstance(argument, str)]
    return {text for text in texts if text.split(".")[0] == "adclient"}


@pytest.mark.parametrize("row", ROWS, ids=str)
@sync_and_async
async def test_result_survives_pickle_and_copy(client_kind, row, pool) -> None:
    body = (
        {"data": [{"id": "x", "name": "X", "status": "S", "more": [1]}], "page": {"next": "c2"}}
        if row.is_read
        else {**DRAFT, "more": {"a": None}}
    )
    headers = {"x-request-id": "req_1"}
    service = Service(httpx.Response(200 if row.is_read else 201, json=body, headers=headers))
    async with client_kind.open(transport=service.transport) as client:
        value = await wait(method_of(client, row.call)(**row.arguments))
    for twin in (pool.submit(same, value).result(), copy.copy(value), copy.deepcopy(value)):
        assert twin == value
        assert type(twin) is type(value)
        assert twin.response == value.response
        assert twin.to_dict() == value.to_dict() == body
        assert repr(twin) == repr(value)
    assert modules_named_in(pickle.dumps(value)) <= PUBLIC
    json.dumps(value.to_dict())


GO_ON = """
import pickle, sys
from adclient.testing import FakeAdService
page = pickle.load(sys.stdin.buffer)
with FakeAdService().client() as client:
    rest = client.gamma.list_ads(account_id="account_c3d8", cursor=page.next)
    print(*(ad.id for ad in rest))
"""


def test_unpickled_page_continues_in_another_process() -> None:
    with FakeAdService().client() as client:
        page = client.gamma.list_ads(account_id="account_c3d8")
        ids = [ad.id for ad in page]
    done = subprocess.run(
        [sys.executable, "-c", GO_ON], input=pickle.dumps(page), capture_output=True, check=True
    )
    assert done.stdout.decode().split() == ids[len(page.data) :]


@each_case("cls", CLASSES)
def test_error_survives_pickle_and_copy(cls, pool) -> None:
    error = cls(
        "what happened", operation="beta.x", details={"a": [1]}, retry_after=2.5, cursor="c"
    )
    error.add_note("a note")
    with pytest.raises(AdClientError) as caught:
        pool.submit(raises, error).result()
    for twin in (caught.value, copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is cls
        assert (str(twin), repr(twin), twin.args) == (str(error), repr(error), error.args)
        assert twin.outcome_unknown is error.outcome_unknown
        assert {name: getattr(twin, name) for name in vars(error)} == vars(error)
        assert twin.__notes__ == ["a note"]
    assert modules_named_in(pickle.dumps(error)) <= PUBLIC


@each_case(
    "fault",
    [
        Fault.refused(),
        Fault.dropped(taken=True),
        Fault.status(429, headers={"retry-after": "99"}),
        Fault.status(503),
        Fault.response(b"<html>", status=201),
    ],
)
def test_call_in_a_worker_returns_and_raises_alike(fault, pool) -> None:
    assert pool.submit(stage, None).result().status == "pending_approval"
    with pytest.raises(AdClientError) as here:
        stage(fault)
    with pytest.raises(type(here.value)) as there:
        pool.submit(stage, fault).result()
    assert str(there.value) == str(here.value)
    assert vars(there.value).keys() >= vars(here.value).keys()


CALL = {"call_id": 1, "operation": "beta.pause_campaign", "account_id": "account_b204"}
DIFF = Diff(field="daily_budget", before=100, after=Decimal("120.5"), extra={"currency": "EUR"})


@each_case(
    "value",
    [
        Conventions(cursor_parameter="c"),
        RetryPolicy(max_retries=5),
        Hooks(on_request=print),
        DIFF,
        BusinessProfile(id="x_1"),
        Ad(id="x_1", name="Ä", status="ENABLED", extra={"a": [1, {"b": None}]}),
        Items([Campaign(id="c", name="n", status="s")]),
        AsyncPage(data=(), next={"after": 1}, response=ResponseInfo(status=200)),
        Request(method="GET", url="https://ads.example.com/"),
        RequestEvent(**CALL, method="GET", url="https://ads.example.com/", attempt=1),
        ResponseEvent(
            **CALL, attempt=1, status=503, failure=None, request_id="r", duration=0.1, elapsed=0.2
        ),
        RetryEvent(**CALL, attempt=1, reason="503", wait=0.5),
        DraftEvent(**CALL, draft=Draft(draft_id="d", status="s", diff=DIFF, requires="two")),
    ],
)
def test_value_survives_pickle_and_copy(value, pool) -> None:
    for twin in (pool.submit(same, value).result(), copy.copy(value), copy.deepcopy(value)):
        assert type(twin) is type(value)
        assert twin == value


def test_plan_survives_pickle_and_keeps_its_operations(tmp_path, pool) -> None:
    path = tmp_path / "plan.toml"
    path.write_text("""
        id = "2026-w47"
        [[change]]
        call = "beta.pause_campaign"
        account_id = "account_b204"
        campaign_id = "campaign_57a7"
    """)
    plan = Plan.read(path)
    twin = pool.submit(same, plan).result()
    assert twin == plan
    # A client knows operations by identity: a copy of one would stay with it for ever.
    assert twin.changes[0].call.operation is plan.changes[0].call.operation


@each_case("name", [name for name in adclient.__all__ if inspect.isclass(getattr(adclient, name))])
def test_public_class_names_a_public_module(name) -> None:
    cls = getattr(adclient, name)
    assert cls.__module__ in PUBLIC
    assert getattr(sys.modules[cls.__module__], name) is cls


@pytest.mark.parametrize("made", [pickle.dumps, copy.copy, copy.deepcopy])
@each_client_class
def test_client_refuses_pickle_and_copy(client_class, made) -> None:
    with pytest.raises(TypeError, match="client"):
        made(client_class(BASE_URL))


@sync_and_async
async def test_evolved_page_keeps_its_client(client_kind) -> None:
    fake = FakeAdService()
    client = fake.client() if client_kind is SYNC else fake.async_client()
    page = await wait(client.gamma.list_ads(account_id="account_c3d8"))
    evolved = attrs.evolve(page, extra={})
    assert evolved.to_dict() == page.to_dict()
    assert len(await wait(evolved.collect())) == 126
    await close(client)
