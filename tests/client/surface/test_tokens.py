"""Tokens that expire, are revoked or cannot be fetched, for many threads and tasks at once."""

import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import anyio
import httpx
import pytest
from clients import (
    ASYNC,
    CLIENT_KINDS,
    SYNC,
    asyncio_and_trio,
    read,
    sync_and_async,
    sync_asyncio_trio,
    wait,
    write,
)
from forking import run
from test_interrupted_secrets import locals_of
from test_secrets import assert_untold, shown_by
from token_server import PAGE, TokenServer

from adclient import (
    AdClient,
    AdClientError,
    CallTimeout,
    ConfigurationError,
    Hooks,
    Token,
    Unauthenticated,
)
from adclient._core.tokens import EARLY_PAUSE, PAUSE
from adclient._http import resolve
from adclient.doctor import examine

HOUR = 3600.0


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
    clock = resolve.SYSTEM_CLOCK._replace(wall_time=wall.read)
    monkeypatch.setattr(resolve, "SYSTEM_CLOCK", clock)
    return wall


@pytest.fixture
def server() -> Iterator[TokenServer]:
    with TokenServer() as server:
        yield server


def slow(client, fetch: Callable[[], object], seconds: float = 0.05):
    """A `token` function that takes a while: an async one for an async client."""

    def fetch_slowly():
        time.sleep(seconds)
        return fetch()

    async def fetch_slowly_async():
        await anyio.sleep(seconds)
        return fetch()

    return fetch_slowly if client is SYNC else fetch_slowly_async


async def at_once(client, call: Callable, count: int | None = None) -> list:
    """The results and errors of calls of many threads, or ten times as many tasks."""
    if isinstance(client, AdClient):
        count = count or 50
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
        for number in range(count or 500):
            group.start_soon(one, number)
    return results


def read_one(client, _: int):
    return read(client)


def write_one(client, number: int):
    return write(client, campaign_id=f"campaign_{number}")


def failures(results: list) -> list[BaseException]:
    return [result for result in results if isinstance(result, BaseException)]


# One refresh.


@sync_asyncio_trio
async def test_many_callers_cause_one_call_of_the_function(client_kind, server, wall) -> None:
    def issue() -> Token:
        return server.issue(expires_at=wall.time + HOUR)

    async with client_kind.open(server.url, token=slow(client_kind, issue)) as client:
        for tokens in (1, 2):  # the first one, and one after it has expired
            results = await at_once(client, read_one)
            assert failures(results) == []
            assert server.issued == tokens
            assert set(server.requests[-len(results) :]) == {(f"canary-{tokens}", 200)}
            wall.time += HOUR


@sync_asyncio_trio
async def test_token_that_arrives_expired_is_good_for_all_who_waited(client_kind, server) -> None:
    def issue() -> Token:
        return server.issue(expires_at=time.time() - 1)  # such as by a clock that is wrong

    async with client_kind.open(server.url, token=slow(client_kind, issue, 0.5)) as client:
        assert failures(await at_once(client, read_one)) == []
        assert server.issued == 1
        await wait(read(client))
        assert server.issued == 2


@sync_and_async
async def test_copies_of_a_client_share_the_token(client_kind, server) -> None:
    async with client_kind.open(server.url, token=server.issue) as client:
        for copy in (client, client.with_options(timeout=5), client.with_options(max_retries=0)):
            await wait(read(copy))
    assert server.requests == [("canary-1", 200)] * 3


@sync_asyncio_trio
async def test_function_that_returns_text_is_called_for_each_request(client_kind, server) -> None:
    def issue() -> str:
        return server.issue().value

    function = slow(client_kind, issue, 0.2)
    async with client_kind.open(server.url, token=function) as client:
        began = time.monotonic()
        assert failures(await at_once(client, read_one, 20)) == []
        assert server.issued == len(set(server.requests)) == 20
        # One caller waits to see what the function returns. The others need not wait in turn.
        assert time.monotonic() - began < 2.0


@sync_and_async
async def test_failing_function_that_returns_text_is_called_again_at_once(
    client_kind, server
) -> None:
    def issue() -> str:
        calls.append(1)
        if len(calls) == 2:
            raise OSError("no network")
        return server.issue().value

    calls: list[int] = []
    async with client_kind.open(server.url, token=issue) as client:
        await wait(read(client))
        with pytest.raises(OSError, match="no network"):
            await wait(read(client))
        await wait(read(client))
    assert server.statuses == [200, 200]


