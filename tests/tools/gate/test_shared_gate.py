"""A gate that processes share, in a file; and what it does in one process."""

import os
import sqlite3
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
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
    Unauthenticated,
)
from adclient._core.call import validated
from adclient._core.operations import OPERATIONS
from adclient.options import Options
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
def gate(where) -> SharedGate:
    """A gate on the clock of the machine."""
    return SharedGate(SQLiteLedger(where), per_second=1000)


def read(client, account_id=ACCOUNT):
    return wait(client.beta.list_campaigns(account_id=account_id))


def limit(fake, *seconds: int) -> None:
    for number in seconds:
        fake.faults.add(Fault.status(429, headers={"retry-after": f"{number}"}))


def of_fake(client_kind, fake, gate, **options):
    return client_kind.open(fake.base_url, transport=fake.transport, gate=gate, **options)


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


@pytest.mark.parametrize(
    "base_url", ["https://ADS.example.com/api/", "HTTPS://ads.example.com:443/api"]
)
def test_spellings_of_an_address_share_a_pause(gate_of, base_url) -> None:
    answer = httpx.Response(429, headers={"Retry-After": "60"})
    service = Service(answer)
    for address in ("https://ads.example.com/api", base_url):
        client = AdClient(address, transport=service.transport, gate=gate_of(), max_retries=0)
        with pytest.raises((RateLimited, CallTimeout)):
            client.beta.list_campaigns(account_id=ACCOUNT)
    assert len(service.requests) == 1


@pytest.mark.own
@sync_asyncio_trio
async def test_429_without_a_time_pauses_nothing(client_kind, fake, gate_of) -> None:
    fake.faults.add(Fault.status(429))
    async with of_fake(client_kind, fake, gate_of(), max_retries=0) as client:
        with pytest.raises(RateLimited):
            await read(client)
        await read(client)
    assert fake.clock.sleeps == ()


# Requests per second.


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


def test_rate_lets_a_tenth_of_a_second_through_at_once(fake, gate_of) -> None:
    client = fake.client(gate=gate_of(per_second=50))
    for _ in range(8):
        client.beta.list_campaigns(account_id=ACCOUNT)
    assert fake.clock.sleeps == pytest.approx((0.02, 0.02))


@pytest.mark.own
@sync_asyncio_trio
async def test_calls_of_scope_call_have_one_cap_and_no_pause(client_kind, fake, gate_of) -> None:
    options = {"conventions": Conventions(rate_limit_scope="call"), "max_retries": 0}
    limit(fake, 60)
    async with of_fake(client_kind, fake, gate_of(per_second=1), **options) as client:
        with pytest.raises(RateLimited):
            await read(client)
        await read(client, OTHER)
    assert fake.clock.sleeps == pytest.approx((0.9,))


@pytest.fixture
def ticket_of():
    """The ticket of a call, for which a test decides when it asks."""
    operation = next(it for it in OPERATIONS if it.full_name == "alpha.explain_objectives")
    call = validated(operation, {"account_id": ACCOUNT})
    options = Options(base_url="https://ads.example.com")

    def ticket_of(gate):
        return gate.__ticket__(call, options)

    return ticket_of


def ask(ticket, longest: float = 30.0):
    ticket.asking(longest, 0.5)()
    return ticket.decision


def test_call_is_sent_at_its_turn_unless_it_is_late_or_paused(fake, gate_of, ticket_of) -> None:
    gate = gate_of(per_second=0.5)
    tickets = [ticket_of(gate) for _ in range(5)]
    waits = [ask(ticket) for ticket in tickets]
    assert waits == [None, *map(pytest.approx, (1.9, 3.9, 5.9, 7.9))]
    fake.clock.advance(3.9)
    assert ask(tickets[2]) is None
    assert ask(tickets[1]) == pytest.approx(6)  # its turn was at 1.9
    ticket_of(gate).pausing(4)()
    fake.clock.advance(2)
    assert ask(tickets[3]) == pytest.approx(2.2)
    fake.clock.advance(2.2)
    assert ask(tickets[3]) == pytest.approx(3.8)  # behind those that have a turn
    assert ask(tickets[4]) is None


