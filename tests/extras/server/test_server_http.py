"""The fake over real HTTP, as clients meet it."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import httpx
import pytest
from asgi_browser import Browser
from fake_helpers import VALID_WRITES

import adclient.testing.server
from adclient import (
    AdClient,
    APIError,
    CallTimeout,
    ConnectionLost,
    OutcomeUnknown,
    ServerError,
    Unauthenticated,
)
from adclient._core import jsontext
from adclient._core.operations import OPERATIONS
from adclient._core.response import Failure, RawResponse
from adclient._http.listening import listen
from adclient.testing import FakeAdService, Fault, Profile
from adclient.testing.server import create_app, serving

ACCOUNT = "account_b204"
CAMPAIGN = "campaign_57a7"
ACCOUNTS = {"alpha": "account_a91f", "beta": ACCOUNT, "gamma": "account_c3d8"}


class Stage:
    """The fake of one server, played by another fake in each test."""

    fake: FakeAdService

    def __getattr__(self, name: str) -> object:
        return getattr(self.fake, name)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Stage, str]]:
    """One server for all, because uvicorn takes its time to end."""
    stage = Stage()
    stage.fake = FakeAdService()
    with serving(stage) as url:
        yield stage, url


@pytest.fixture
def serve(served) -> Callable[[FakeAdService], str]:
    def play(fake: FakeAdService) -> str:
        stage, url = served
        stage.fake = fake
        return url

    return play


@pytest.fixture
def fake() -> FakeAdService:
    return FakeAdService()


@pytest.fixture
def url(serve, fake) -> str:
    return serve(fake)


@pytest.fixture
def client(url: str) -> Iterator[AdClient]:
    with AdClient(url, max_retries=0) as client:
        yield client


def wait_for_a_request_to(fake: FakeAdService) -> None:
    """Let the fake of the next test not be asked what this one was."""
    patience = time.monotonic() + 10
    while not fake.requests and time.monotonic() < patience:
        time.sleep(0.001)


def pause(client: AdClient) -> object:
    return client.beta.pause_campaign(account_id=ACCOUNT, campaign_id=CAMPAIGN)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.full_name)
def test_every_operation_works_over_http_as_in_process(operation, client) -> None:
    arguments = {
        "account_id": ACCOUNTS.get(operation.namespace, "account_d118"),
        **VALID_WRITES.get(operation.full_name, {}),
    }

    def answer(caller):
        method = getattr(getattr(caller, operation.namespace), operation.name)
        return method(**arguments).to_dict()

    assert answer(client) == answer(FakeAdService().client())


@pytest.mark.parametrize("continuation", ["url", "absolute_url"])
def test_absolute_continuations_are_urls_of_this_server(continuation, serve) -> None:
    fake = FakeAdService(page_size=20, profile=Profile(continuation=continuation))
    with AdClient(serve(fake)) as client:
        assert len(client.gamma.list_ads(account_id="account_c3d8").collect()) == 126


@pytest.mark.parametrize("host", ["[", "a b", "", "x/y"])
def test_malformed_host_header_is_ignored(fake, host) -> None:
    browser = Browser(create_app(fake))
    assert browser.get("/v1/x", headers={"host": host}).status_code == 404
    assert browser.get("/approval", headers={"host": host}).status_code == 403


def test_http_and_in_process_clients_share_the_service(fake, client) -> None:
    draft = pause(client)
    assert [kept.draft_id for kept in fake.drafts] == [draft.draft_id]
    fake.dashboard.arm(draft.draft_id, reviewer="Ines")
    fake.dashboard.confirm(draft.draft_id, reviewer="Ines")
    assert client.beta.list_campaigns(account_id=ACCOUNT).data[0].status == "PAUSED"


def test_token_is_required_over_http(serve) -> None:
    url = serve(FakeAdService(token="right"))
    with AdClient(url, token="right") as client:
        assert pause(client).status == "pending_approval"
    with AdClient(url, token="wrong") as client, pytest.raises(Unauthenticated):
        pause(client)


def test_the_path_and_query_arrive_as_they_were_sent(fake, url) -> None:
    assert httpx.get(f"{url}/v1/%61?a=%2F&a=b").status_code == 404
    request = fake.requests[0]
    assert (request.path, request.query) == ("/v1/%61", {"a": "b"})


@pytest.mark.parametrize("taken", [True, False])
def test_dropped_write_raises_outcome_unknown(fake, client, taken) -> None:
    fake.faults.add(Fault.dropped(taken=taken))
    with pytest.raises(OutcomeUnknown):
        pause(client)
    assert len(fake.drafts) == taken
    assert pause(client).status == "pending_approval"


def test_refused_request_is_not_recorded(fake, client) -> None:
    fake.faults.add(Fault.refused())
    with pytest.raises(ConnectionLost):
        client.beta.list_campaigns(account_id=ACCOUNT)
    assert fake.requests == ()


def test_missing_response_times_out(fake, client) -> None:
    fake.faults.add(Fault.no_response())
    with pytest.raises(CallTimeout):
        client.with_options(timeout=0.2).beta.list_campaigns(account_id=ACCOUNT)
    wait_for_a_request_to(fake)


def test_server_stops_while_a_client_waits(fake) -> None:
    fake.faults.add(Fault.no_response())
    with serving(fake) as url:
        address = httpx.URL(url)
        waiting = socket.create_connection((address.host, address.port))
        waiting.sendall(b"GET /v1/x HTTP/1.1\r\nhost: localhost\r\n\r\n")
        wait_for_a_request_to(fake)
    with waiting:
        assert waiting.recv(1) == b""


def test_error_status_keeps_its_headers(fake, client) -> None:
    fake.faults.add(Fault.status(503, headers={"retry-after": "7"}))
    with pytest.raises(ServerError) as caught:
        pause(client)
    assert caught.value.retry_after == 7


def test_cut_body_breaks_the_connection(fake, client, monkeypatch) -> None:
    cut = RawResponse(status=200, body=b'{"data": [', broken=Failure(reason="cut", sent=True))
    monkeypatch.setattr(fake, "handle_untimed", lambda request: (cut, 0))
    with pytest.raises(ConnectionLost):
        client.beta.list_campaigns(account_id=ACCOUNT)


@pytest.mark.parametrize("fault", [Fault.slow(0.2), Fault.slow_body(0.2)], ids=repr)
def test_slow_response_takes_real_time(fault, fake, client) -> None:
    fake.faults.add(fault)
    draft = pause(client)
    assert draft.draft_id == fake.drafts[0].draft_id
    assert draft.response.elapsed > 0.1
    assert fake.clock.monotonic() == 0


def test_slow_body_beyond_the_timeout_raises(fake, client) -> None:
    fake.faults.add(Fault.slow_body(600))
    with pytest.raises(CallTimeout) as caught:
        client.with_options(timeout=0.2).beta.list_campaigns(account_id=ACCOUNT)
    assert caught.value.status == 200
    assert caught.value.body.startswith('{"data":[')


def test_other_clients_are_served_while_a_response_is_written(fake, url, monkeypatch) -> None:
    dumps, names = jsontext.dumps, []
    is_writing, other_is_served = threading.Event(), threading.Event()

    def dumps_slowly(value, name):
        names.append(name)
        if not is_writing.is_set():
            is_writing.set()
            assert other_is_served.wait(20)
        return dumps(value, name)

    monkeypatch.setattr(jsontext, "dumps", dumps_slowly)
    write = partial(
        httpx.post,
        f"{url}/v1/beta-ads/pause-beta-campaign",
        json={"account_id": ACCOUNT, "campaign_id": CAMPAIGN},
    )
    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(write)
        assert is_writing.wait(20)
        other = f"{url}/v1/alpha-ads/explain-alpha-objectives?account_id=account_a91f"
        assert httpx.get(other).status_code == 200
        assert httpx.get(f"{url}/approval").status_code == 200
        other_is_served.set()
    assert written.result().status_code == 201
    names.clear()
    assert write().status_code == 201
    assert names == ["response"], "a write is serialised once"


def test_body_beyond_the_limit_is_refused(fake, client) -> None:
    body = {"blob": "x" * 1024 * 1024}
    for reached in (client, fake.client()):
        with pytest.raises(APIError, match="at most 1048576 bytes") as caught:
            reached.gamma.create_dco_ad(account_id="account_c3d8", fields=body)
        assert (caught.value.status, caught.value.code) == (413, "request_too_large")
    assert fake.drafts == ()


def test_drop_needs_the_server_of_serving(fake) -> None:
    fake.faults.add(Fault.dropped())
    with pytest.raises(KeyError, match=r"adclient\.drop"):
        Browser(create_app(fake)).get("/v1/x")


def test_clock_runs_only_with_run_clock(fake) -> None:
    start = fake.clock.now()
    Browser(create_app(fake)).get("/v1/x")
    assert fake.clock.now() == start
    running = Browser(create_app(fake, run_clock=True))
    running.get("/v1/x")
    first = fake.clock.now()
    running.get("/v1/x")
    assert start < first < fake.clock.now()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.full_name)
def test_a_client_cannot_reach_the_approval_page(operation, fake, url) -> None:
    with AdClient(f"{url}/approval", max_retries=0) as client:
        method = getattr(getattr(client, operation.namespace), operation.name)
        with suppress(APIError):
            method(account_id=ACCOUNT, **VALID_WRITES.get(operation.full_name, {}))
    assert {event.kind for event in fake.dashboard.events} <= {"staged"}


def test_ipv6() -> None:
    with serving(FakeAdService(), host="::1") as url:
        assert url.startswith("http://[::1]:")
        assert httpx.get(f"{url}/approval").status_code == 200


def test_the_openapi_document_names_every_operation(url) -> None:
    document = httpx.get(f"{url}/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert list(document["paths"]) == [operation.path for operation in OPERATIONS]
    for operation in OPERATIONS:
        (described,) = document["paths"][operation.path].items()
        assert described[0] == operation.method.lower()
        assert described[1]["summary"].startswith("Stage ") == (operation.is_write)
        assert required_in(described[1]) == {p.name for p in operation.parameters if p.required}


def required_in(described: dict) -> set[str]:
    if "requestBody" in described:
        content = described["requestBody"]["content"]["application/json"]
        return set(content["schema"]["required"])
    return {p["name"] for p in described["parameters"] if p.get("required")}


def test_application_for_another_server_needs_no_uvicorn() -> None:
    code = """
import sys
sys.modules["uvicorn"] = None
from adclient.testing.server import create_app
try:
    from adclient.testing.server import serving
except ImportError as error:
    print(error.name)
"""
    command = [sys.executable, "-c", code]
    assert subprocess.check_output(command, encoding="utf-8") == "uvicorn\n"
    assert not hasattr(adclient.testing.server, "nothing")


def test_root_redirects_to_the_approval_page(url) -> None:
    answer = httpx.get(url)
    assert (answer.status_code, answer.headers["location"]) == (307, "approval")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_response_does_not_wait_for_an_acknowledgement_of_its_head(host) -> None:
    with (
        listen(host, 0) as listening,
        socket.create_connection(listening.getsockname()[:2]) as _,
        listening.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