def test_event_loops_share_the_token_and_each_has_a_lock(server) -> None:
    fetches: list[float] = []

    async def issue() -> Token:
        fetches.append(time.monotonic())
        await anyio.sleep(0.05)
        return server.issue()

    async def many() -> None:
        assert failures(await at_once(client, read_one, 20)) == []

    client = ASYNC.client(server.url, token=issue)
    threads = [threading.Thread(target=anyio.run, args=[many]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.statuses == [200] * 60
    assert 1 <= len(fetches) <= 3
    anyio.run(many, backend="trio")
    assert 1 <= len(fetches) <= 3


# Early refreshes.


@sync_asyncio_trio
async def test_one_caller_refreshes_early_while_the_others_go_on(client_kind, server, wall) -> None:
    is_refreshing, proceed = threading.Event(), threading.Event()

    def issue() -> Token:
        if server.issued == 1:
            is_refreshing.set()
            assert proceed.wait(10)
        return server.issue(expires_at=wall.time + HOUR)

    async def issue_async() -> Token:
        return await anyio.to_thread.run_sync(issue)

    async def others() -> None:
        while not is_refreshing.is_set():
            await anyio.sleep(0.001)
        for _ in range(2):
            assert failures(await at_once(client, read_one, 10)) == []
            wall.time += EARLY_PAUSE  # it takes long, and nobody else begins to refresh
        wall.later = [0.0, 0.0, HOUR]  # the old token expires at the wrong moment
        await wait(read(client))
        proceed.set()

    function = issue if client_kind is SYNC else issue_async
    async with client_kind.open(server.url, token=function) as client:
        await wait(read(client))
        wall.time += HOUR - 30
        if client_kind is SYNC:
            with ThreadPoolExecutor(1) as pool:
                first = pool.submit(read, client)
                assert is_refreshing.wait(10)
                SYNC.run(others)
                first.result()
        else:
            async with anyio.create_task_group() as group:
                group.start_soon(read, client)
                await others()
    assert server.requests == [("canary-1", 200)] * 22 + [("canary-2", 200)]


@sync_asyncio_trio
async def test_failed_early_refresh_fails_no_call(client_kind, server, wall, caplog) -> None:
    def issue() -> Token:
        calls.append(wall.time)
        if len(calls) == 2:
            raise OSError("canary: no network")
        return server.issue(expires_at=wall.time + HOUR)

    calls: list[float] = []
    async with client_kind.open(server.url, token=slow(client_kind, issue)) as client:
        await wait(read(client))
        wall.time += HOUR - 30
        assert failures(await at_once(client, read_one, 20)) == []
        assert len(calls) == 2
        warned = [record for record in caplog.records if record.name == "adclient"]
        assert [record.levelname for record in warned] == ["WARNING"]
        line = "the token could not be refreshed early (OSError); the old one is used"
        assert warned[0].getMessage() == line
        wall.time += EARLY_PAUSE
        await wait(read(client))
        assert len(calls) == 3
    assert server.requests == [("canary-1", 200)] * 21 + [("canary-2", 200)]


@asyncio_and_trio
async def test_slow_early_refresh_leaves_time_for_the_call(
    client_kind, server, wall, caplog
) -> None:
    async def issue() -> Token:
        if server.issued == 1:
            await anyio.sleep(30)
        return server.issue(expires_at=wall.time + HOUR)

    async with client_kind.open(server.url, token=issue, timeout=2.0) as client:
        await read(client)
        wall.time += HOUR - 30
        assert failures(await at_once(client, read_one, 20)) == []
    assert server.requests == [("canary-1", 200)] * 21
    assert "(it took too long)" in caplog.text


# Refreshes that do not succeed.


@sync_asyncio_trio
async def test_failing_refresh_is_not_repeated_by_each_caller(client_kind, server, wall) -> None:
    def fail() -> Token:
        calls.append(wall.time)
        if len(calls) == 1:
            raise OSError("no network")
        return server.issue()

    calls: list[float] = []
    async with client_kind.open(server.url, token=slow(client_kind, fail)) as client:
        results = await at_once(client, read_one)
        wall.time += PAUSE / 2
        results += await at_once(client, write_one, 1)
        assert {(type(result), str(result)) for result in results} == {(OSError, "no network")}
        assert (len(calls), server.requests) == (1, [])
        wall.time += PAUSE / 2
        assert failures(await at_once(client, read_one)) == []
        assert len(calls) == 2


@sync_asyncio_trio
async def test_invalid_token_is_an_error_of_its_own_for_each_caller(client_kind, server) -> None:
    calls = []

    def invalid() -> str:
        calls.append(1)
        return "canary\n"

    async with client_kind.open(server.url, token=slow(client_kind, invalid)) as client:
        errors = await at_once(client, read_one)
        assert {type(error) for error in errors} == {ConfigurationError}
        assert len(set(map(id, errors))) == len(errors)
        assert (calls, server.requests) == ([1], [])
        for error in errors[:3]:
            assert_untold(shown_by(error), *locals_of(error))


@sync_asyncio_trio
async def test_failure_shows_the_callers_function_and_no_token(client_kind, server) -> None:
    def fail() -> Token:
        raise OSError("no network")

    function = slow(client_kind, fail)
    async with client_kind.open(server.url, token=function) as client:
        errors = await at_once(client, write_one, 5)
        errors += await at_once(client, write_one, 1)  # within the pause
        for error in errors:
            assert_untold(shown_by(error), *locals_of(error))
            frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
            assert frames[-2:] == [function.__name__, "fail"]
            assert not {"_perform", "fetch"} & set(frames)


@asyncio_and_trio
async def test_waiting_caller_takes_over_from_a_cancelled_or_late_one(client_kind, server) -> None:
    calls: list[int] = []

    async def issue() -> Token:
        calls.append(len(calls))
        if len(calls) in (1, 2):  # the first is cancelled, and the second too late
            await anyio.sleep(20)
        return server.issue()

    async def late() -> None:
        with pytest.raises(CallTimeout, match="the credentials took the whole timeout"):
            await read(client.with_options(timeout=1.0))

    async def cancelled() -> None:
        with scope:
            await read(client)

    scope = anyio.CancelScope()
    async with (
        client_kind.open(server.url, token=issue) as client,
        anyio.create_task_group() as group,
    ):
        group.start_soon(cancelled)
        await anyio.wait_all_tasks_blocked()
        group.start_soon(late)
        await anyio.wait_all_tasks_blocked()  # it waits, and is the next one
        for _ in range(20):
            group.start_soon(read, client)
        await anyio.wait_all_tasks_blocked()
        assert calls == [0]
        scope.cancel()
    assert calls == [0, 1, 2]
    assert server.requests == [("canary-1", 200)] * 20


def test_waiting_thread_takes_over_from_an_interrupted_one(server) -> None:
    is_fetching, proceed = threading.Event(), threading.Event()

    def issue() -> Token:
        if not is_fetching.is_set():
            is_fetching.set()
            assert proceed.wait(10)
            raise KeyboardInterrupt
        return server.issue()

    client = SYNC.client(server.url, token=issue)
    with ThreadPoolExecutor(11) as pool:
        interrupted = pool.submit(read, client)
        assert is_fetching.wait(10)
        others = [pool.submit(read, client) for _ in range(10)]
        time.sleep(0.05)
        assert server.requests == []
        proceed.set()
    assert type(interrupted.exception()) is KeyboardInterrupt
    assert [other.exception() for other in others] == [None] * 10
    assert server.issued == 1
    client.close()


@sync_asyncio_trio
async def test_waiting_for_a_refresh_counts_against_the_timeout(client_kind, server) -> None:
    is_fetching, proceed = threading.Event(), threading.Event()

    def issue() -> Token:
        is_fetching.set()
        assert proceed.wait(10)
        return server.issue()

    async def issue_async() -> Token:
        return await anyio.to_thread.run_sync(issue)

    def call(client, number: int):
        if number == 0:
            return read(client)
        assert is_fetching.wait(10)
        try:
            with pytest.raises(CallTimeout, match="the credentials took the whole timeout"):
                read(client.with_options(timeout=0.1))
        finally:
            proceed.set()
        return None

    async def call_async(client, number: int):
        if number == 0:
            return await read(client)
        while not is_fetching.is_set():
            await anyio.sleep(0.001)
        with pytest.raises(CallTimeout, match="the credentials took the whole timeout"):
            await read(client.with_options(timeout=0.1))
        proceed.set()
        return None

    function, each = (issue, call) if client_kind is SYNC else (issue_async, call_async)
    async with client_kind.open(server.url, token=function) as client:
        assert failures(await at_once(client, each, 2)) == []
    assert server.requests == [("canary-1", 200)]


def test_forked_child_does_not_wait_for_a_refresh_of_its_parent() -> None:
    run(
        """
from adclient import Token
is_fetching, parent = threading.Event(), os.getpid()

def token():
    if os.getpid() == parent:
        is_fetching.set()
        threading.Event().wait()
    return Token("t")

transport = httpx.MockTransport(answered)
client = AdClient("http://127.0.0.1", token=token, transport=transport, timeout=5)
threading.Thread(target=read, args=(client, "parent"), daemon=True).start()
assert is_fetching.wait(10)
in_a_child(lambda: read(client, "child"))
"""
    )


# After a 401.


@pytest.mark.parametrize("call", [read_one, write_one])
@sync_asyncio_trio
async def test_revoked_token_is_replaced_once_for_all(client_kind, server, call) -> None:
    server.revokes_at = 20
    retries: list[tuple[str, float]] = []
    hooks = Hooks(on_retry=lambda event: retries.append((event.reason, event.wait)))
    function = slow(client_kind, server.issue)
    async with client_kind.open(server.url, token=function, hooks=hooks) as client:
        results = await at_once(client, call)
        assert failures(results) == []
        refused = server.statuses.count(401)
        assert 0 < refused <= len(results) - 20
        assert set(server.requests) == {("canary-1", 200), ("canary-1", 401), ("canary-2", 200)}
        assert (server.issued, len(server.requests)) == (2, len(results) + refused)
        assert Counter(result.response.attempts for result in results) == {
            1: len(results) - refused,
            2: refused,
        }
        assert retries == [("401", 0.0)] * refused
    if call is write_one:
        assert len(server.staged) == len(results)
        assert set(server.staged.values()) == {1}


@sync_and_async
async def test_text_of_a_function_is_replaced_after_a_401_without_retries(
    client_kind, server
) -> None:
    tokens = iter([Token("revoked").value, server.issue().value])
    function = partial(next, tokens)
    async with client_kind.open(server.url, token=function, max_retries=0) as client:
        await wait(write(client))
    assert server.statuses == [401, 200]
    assert server.staged == {"c": 1}


@pytest.mark.parametrize("token", ["revoked", Token("revoked")])
@sync_and_async
async def test_request_is_not_sent_again_with_the_same_token(client_kind, server, token) -> None:
    calls = []

    def function() -> str | Token:
        calls.append(token)
        return token

    async with client_kind.open(server.url, token=function) as client:
        with pytest.raises(Unauthenticated):
            await wait(write(client))
    assert (len(calls), server.statuses) == (2, [401])


@sync_and_async
async def test_second_401_is_the_error(client_kind, server) -> None:
    def issue() -> Token:
        token = server.issue()
        server.revoke()
        return token

    async with client_kind.open(server.url, token=issue) as client:
        with pytest.raises(Unauthenticated) as caught:
            await wait(write(client))
        assert caught.value.attempts == 2
        assert_untold(shown_by(caught.value), *locals_of(caught.value))
    assert server.requests == [("canary-1", 401), ("canary-2", 401)]


@pytest.mark.parametrize("status", [200, 403])
@sync_and_async
async def test_later_response_does_not_show_a_refused_token(client_kind, server, status) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        is_first = request.headers["authorization"] == "Bearer canary-1"
        echo = {"message": "not canary-1"}
        return httpx.Response(401 if is_first else status, json=echo, headers=echo)

    transport = httpx.MockTransport(answer)
    async with client_kind.open(transport=transport, token=server.issue) as client:
        with pytest.raises(AdClientError, match=r"not \*\*\*") as caught:
            await wait(read(client))
    assert caught.value.attempts == 2
    assert_untold(shown_by(caught.value), *locals_of(caught.value))


@sync_asyncio_trio
async def test_accounts_that_refuse_any_token_cause_few_logins(client_kind, server, wall) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        is_refused = int(request.url.params["account_id"]) < 10
        return httpx.Response(401 if is_refused else 200, json=PAGE)

    def read_account(client, number: int):
        return read(client, account_id=str(number))

    transport = httpx.MockTransport(answer)
    async with client_kind.open(transport=transport, token=server.issue) as client:
        for logins in (2, 2, 3):
            errors = failures(await at_once(client, read_account, 50))
            assert [type(error) for error in errors] == [Unauthenticated] * 10
            assert server.issued == logins
            wall.time += EARLY_PAUSE / 2


@pytest.mark.parametrize(
    "credentials",
    [{"token": "revoked"}, {"auth": lambda _: {"authorization": "Bearer revoked"}}],
    ids=["token", "auth"],
)
@sync_and_async
async def test_fixed_token_or_auth_is_not_renewed(client_kind, server, credentials) -> None:
    async with client_kind.open(server.url, **credentials) as client:
        with pytest.raises(Unauthenticated):
            await wait(read(client))
    assert server.statuses == [401]


@sync_and_async
async def test_failing_refresh_after_a_401_is_the_error(client_kind, server) -> None:
    def issue() -> Token:
        if server.issued:
            raise OSError("no network")
        return server.issue()

    async with client_kind.open(server.url, token=issue) as client:
        await wait(read(client))
        server.revoke()
        with pytest.raises(OSError, match="no network"):
            await wait(write(client))
    assert server.statuses == [200, 401]


# Elsewhere.


@pytest.mark.parametrize("client_kind", CLIENT_KINDS[:2], ids=str)
def test_token_itself_is_no_setting(client_kind) -> None:
    with pytest.raises(ConfigurationError, match="a function that returns a str or a Token"):
        client_kind.client("https://ads.example.com", token=Token("canary"))


def test_doctor_takes_a_function_that_returns_a_token(server) -> None:
    report = examine(server.url, account_id="account_b204", token=server.issue)
    assert report["credentials"].certainty == "observed"