def test_call_without_time_for_its_turn_takes_none(gate_of, ticket_of) -> None:
    gate = gate_of(per_second=0.1)
    assert ask(ticket_of(gate)) is None
    for _ in range(3):
        late = ask(ticket_of(gate), longest=9.8)
        assert late.retry_after == pytest.approx(9.9)
        assert late.reason == "0.1 requests per second: 9.9 s to wait"
    assert ask(ticket_of(gate)) == pytest.approx(9.9)


def test_turn_of_a_slower_gate_or_of_a_clock_that_was_set_back_blocks_nobody(
    fake, where, gate_of, ticket_of
) -> None:
    assert ask(ticket_of(gate_of(per_second=1e-9))) is None
    assert ask(ticket_of(gate_of(per_second=10))) is None
    ticket_of(gate_of()).pausing(60)()
    set_back = SQLiteLedger(where, now=lambda: fake.clock.now() - timedelta(hours=1))
    slow, paused = SharedGate(set_back, per_second=0.1), SharedGate(set_back)
    assert ask(ticket_of(paused)) is None
    assert ask(ticket_of(slow)) is None
    ticket_of(paused).pausing(1)()
    assert ask(ticket_of(paused)) == pytest.approx(1.05)


@asyncio_and_trio
async def test_call_cancelled_before_it_asks_takes_no_turn(client_kind, where, locked) -> None:
    service = Service()
    gate = SharedGate(SQLiteLedger(where), per_second=0.1)
    async with client_kind.open(transport=service.transport, gate=gate) as client:
        with locked(), anyio.move_on_after(0.2) as scope:
            async with anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(read, client)
        assert scope.cancelled_caught
        with pytest.raises(CallTimeout) as late:
            await read(client.with_options(timeout=1))
    assert late.value.retry_after < 10  # only the call that had begun to ask took a turn
    assert service.requests == []


@pytest.mark.own
@sync_asyncio_trio
async def test_call_whose_token_was_refused_takes_no_turn(client_kind, fake, gate_of) -> None:
    fake.faults.add(Fault.status(401))
    gate = gate_of(per_second=1)
    async with of_fake(client_kind, fake, gate, token=lambda: "same") as client:
        with pytest.raises(Unauthenticated):
            await read(client)
    assert fake.clock.sleeps == ()


# The file.


