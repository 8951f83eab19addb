"""The fake over real HTTP, as clients meet it."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from operator import attrgetter

import httpx
import pytest
from clients import SYNC
from fake_helpers import ACCOUNTS, VALID_WRITES
from interface_table import ROWS
from starlette.testclient import TestClient
from waiting import until

from adclient import AdClient, APIError, CallTimeout, ConnectionLost, OutcomeUnknown
from adclient._core.operations import OPERATIONS
from adclient._core.response import Failure, RawResponse
from adclient.testing import FakeAdService, Fault
from adclient.testing.server import create_app, serving

BETA = {"account_id": "account_b204"}
PAUSE = {**BETA, "campaign_id": "campaign_57a7"}


@pytest.fixture
def fake() -> FakeAdService:
    return FakeAdService()


@pytest.fixture
def url(fake) -> Iterator[str]:
    with serving(fake) as url:
        yield url


@pytest.fixture
def client(url: str) -> Iterator[AdClient]:
    with AdClient(url, max_retries=0) as client:
        yield client


def pause(client: AdClient) -> object:
    return client.beta.pause_campaign(**PAUSE)


def call(client: AdClient, name: str, **other) -> object:
    arguments = {"account_id": ACCOUNTS[name.partition(".")[0]], **VALID_WRITES.get(name, {})}
    return attrgetter(name)(client)(**{**arguments, **other})


def test_operations_work_over_http_as_in_process(client) -> None:
    plain = FakeAdService().client()
    for name in ("beta.list_campaigns", "gamma.search_targeting", "delta.update_keyword"):
        assert call(client, name).to_dict() == call(plain, name).to_dict()


def test_dropped_write_is_unknown_and_refused_request_is_not_recorded(fake, client) -> None:
    for taken in (False, True):
        fake.faults.add(Fault.dropped(taken=taken))
        with pytest.raises(OutcomeUnknown):
            pause(client)
        assert len(fake.drafts) == taken
    assert pause(client).status == "pending_approval"
    fake.faults.add(Fault.refused())
    with pytest.raises(ConnectionLost):
        client.beta.list_campaigns(**BETA)
    assert [request.status for request in fake.requests] == [None, None, 201]


def test_slow_body_or_missing_response_times_out(fake, client) -> None:
    for fault, status in ((Fault.slow_body(600), 200), (Fault.no_response(), None)):
        fake.faults.add(fault)
        with pytest.raises(CallTimeout) as caught:
            client.with_options(timeout=0.2).beta.list_campaigns(**BETA)
        assert caught.value.status == status


def test_server_stops_while_a_client_waits(fake) -> None:
    fake.faults.add(Fault.no_response())
    with serving(fake) as url:
        address = httpx.URL(url)
        waiting = socket.create_connection((address.host, address.port), timeout=20)
        waiting.sendall(b"GET /v1/x HTTP/1.1\r\nhost: localhost\r\n\r\n")
        SYNC.run(partial(until, lambda: fake.requests))
    with waiting:
        assert waiting.recv(1) == b""


def test_cut_body_breaks_the_connection(fake, client, monkeypatch) -> None:
    cut = RawResponse(status=200, body=b'{"data": [', broken=Failure(reason="cut", sent=True))
    monkeypatch.setattr(fake, "handle_untimed", lambda request: (cut, 0))
    with pytest.raises(ConnectionLost):
        client.beta.list_campaigns(**BETA)


def test_slow_response_takes_real_time(fake, client) -> None:
    for fault in (Fault.slow_body(0.2), Fault.slow(0.2)):
        fake.faults.add(fault)
        draft = pause(client)
        assert draft.draft_id == fake.drafts[-1].draft_id
        assert draft.response.elapsed > 0.1
    assert fake.clock.monotonic() == 0


def test_client_cannot_reach_the_approval_page(fake, url) -> None:
    with AdClient(f"{url}/approval", max_retries=0) as client:
        for operation in OPERATIONS:
            with suppress(APIError):
                call(client, operation.full_name, **BETA)
    assert {event.kind for event in fake.dashboard.events} <= {"staged"}


def test_body_beyond_the_limit_is_refused(fake, client) -> None:
    fields = {"blob": "x" * 1024 * 1024}
    with pytest.raises(APIError, match="at most 1048576 bytes"):
        client.gamma.create_dco_ad(account_id="account_c3d8", fields=fields)
    assert fake.drafts == ()


def test_document_describes_every_operation(fake) -> None:
    document = TestClient(create_app(fake), "http://localhost").get("/openapi.json").json()
    assert set(document["paths"]) == {row.path for row in ROWS}
    for row in ROWS:
        [(method, described)] = document["paths"][row.path].items()
        assert (method, described["operationId"]) == (row.method.lower(), row.call)
