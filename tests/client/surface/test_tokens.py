"""Tokens that expire, are revoked or cannot be fetched, for many threads and tasks at once."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial

import anyio
import anyio.to_thread
import clients
import httpx
import pytest
from cases import each_case
from clients import SYNC, asyncio_and_trio, read, sync_and_async, sync_asyncio_trio, wait, write
from secret_texts import assert_untold, locals_of, shown_by

import adclient
from adclient import AdClient, CallTimeout, Hooks, Token, Unauthenticated
from adclient._core.auth import EARLY_PAUSE, PAUSE
from adclient._http import network

URL = "https://ads.example.com"
HOUR = 3600.0
REVOKED, OTHER = Token("revoked"), Token("canary-other")
MANY = 20  # threads or tasks


class TokenService:
    """Accepts the tokens that it has issued since they were last revoked.

    Attributes:
        requests: The token and the status of each request.
        staged: How many drafts were staged for each campaign.
        issued: How many tokens were issued.
        revokes_at: The number of requests that are under way when all tokens are revoked.
    """

    def __init__(self, *, is_async: bool, revokes_at: int = 0) -> None:
        self.requests: list[tuple[str, int]] = []
        self.staged: Counter[str] = Counter()
        self.issued = 0
        self._revoking = iter([threading.Barrier(revokes_at or 1, self.revoke)] * revokes_at)
        self._valid: set[str] = set()
        self._lock = threading.Lock()
        respond = partial(anyio.to_thread.run_sync, self._respond) if is_async else self._respond
        self.transport = httpx.MockTransport(respond)

    def issue(self, **arguments) -> Token:
        with self._lock:
            self.issued += 1
            value = f"canary-{self.issued}"
            self._valid.add(value)
        return Token(value, **arguments)

    def revoke(self) -> None:
        self._valid.clear()

    @property
    def statuses(self) -> list[int]:
        return [status for _, status in self.requests]

    def _respond(self, request: httpx.Request) -> httpx.Response:
        with self._lock:
            barrier = next(self._revoking, None)
        if barrier is not None:
            barrier.wait(10)
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        with self._lock:
            status = 200 if token in self._valid else 401
            self.requests.append((token, status))
            if status == 401:
                echo = {"message": f"not {self.requests}"}  # also those that it refused before
                return httpx.Response(401, json=echo, headers={"x-echo": token})
            if request.method == "GET":
                return clients.a_page()
            self.staged[json.loads(request.content)["campaign_id"]] += 1
            return clients.a_draft()


class Wall:
    """The wall clock of the clients, which stands still; `later` is what the next readings add."""

    def __init__(self) -> None:
        self.time = time.time()
        self.later: list[float] = []

    def read(self) -> float:
        self.time += self.later.pop(0) if self.later else 0.0
        return self.time


@pytest.fixture
def wall(monkeypatch) -> Wall:
    wall = Wall()
    clock = network.SYSTEM_CLOCK._replace(wall_time=wall.read)
    monkeypatch.setattr(network, "SYSTEM_CLOCK", clock)
    return wall


def service_of(client_kind, **options) -> TokenService:
    return TokenService(is_async=client_kind is not SYNC, **options)


def opened(client_kind, service, **options):
    options = {"token": service.issue, "timeout": 10, **options}
    return client_kind.open(URL, transport=service.transport, **options)


def blocking(client_kind, function: Callable[[], object]) -> Callable:
    """A function that may block: in a thread for an async client."""
    return function if client_kind is SYNC else partial(anyio.to_thread.run_sync, function)


def slow(client_kind, fetch: Callable[[], object]) -> Callable:
    """A `token` function that lets others wait for it."""

    def fetch_slowly():
        time.sleep(0.03)
        return fetch()

    return blocking(client_kind, fetch_slowly)


async def at_once(client, call: Callable, count: int = MANY) -> list:
    """The results and errors of calls of many threads or tasks."""
    if isinstance(client, AdClient):
        with ThreadPoolExecutor(count) as pool:
            done = [pool.submit(call, client, number) for number in range(count)]
        return [each.exception() or each.result() for each in done]
    results: list = []

    async def one(number: int) -> None:
        try:
            results.append(await call(client, number))
        except Exception as error:
            results.append(error)

    async with anyio.create_task_group() as group:
        for number in range(count):
            group.start_soon(one, number)
    return results


def read_one(client, _: int):
    return read(client)


def write_one(client, number: int):
    return write(client, campaign_id=f"campaign_{number}")


def failures(results: list) -> list[BaseException]:
    return [result for result in results if isinstance(result, BaseException)]


@sync_asyncio_trio
async def test_many_callers_and_copies_cause_one_call_of_the_function(client_kind, wall) -> None:
    service = service_of(client_kind)

    def issue() -> Token:
        return service.issue(expires_at=wall.time + HOUR)

    async with opened(client_kind, service, token=slow(client_kind, issue)) as client:
        for tokens in (1, 2):  # the first one, and one after it has expired
            assert failures(await at_once(client, read_one)) == []
            assert service.issued == tokens
            for copy in (client.with_options(timeout=5), client.with_options(max_retries=0)):
                await wait(read(copy))
            assert service.requests[-MANY - 2 :] == [(f"canary-{tokens}", 200)] * (MANY + 2)
            wall.time += HOUR


@sync_and_async
async def test_function_that_returns_text_is_called_by_all_who_waited_at_once(client_kind) -> None:
    service, barrier = service_of(client_kind), threading.Barrier(4)

    def issue() -> str:
        token = service.issue().value
        if token != "canary-1":  # for which the others wait
            barrier.wait(10)
        return token

    async with opened(client_kind, service, token=slow(client_kind, issue)) as client:
        assert failures(await at_once(client, read_one, 5)) == []
    assert Counter(service.requests) == {(f"canary-{n}", 200): 1 for n in (1, 2, 3, 4, 5)}


@sync_asyncio_trio
async def test_one_caller_refreshes_early_while_the_others_go_on(client_kind, wall) -> None:
    service = service_of(client_kind)
    is_refreshing, proceed = threading.Event(), threading.Event()

    def issue() -> Token:
        if service.issued == 1:
            is_refreshing.set()
            assert proceed.wait(10)
        return service.issue(expires_at=wall.time + HOUR)

    async def go_on() -> None:
        assert await wait(blocking(client_kind, partial(is_refreshing.wait, 10))())
        for _ in range(2):
            assert failures(await at_once(client, read_one, 5)) == []
            wall.time += EARLY_PAUSE  # it takes long, and nobody else begins to refresh
        wall.later = [0.0, 0.0, HOUR]  # the old token expires at the wrong moment
        await wait(read(client))
        proceed.set()

    def one_of_two(client, number: int):
        if number == 0:
            return read(client)
        return SYNC.run(go_on) if client_kind is SYNC else go_on()

    async with opened(client_kind, service, token=blocking(client_kind, issue)) as client:
        await wait(read(client))
        wall.time += HOUR - 30
        assert failures(await at_once(client, one_of_two, 2)) == []
    assert service.requests == [("canary-1", 200)] * 12 + [("canary-2", 200)]


@sync_and_async
async def test_failed_early_refresh_fails_no_call(client_kind, wall, caplog) -> None:
    service, calls = service_of(client_kind), []

    def issue() -> Token:
        calls.append(wall.time)
        if len(calls) == 2:
            raise OSError("canary: no network")
        return service.issue(expires_at=wall.time + HOUR)

    async with opened(client_kind, service, token=slow(client_kind, issue)) as client:
        await wait(read(client))
        wall.time += HOUR - 30
        assert failures(await at_once(client, read_one)) == []
        await wait(read(client))  # later, but not long enough
        assert len(calls) == 2
        warned = [record for record in caplog.records if record.name == "adclient"]
        assert [record.levelname for record in warned] == ["WARNING"]
        line = "the token could not be refreshed early (OSError); the old one is used"
        assert warned[0].getMessage() == line
        wall.time += EARLY_PAUSE
        await wait(read(client))
        assert len(calls) == 3
    assert service.requests == [("canary-1", 200)] * (MANY + 2) + [("canary-2", 200)]


@asyncio_and_trio
async def test_slow_early_refresh_leaves_time_for_the_call(client_kind, wall, caplog) -> None:
    service = service_of(client_kind)

    async def issue() -> Token:
        if service.issued == 1:
            await anyio.sleep(30)
        return service.issue(expires_at=wall.time + HOUR)

    async with opened(client_kind, service, token=issue, timeout=1.0) as client:
        await read(client)
        wall.time += HOUR - 30
        assert failures(await at_once(client, read_one, 3)) == []
    assert service.requests == [("canary-1", 200)] * 4
    assert "(it took too long)" in caplog.text


@pytest.mark.parametrize("bad", [OSError("no network"), "canary\n"], ids=["error", "invalid"])
@sync_asyncio_trio
async def test_failing_refresh_is_not_repeated_by_each_caller(client_kind, wall, bad) -> None:
    service, results = service_of(client_kind), [bad]

    def fail() -> Token | str:
        result = results.pop() if results else service.issue()
        if isinstance(result, Exception):
            raise result
        return result

    async with opened(client_kind, service, token=slow(client_kind, fail)) as client:
        errors = await at_once(client, read_one)
        wall.time += PAUSE / 2
        errors += await at_once(client, write_one, 1)
        if bad == "canary\n":  # an error of its own for each caller
            assert {type(error) for error in errors} == {adclient.ConfigurationError}
            assert len(set(map(id, errors))) == len(errors)
            for error in errors[-2:]:
                assert_untold(shown_by(error), *locals_of(error))
        else:
            assert set(errors) == {bad}
        assert (service.issued, service.requests) == (0, [])
        wall.time += PAUSE / 2
        assert failures(await at_once(client, read_one)) == []
        assert service.issued == 1


@pytest.mark.parametrize("is_late", [False, True], ids=["cancelled", "late"])
@asyncio_and_trio
async def test_waiting_caller_takes_over_from_one_that_ended(client_kind, is_late) -> None:
    service, calls, scope = service_of(client_kind), [], anyio.CancelScope()

    async def issue() -> Token:
        calls.append(len(calls))
        if len(calls) == 1:
            await anyio.sleep(30)
        return service.issue()

    async def read_late() -> None:
        with pytest.raises(CallTimeout, match="the credentials took the whole timeout"):
            await read(client.with_options(timeout=0.1))

    async def first() -> None:
        with scope:
            await (read_late() if is_late else read(client))

    async with (
        opened(client_kind, service, token=issue) as client,
        anyio.create_task_group() as group,
    ):
        group.start_soon(first)
        await anyio.wait_all_tasks_blocked()
        for _ in range(5):
            group.start_soon(read, client)
        if not is_late:
            await read_late()  # while it waits for the first one
            scope.cancel()
    assert calls == [0, 1]
    assert service.requests == [("canary-1", 200)] * 5


def test_waiting_thread_takes_over_from_an_interrupted_one() -> None:
    service, is_fetching, proceed = service_of(SYNC), threading.Event(), threading.Event()

    def issue() -> Token:
        if not is_fetching.is_set():
            is_fetching.set()
            assert proceed.wait(10)
            raise KeyboardInterrupt
        return service.issue()

    client = SYNC.client(URL, transport=service.transport, token=issue)
    with ThreadPoolExecutor(6) as pool:
        interrupted = pool.submit(read, client)
        assert is_fetching.wait(10)
        others = [pool.submit(read, client) for _ in range(5)]
        with pytest.raises(CallTimeout, match="the credentials took the whole timeout"):
            read(client.with_options(timeout=0.05))  # while it waits for the first one
        assert service.requests == []
        proceed.set()
    assert type(interrupted.exception()) is KeyboardInterrupt
    assert [other.exception() for other in others] == [None] * 5
    assert service.issued == 1


@pytest.mark.parametrize("call", [read_one, write_one])
@sync_asyncio_trio
async def test_revoked_token_is_replaced_once_for_all(client_kind, call) -> None:
    service = service_of(client_kind, revokes_at=MANY // 2)
    retries: list[tuple[str, float]] = []
    hooks = Hooks(on_retry=lambda event: retries.append((event.reason, event.wait)))
    function = slow(client_kind, service.issue)
    async with opened(client_kind, service, token=function, hooks=hooks) as client:
        results = await at_once(client, call)
    assert failures(results) == []
    refused = service.statuses.count(401)
    assert MANY // 2 <= refused <= MANY
    assert set(service.requests) <= {("canary-1", 200), ("canary-1", 401), ("canary-2", 200)}
    assert (service.issued, len(service.requests)) == (2, MANY + refused)
    attempts = Counter(result.response.attempts for result in results)
    assert attempts == Counter({1: MANY - refused, 2: refused})
    assert retries == [("401", 0.0)] * refused
    if call is write_one:
        assert service.staged == {f"campaign_{number}": 1 for number in range(MANY)}


@each_case(
    ("tokens", "statuses", "error"),
    ([REVOKED.value, None], [401, 200], None),
    ([REVOKED.value, REVOKED.value], [401], Unauthenticated),  # not sent again
    ([REVOKED, REVOKED], [401], Unauthenticated),
    ([REVOKED, OTHER], [401, 401], Unauthenticated),
    ([REVOKED.value, "another"], [401, 401], Unauthenticated),  # a second 401 is the error
    ([REVOKED, OSError("no network")], [401], OSError),
    ("revoked", [401], Unauthenticated),
)
@sync_and_async
async def test_request_is_sent_again_with_a_new_token(client_kind, tokens, statuses, error) -> None:
    service = service_of(client_kind)
    left = [] if isinstance(tokens, str) else list(tokens)

    def issue() -> str | Token:
        token = left.pop(0) or service.issue().value
        if isinstance(token, OSError):
            raise token
        return token

    token = tokens if isinstance(tokens, str) else issue
    async with opened(client_kind, service, token=token, max_retries=0) as client:
        with nullcontext() if error is None else pytest.raises(error) as caught:
            await wait(write(client))
        if error is Unauthenticated:
            assert caught.value.attempts == len(statuses)
            assert_untold(shown_by(caught.value), *locals_of(caught.value))
            assert caught.value.message.count("***") == len(statuses)
            assert "revoked" not in f"{caught.value} {vars(caught.value)}"
    assert (service.statuses, left) == (statuses, [])