@pytest.fixture
def locked(gate, gate_file):
    """A block in which somebody else writes."""
    AdClient(BASE_URL, transport=Service(a_page()).transport, gate=gate).beta.list_campaigns(
        account_id=OTHER
    )

    @contextmanager
    def locked():
        with closing(sqlite3.connect(gate_file, isolation_level=None)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            yield

    return locked


def test_file_lies_beside_that_of_the_ledger_which_is_not_created(
    gate, gate_file, where, tmp_path
) -> None:
    with AdClient(BASE_URL, transport=Service(a_page()).transport, gate=gate) as client:
        client.beta.list_campaigns(account_id=ACCOUNT)
        assert repr(client).endswith(f", gate <SharedGate {gate_file}, 1000 per second>>")
    assert gate_file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [gate_file]
    (tmp_path / "link.db").symlink_to(where)
    assert repr(SharedGate(SQLiteLedger(tmp_path / "link.db"))) == f"<SharedGate {gate_file}>"


def test_file_can_be_deleted_between_two_uses(fake, gate_of, gate_file) -> None:
    limit(fake, 60)
    client = fake.client(gate=gate_of())
    with pytest.raises(RateLimited):
        client.beta.list_campaigns(account_id=ACCOUNT)
    gate_file.unlink()
    client.beta.list_campaigns(account_id=ACCOUNT)
    assert gate_file.exists()


def test_file_that_is_deleted_during_a_use_is_made_again(where, gate_file, ticket_of) -> None:
    deletions = [gate_file.unlink, gate_file.unlink]

    def now() -> datetime:
        if deletions:
            deletions.pop()()
        return datetime.now(UTC)

    gate = SharedGate(SQLiteLedger(where, now=now), per_second=1000)
    ticket = ticket_of(gate)
    with pytest.raises(LedgerError, match="read-only"):  # deleted twice
        ask(ticket)
    deletions.append(gate_file.unlink)
    assert ask(ticket) is None


def no_directory(path: Path) -> None:
    os.rmdir(path.parent)


def another_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other (name TEXT)")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (no_directory, "No such file or directory"),
        (another_database, "it is an SQLite database, but not that of a gate"),
        (lambda path: SQLiteLedger(path).create(), "it is an SQLite database, but not that of a"),
        (Path.mkdir, "it cannot be opened for writing"),
        (lambda path: path.write_text("x"), "it is not an SQLite database"),
        (lambda path: path.write_text("x" * 999), "it is not an SQLite database"),
    ],
)
@sync_asyncio_trio
async def test_call_is_not_sent_if_the_gate_cannot_be_asked(
    client_kind, gate, gate_file, damage, problem
) -> None:
    damage(gate_file)
    before = gate_file.read_bytes() if gate_file.is_file() else None
    service = Service()
    text = f"beta.list_campaigns: the shared gate in {gate_file} cannot be asked, so the request "
    async with client_kind.open(transport=service.transport, gate=gate) as client:
        with pytest.raises(LedgerError, match=f"^{text}was not sent: .*{problem}") as refused:
            await read(client)
    assert refused.value.operation == "beta.list_campaigns"
    assert service.requests == []
    assert before is None or gate_file.read_bytes() == before


@pytest.mark.parametrize("timeout", [0.5, 1e-6])
@sync_asyncio_trio
async def test_locked_file_takes_no_longer_than_the_call(
    client_kind, gate, locked, timeout
) -> None:
    service = Service()
    async with client_kind.open(transport=service.transport, gate=gate, timeout=timeout) as client:
        # An async call can end before its thread does.
        with locked(), pytest.raises(CallTimeout, match=r"in time: another user has|took the who"):
            await read(client)
    assert service.requests == []


@asyncio_and_trio
async def test_locked_ledger_does_not_stop_reads(client_kind, gate, where) -> None:
    ledger = SQLiteLedger(where)
    ledger.create()
    service = Service(a_page())

    async def write() -> None:
        with pytest.raises((LedgerError, CallTimeout)):
            await client.beta.pause_campaign(account_id=ACCOUNT, campaign_id="c")

    options = {"transport": service.transport, "gate": gate, "ledger": ledger, "timeout": 1}
    with closing(sqlite3.connect(where, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        async with client_kind.open(**options) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            await anyio.sleep(0.05)
            await read(client.with_options(timeout=0.3))  # before the write ends
    assert len(service.requests) == 1


def test_error_of_the_clock_is_raised(where) -> None:
    gate = SharedGate(SQLiteLedger(where, now=lambda: 1 / 0))
    client = AdClient(BASE_URL, transport=Service().transport, gate=gate)
    with pytest.raises(ZeroDivisionError):
        client.beta.list_campaigns(account_id=ACCOUNT)


@sync_asyncio_trio
async def test_pause_that_cannot_be_recorded_is_a_warning(client_kind, gate, gate_file) -> None:
    def answer(request):
        gate_file.unlink()
        gate_file.mkdir()
        return httpx.Response(429, headers={"Retry-After": "20"})

    transport = httpx.MockTransport(answer)
    async with client_kind.open(transport=transport, gate=gate, max_retries=0) as client:
        warned = pytest.warns(LedgerWarning, match="could not record a pause of 20 s")
        with warned, pytest.raises(RateLimited):
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


def test_repr_names_the_file_and_the_cap(gate_of, gate_file) -> None:
    assert repr(gate_of()) == f"<SharedGate {gate_file}>"
    shown = f"<SharedGate {gate_file}, name 'token 1', 0.5 per second>"
    assert repr(gate_of(name="token 1", per_second=0.5)) == shown
