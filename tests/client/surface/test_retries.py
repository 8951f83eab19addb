"""Which calls are retried and which are not, end to end."""

import json
import ssl
from concurrent.futures import ThreadPoolExecutor
from inspect import isclass

import anyio
import httpx
import pytest
from clients import (
    BASE_URL,
    KEYED,
    Service,
    a_draft,
    a_page,
    read,
    sync_and_async,
    sync_asyncio_trio,
    wait,
    write,
)
from raw_server import LISTING, Connection, RawServer, reply

import adclient
from adclient import (
    AdClient,
    APIError,
    CallTimeout,
    ConnectionFailed,
    OutcomeUnknown,
    RateLimited,
    RetryPolicy,
    ServerError,
)
from adclient.testing import FakeAdService, Fault

LISTING_REPLY = reply(200, json.dumps(LISTING).encode())


RETRYABLE = [408, 429, 500, 502, 503, 504]
RETRYABLE += [httpx.ReadError, httpx.ReadTimeout, httpx.RemoteProtocolError]
NOT_PROCESSED = [429, httpx.ConnectError]


@pytest.mark.parametrize(
    ("call", "fault"),
    [*((read, fault) for fault in RETRYABLE), *((write, fault) for fault in NOT_PROCESSED)],
)
@sync_and_async
async def test_call_is_retried_after_a_retryable_failure(client_kind, call, fault) -> None:
    faults = [httpx.Response(fault) if isinstance(fault, int) else fault("") for _ in range(2)]
    service = Service(*faults, a_page("ab") if call is read else a_draft())
    async with client_kind.open(transport=service.transport) as client:
        result = await wait(call(client))
    assert result.response.attempts == 3
    assert len({str(request.url) for request in service.requests}) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 501])
@sync_and_async
async def test_read_is_not_retried_after_a_4xx_or_501(client_kind, status) -> None:
    service = Service(httpx.Response(status, json={"error": "no"}))
    async with client_kind.open(transport=service.transport) as client:
        with pytest.raises(APIError) as caught:
            await wait(read(client))
    assert (caught.value.attempts, caught.value.message) == (1, "no")


@pytest.mark.parametrize("status", [0, 99, 199, 408, 500, 502, 503, 504, 600])
@sync_and_async
async def test_write_is_not_retried_if_its_status_is_no_refusal(client_kind, status) -> None:
    service = Service(httpx.Response(status))
    async with client_kind.open(transport=service.transport) as client:
        with pytest.raises(OutcomeUnknown, match="dashboard") as caught:
            await wait(write(client))
    assert caught.value.status == status
    assert caught.value.outcome_unknown
    assert isinstance(caught.value, ServerError if 500 <= status < 600 else APIError)


@sync_and_async
async def test_read_has_no_idempotency_key(client_kind) -> None:
    service = Service(a_page("a"))
    async with client_kind.open(transport=service.transport, conventions=KEYED) as client:
        await wait(read(client))
    assert "idempotency-key" not in service.requests[0].headers


@sync_and_async
async def test_max_retries_0_sends_one_request(client_kind) -> None:
    service = Service(httpx.ConnectError("refused"), httpx.ConnectError("refused"))
    async with client_kind.open(transport=service.transport, max_retries=0) as client:
        for call in (write, read):
            with pytest.raises(ConnectionFailed, match="Nothing was sent") as caught:
                await wait(call(client))
            assert caught.value.attempts == 1
            assert not caught.value.outcome_unknown


@sync_and_async
async def test_no_error_of_the_http_library_escapes(client_kind) -> None:
    service = Service(*(cls("") for cls in HTTP_ERRORS))
    options = {"transport": service.transport, "retry": RetryPolicy(max_retries=0)}
    async with client_kind.open(**options) as client:
        for _ in HTTP_ERRORS:
            with pytest.raises(adclient.TransportError):
                await wait(read(client))


