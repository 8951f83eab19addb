"""A gate that processes share, in a file; and what it does in one process."""

import os
import sqlite3
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

import anyio
import httpx
import pytest
from clients import (
    BASE_URL,
    Service,
    a_page,
    asyncio_and_trio,
    each_client_class,
    sync_asyncio_trio,
    wait,
)
from gate_tests import *  # noqa: F403
from raw_server import RawServer, answer_to

from adclient import (
    AdClient,
    CallTimeout,
    ConfigurationError,
    Conventions,
    Hooks,
    LedgerError,
    LedgerWarning,
    RateLimited,
    ServerError,
    SharedGate,
    SQLiteLedger,
)
from adclient.testing import FakeAdService, Fault

ACCOUNT, OTHER = "account_b204", "account_b7e0"


@pytest.fixture
def where(tmp_path) -> str:
    return str(tmp_path / "drafts.db")


@pytest.fixture
def gate_file(where) -> Path:
    return Path(f"{where}-gate")


@pytest.fixture
def fake() -> FakeAdService:
    return FakeAdService()


@pytest.fixture
def gate_of(where, fake):
    """Make a gate as another process would, on the clock of the fake."""

    def gate_of(**options) -> SharedGate:
        return SharedGate(SQLiteLedger(where, now=fake.clock.now), **options)

    return gate_of


@pytest.fixture
def gate(where):
    """A gate for one request at once, on the clock of the machine."""
    with closing(SharedGate(SQLiteLedger(where), at_once=1)) as gate:
        yield gate


def read(client, account_id=ACCOUNT):
    return wait(client.beta.list_campaigns(account_id=account_id))


def limit(fake, *seconds: int) -> None:
    for number in seconds:
        fake.faults.add(Fault.status(429, headers={"retry-after": f"{number}"}))


def of_fake(client_kind, fake, gate, **options):
    return client_kind.open(fake.base_url, transport=fake.transport, gate=gate, **options)


def places(gate_file: Path) -> int:
    with closing(sqlite3.connect(gate_file)) as connection:
        return connection.execute("SELECT count(*) FROM adclient_gate_call").fetchone()[0]


# Pauses.


@pytest.mark.own  # uses the clock of the fake
@pytest.mark.parametrize(("scope", "sleeps"), [("account", 0), ("client", 1), ("call", 0)])
@sync_asyncio_trio
async def test_scope_decides_which_calls_of_other_clients_wait(
    client_kind, fake, gate_of, scope, sleeps, caplog
) -> None:
    caplog.set_level("INFO", "adclient")
    limit(fake, 20)
    options = {"conventions": Conventions(rate_limit_scope=scope), "max_retries": 0}
    async with of_fake(client_kind, fake, gate_of(), **options) as client:
        with pytest.raises(RateLimited):
            await read(client)
    async with of_fake(client_kind, fake, gate_of(), **options) as client:
        await read(client, OTHER)
        assert fake.clock.sleeps == (20.5,) * sleeps
        page = await read(client)
    assert page.response.attempts == 1
    assert fake.clock.sleeps == (() if scope == "call" else (20.5,))
    waits = [message for message in caplog.messages if "shared rate limit" in message]
    assert len(waits) == len(fake.clock.sleeps)


@pytest.mark.own
@sync_asyncio_trio
async def test_call_without_time_for_the_pause_is_not_sent(
    client_kind, fake, gate_of, where
) -> None:
    limit(fake, 60)
    ledger = SQLiteLedger(where)
    async with of_fake(client_kind, fake, gate_of(), timeout=40, ledger=ledger) as client:
        with pytest.raises(RateLimited):
            await read(client)
        problem = "asked for a pause, of which 60.5 s are left.*retry after 60.5 s"
        with pytest.raises(CallTimeout, match=problem) as late:
            await wait(client.beta.pause_campaign(account_id=ACCOUNT, campaign_id="c"))
    assert (late.value.attempts, late.value.retry_after) == (0, 60.5)
    assert len(fake.requests) == 1
    assert [entry.state for entry in ledger.entries()] == ["not staged"]
    ledger.verify()


@pytest.mark.own
@sync_asyncio_trio
async def test_retry_without_time_for_the_pause_raises_the_response(
    client_kind, fake, gate_of
) -> None:
    """Another process gets a 429 during the backoff."""
    gate = gate_of()

    def be_refused(event) -> None:
        limit(fake, 60)
        with pytest.raises(RateLimited):
            fake.client(gate=gate).beta.list_campaigns(account_id=ACCOUNT)

    fake.faults.add(Fault.status(503))
    async with of_fake(client_kind, fake, gate, hooks=Hooks(on_retry=be_refused)) as client:
        with pytest.raises(ServerError) as refused:
            await read(client)
    assert refused.value.attempts == 1
    assert len(fake.requests) == 2


@pytest.mark.parametrize(
    ("first", "second", "left"), [(60, 40, 60.5), (40, 60, 60.5), (10**9, 1, 86400.5)]
)
def test_longest_pause_counts_up_to_a_day(fake, gate_of, first, second, left) -> None:
    limit(fake, first, second)
    gate = gate_of()

    def be_refused(event=None, **options) -> None:
        client = fake.client(gate=gate, timeout=0.5, **options)
        with pytest.raises(RateLimited):
            client.beta.list_campaigns(account_id=ACCOUNT)

    be_refused(hooks=Hooks(on_request=be_refused))  # the inner call is sent first
    with pytest.raises(CallTimeout) as late:
        fake.client(gate=gate).beta.list_campaigns(account_id=ACCOUNT)
    assert late.value.retry_after == left


def test_names_and_addresses_have_pauses_of_their_own(fake, gate_of) -> None:
    limit(fake, 60)
    with pytest.raises(RateLimited):
        fake.client(gate=gate_of(name="a")).beta.list_campaigns(account_id=ACCOUNT)
    fake.client(gate=gate_of(name="b")).beta.list_campaigns(account_id=ACCOUNT)
    service = Service(a_page())
    other = AdClient(BASE_URL, transport=service.transport, gate=gate_of(name="a"))
    other.beta.list_campaigns(account_id=ACCOUNT)
    with pytest.raises(CallTimeout):
        fake.client(gate=gate_of(name="a")).beta.list_campaigns(account_id=ACCOUNT)


@pytest.mark.own
@sync_asyncio_trio
async def test_429_without_a_time_pauses_nothing(client_kind, fake, gate_of) -> None:
    fake.faults.add(Fault.status(429))
    async with of_fake(client_kind, fake, gate_of(), max_retries=0) as client:
        with pytest.raises(RateLimited):
            await read(client)
        await read(client)
    assert fake.clock.sleeps == ()


# Caps.


@pytest.mark.own
@sync_asyncio_trio
async def test_requests_per_second_are_counted_by_account(client_kind, fake, gate_of) -> None:
    async with of_fake(client_kind, fake, gate_of(per_second=1)) as client:
        for account_id in (ACCOUNT, OTHER, ACCOUNT, ACCOUNT):
            await read(client, account_id)
        assert fake.clock.sleeps == pytest.approx((0.9, 1.0))
        problem = "1 requests per second: 1 s to wait"
        with pytest.raises(CallTimeout, match=problem) as late:
            await read(client.with_options(timeout=0.5))
    assert late.value.retry_after == pytest.approx(1)


@asyncio_and_trio
async def test_cancelled_call_frees_its_place_and_leaves_the_queue(
    client_kind, gate, gate_file
) -> None:
    def serve(connection) -> None:
        while request := connection.read():
            if len(server.requests) == 1:
                connection.stay_silent()
            connection.send(answer_to(request))

    with RawServer(serve) as server:
        async with client_kind.open(server.url, gate=gate) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read, client)
                while not server.requests:
                    await anyio.sleep(0.001)
                tasks.start_soon(read, client)
                while places(gate_file) < 2:
                    await anyio.sleep(0.001)
                tasks.cancel_scope.cancel()
            with anyio.fail_after(5):
                await read(client)
    assert places(gate_file) == 0