HTTP_ERRORS = [
    *(c for c in vars(httpx).values() if isclass(c) and issubclass(c, httpx.RequestError)),
    *(httpx.InvalidURL, httpx.StreamError, ssl.SSLError, OSError, TimeoutError),
]


@sync_asyncio_trio
async def test_read_is_retried_after_an_attempt_that_hangs(client_kind) -> None:
    def serve(connection: Connection) -> None:
        while connection.read():
            if len(server.requests) % 2:
                server.stopping.wait(10)
                return
            connection.send(LISTING_REPLY)

    limited = RetryPolicy(backoff_first=0, attempt_timeout=0.5)
    with RawServer(serve) as server:
        async with client_kind.open(server.url, timeout=8, retry=limited) as client:
            page = await wait(read(client))
            assert page.response.attempts == 2
            assert 0.5 <= page.response.elapsed < 6
            with pytest.raises(OutcomeUnknown) as unknown:
                await wait(write(client))
            assert isinstance(unknown.value, CallTimeout)
            assert unknown.value.attempts == 1
            assert "attempt_timeout" not in str(unknown.value)


LONGER_ATTEMPT = r"Call again, or allow a longer RetryPolicy\(attempt_timeout=…\)"


@pytest.mark.parametrize(
    ("retry", "advice"),
    [
        (RetryPolicy(), "The first attempt took the whole timeout, so there was no retry; Retry"),
        (RetryPolicy(max_retries=0), "Call again, or allow a longer timeout"),
        (RetryPolicy(attempt_timeout=100), "Call again, or allow a longer timeout"),
        (RetryPolicy(attempt_timeout=2, max_retries=0), LONGER_ATTEMPT),
        (RetryPolicy(attempt_timeout=2, backoff_first=0), LONGER_ATTEMPT),
        (RetryPolicy(attempt_timeout=20, backoff_first=0), "Call again, or allow a longer timeout"),
    ],
)
@sync_and_async
async def test_advice_after_a_timeout_names_what_ended_the_last_attempt(
    client_kind, retry, advice
) -> None:
    fake = FakeAdService()
    fake.faults.add(Fault.no_response(), times=9)
    # Not over an injected client, which would wait in real time.
    make = fake.client if client_kind.client is AdClient else fake.async_client
    with pytest.raises(CallTimeout, match=f"{advice}.*"):
        await wait(make(retry=retry).gamma.list_ads(account_id="account_c3d8"))


def test_retry_after_0_does_not_replace_the_backoff() -> None:
    answers = [httpx.Response(429, headers={"retry-after": "0"})] * 3
    policy = RetryPolicy(backoff_first=60, backoff_longest=60)
    service = Service(*answers)
    options = {"transport": service.transport, "retry": policy, "timeout": 0.5}
    with AdClient(BASE_URL, **options) as client, pytest.raises(RateLimited):
        write(client)
    assert len(service.requests) <= 2


@sync_and_async
async def test_300_reads_of_a_dead_service_send_at_most_400_requests(client_kind) -> None:
    requests = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(503 if len(requests) <= 400 else 200, json=LISTING)

    async with client_kind.open(transport=httpx.MockTransport(answer)) as client:
        failures = await failures_of(client, 300)
        assert (len(failures), len(requests)) == (300, 400)
        assert "no retry, as the quota is used up" in str(failures[-1])
        # Copies share the quota, and a success gives one retry back.
        copy = client.with_options(timeout=10)
        await wait(read(copy))
        requests[:] = requests[:399]
        assert (await wait(read(copy))).response.attempts == 2


async def failures_of(client, count: int) -> list[ServerError]:
    """The errors of reads at the same time."""
    if isinstance(client, AdClient):
        with ThreadPoolExecutor(30) as pool:
            return [each.exception() for each in [pool.submit(read, client) for _ in range(count)]]
    failures = []

    async def one() -> None:
        with pytest.raises(ServerError) as caught:
            await read(client)
        failures.append(caught.value)

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(one)
    return failures