def test_interrupted_call_frees_its_place(gate, gate_file) -> None:
    def interrupt(request) -> None:
        assert places(gate_file) == 1
        raise KeyboardInterrupt

    client = AdClient(BASE_URL, transport=httpx.MockTransport(interrupt), gate=gate)
    with pytest.raises(KeyboardInterrupt):
        client.beta.list_campaigns(account_id=ACCOUNT)
    assert places(gate_file) == 0


@asyncio_and_trio
async def test_call_cancelled_while_it_asks_keeps_no_place(
    client_kind, gate, gate_file, locked
) -> None:
    service = Service()
    async with client_kind.open(transport=service.transport, gate=gate) as client:
        with locked(), anyio.move_on_after(0.1) as scope:
            await read(client)
        assert scope.cancelled_caught
        with anyio.fail_after(5):
            service.answers.append(a_page())
            await read(client)  # asks in the same thread, after that
    assert places(gate_file) == 0
    assert len(service.requests) == 1


# The file.


@pytest.fixture
def locked(gate, gate_file):
    """A block in which somebody else writes."""
    AdClient(BASE_URL, transport=Service(a_page()).transport, gate=gate).beta.list_campaigns(
        account_id=ACCOUNT
    )

    @contextmanager
    def locked():
        with closing(sqlite3.connect(gate_file, isolation_level=None)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            yield

    return locked


def test_file_lies_beside_that_of_the_ledger_which_is_created(gate, gate_file, where) -> None:
    assert not Path(where).exists()
    with AdClient(BASE_URL, transport=Service(a_page()).transport, gate=gate) as client:
        client.beta.list_campaigns(account_id=ACCOUNT)
        assert repr(client).endswith(f", gate <SharedGate {gate_file}, 1 at once>>")
    assert gate_file.stat().st_mode & 0o777 == 0o600
    ledger = SQLiteLedger(where)
    assert len(ledger.entries()) == 0
    ledger.verify()


def test_file_can_be_deleted_while_it_is_in_use(fake, gate_of, gate_file) -> None:
    limit(fake, 60)
    client = fake.client(gate=gate_of())
    with pytest.raises(RateLimited):
        client.beta.list_campaigns(account_id=ACCOUNT)
    gate_file.unlink()
    client.beta.list_campaigns(account_id=ACCOUNT)
    with closing(sqlite3.connect(gate_file)) as connection:
        assert connection.execute("SELECT * FROM adclient_gate").fetchall() == []


def test_closed_gate_opens_again(gate, gate_file) -> None:
    client = AdClient(BASE_URL, transport=Service(a_page(), a_page()).transport, gate=gate)
    gate.close()
    client.beta.list_campaigns(account_id=ACCOUNT)
    gate.close()
    gate.close()
    client.beta.list_campaigns(account_id=ACCOUNT)
    assert places(gate_file) == 0


def test_rows_that_are_over_are_removed(fake, gate_of, gate_file) -> None:
    limit(fake, 20)
    with pytest.raises(RateLimited):
        fake.client(gate=gate_of(per_second=1), timeout=5).beta.list_campaigns(account_id=ACCOUNT)
    fake.clock.advance(20)
    fake.client(gate=gate_of()).beta.list_campaigns(account_id=OTHER)
    with closing(sqlite3.connect(gate_file)) as connection:
        assert connection.execute("SELECT * FROM adclient_gate").fetchall() == []


def no_directory(where: str) -> None:
    os.rmdir(Path(where).parent)


def another_database(where: str) -> None:
    with closing(sqlite3.connect(where)) as connection:
        connection.execute("CREATE TABLE other (name TEXT)")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (no_directory, "its directory does not exist"),
        (another_database, "it is an SQLite database, but not a ledger"),
        (lambda where: Path(f"{where}-gate").mkdir(), "it cannot be opened for writing"),
        (lambda where: Path(f"{where}-gate").write_text("x" * 999), "it is not an SQLite database"),
    ],
)
@sync_asyncio_trio
async def test_call_is_not_sent_if_the_gate_cannot_be_asked(
    client_kind, gate, where, damage, problem
) -> None:
    damage(where)
    service = Service()
    text = f"beta.list_campaigns: the shared gate in {where}-gate cannot be asked, so the request "
    async with client_kind.open(transport=service.transport, gate=gate) as client:
        with pytest.raises(LedgerError, match=f"^{text}was not sent: .*{problem}") as refused:
            await read(client)
    assert refused.value.operation == "beta.list_campaigns"
    assert service.requests == []


@sync_asyncio_trio
async def test_locked_file_takes_no_longer_than_the_call(client_kind, gate, locked) -> None:
    service = Service()
    async with client_kind.open(transport=service.transport, gate=gate, timeout=0.5) as client:
        # On a busy machine, an async call can end before its thread does.
        with locked(), pytest.raises((LedgerError, CallTimeout), match=r"locked it|took the whole"):
            await read(client)
    assert service.requests == []


def test_error_of_the_clock_is_raised(where) -> None:
    gate = SharedGate(SQLiteLedger(where, now=lambda: 1 / 0))
    client = AdClient(BASE_URL, transport=Service().transport, gate=gate)
    with pytest.raises(ZeroDivisionError):
        client.beta.list_campaigns(account_id=ACCOUNT)


def test_forked_child_leaves_the_connection_of_its_parent_open(gate, gate_file) -> None:
    client = AdClient(BASE_URL, transport=Service(a_page(), a_page()).transport, gate=gate)
    client.beta.list_campaigns(account_id=ACCOUNT)
    database, parent = gate._database, gate._database._connection
    database._pid = 0  # as in a child
    client.beta.list_campaigns(account_id=ACCOUNT)
    assert database._connection is not parent
    assert parent.execute("SELECT count(*) FROM adclient_gate_call").fetchone() == (0,)
    parent.close()


@pytest.mark.parametrize(
    ("status", "what"), [(200, "the end of a request"), (429, "a pause of 20 s")]
)
@sync_asyncio_trio
async def test_response_that_cannot_be_recorded_is_returned_with_a_warning(
    client_kind, gate, gate_file, status, what
) -> None:
    def answer(request):
        gate_file.unlink()
        gate_file.mkdir()
        return a_page() if status == 200 else httpx.Response(429, headers={"Retry-After": "20"})

    transport = httpx.MockTransport(answer)
    async with client_kind.open(transport=transport, gate=gate, max_retries=0) as client:
        expected = nullcontext() if status == 200 else pytest.raises(RateLimited)
        with pytest.warns(LedgerWarning, match=f"could not record {what}"), expected:
            await read(client)


# Settings.


@pytest.mark.parametrize("ledger", [None, "drafts.db", FakeAdService()])
def test_gate_needs_a_ledger_of_a_database(ledger) -> None:
    with pytest.raises(ConfigurationError, match="must be a SQLiteLedger or a Postgres") as refused:
        SharedGate(ledger)
    assert refused.value.argument == "ledger"


@pytest.mark.parametrize(
    ("argument", "values"),
    [
        ("name", [b"a", 1]),
        ("per_second", [0, -1, float("nan"), float("inf"), 5e-324, 10**400, True, "5"]),
        ("at_once", [0, -1, 1.5, True, "5"]),
    ],
)
def test_wrong_settings_are_refused(gate_of, argument, values) -> None:
    for value in values:
        with pytest.raises(ConfigurationError) as refused:
            gate_of(**{argument: value})
        assert refused.value.argument == argument


@each_client_class
def test_client_refuses_what_is_no_gate(client_class, where) -> None:
    with pytest.raises(ConfigurationError, match="gate must be a SharedGate, not SQLiteLedger"):
        client_class(BASE_URL, gate=SQLiteLedger(where))


def test_repr_names_the_place_and_the_caps(gate_of, gate_file) -> None:
    assert repr(gate_of()) == f"<SharedGate {gate_file}>"
    shown = f"<SharedGate {gate_file}, name 'token 1', 0.5 per second, 4 at once>"
    assert repr(gate_of(name="token 1", per_second=0.5, at_once=4)) == shown
