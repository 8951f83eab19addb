"""The file of a gate that processes share: where it is, and what happens if it cannot be used."""

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio
import clients
import httpx
import pytest
from clients import BASE_URL, SYNC, Service, a_page, read, step, sync_and_async, wait, write
from gate_tests import CALL, reserved
from waiting import locked_database, stop_clock

from adclient import CallTimeout, LedgerError, RateLimited
from adclient.gate import SharedGate
from adclient.ledger import LedgerWarning, SQLiteLedger


@pytest.fixture
def locked(gate, gate_file):
    """A block in which somebody else writes."""
    read(SYNC.client(BASE_URL, transport=Service(a_page()).transport, gate=gate), account_id="b")
    return partial(locked_database, gate_file, "BEGIN EXCLUSIVE")


def test_file_lies_beside_a_ledger_that_is_not_created(gate, gate_file, where, tmp_path) -> None:
    with SYNC.client(BASE_URL, transport=Service(a_page()).transport, gate=gate) as client:
        read(client)
        assert repr(client).endswith(f", gate <SharedGate {gate_file}, 1000 per second>>")
    assert gate_file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [gate_file]
    (tmp_path / "link.db").symlink_to(where)
    assert repr(SharedGate(SQLiteLedger(tmp_path / "link.db"))) == f"<SharedGate {gate_file}>"


def test_file_that_is_deleted_during_a_use_is_made_again(where, gate_file) -> None:
    deletions = [gate_file.unlink, gate_file.unlink]

    def now() -> datetime:
        if deletions:
            deletions.pop()()
        return datetime.now(UTC)

    gate = SharedGate(SQLiteLedger(where, now=now), per_second=1000)
    with pytest.raises(LedgerError, match="read-only"):  # deleted twice
        reserved(gate)
    deletions.append(gate_file.unlink)
    assert reserved(gate) <= 0


def test_file_that_is_replaced_while_it_is_opened_is_opened_again(where, gate_file) -> None:
    gate, other = SharedGate(SQLiteLedger(where)), SharedGate(SQLiteLedger(where))
    connect = gate._database._connect

    def late():
        connection = connect()
        gate_file.unlink()
        other.pause(CALL, "key", 60)
        return connection

    gate._database._connect = late
    assert gate.ask(CALL, "key", 90) is None
    gate._database._connect = connect
    assert gate.ask(CALL, "key", 90) > 0


@sync_and_async
async def test_accounts_are_read_with_one_connection_unless_the_file_is_deleted(
    client_kind, gate, gate_file, monkeypatch
) -> None:
    connect, opened = gate._database._connect, []
    monkeypatch.setattr(gate._database, "_connect", lambda: opened.append(connect()) or opened[-1])
    async with client_kind.open(
        transport=Service(*[a_page() for _ in "abcd"]).transport, gate=gate
    ) as client:
        accounts = client.over_accounts(client.alpha.explain_objectives, [*"abcd"], at_once=1)
        await step(accounts)
        await step(accounts)
        gate_file.unlink()
        await clients.everything(accounts)
    assert len(opened) == 2


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
        (Path.mkdir, "this user cannot open it"),
        (lambda path: path.write_text("x"), "it is not an SQLite database"),
        (lambda path: path.write_text("x" * 999), "it is not an SQLite database"),
    ],
)
@sync_and_async
async def test_call_is_not_sent_if_the_gate_cannot_be_asked(
    client_kind, gate, gate_file, damage, problem
) -> None:
    damage(gate_file)
    before = gate_file.read_bytes() if gate_file.is_file() else None
    service = Service()
    text = (
        f"alpha.explain_objectives: the shared gate in {gate_file} cannot be asked, so the request "
    )
    async with client_kind.open(transport=service.transport, gate=gate) as client:
        with pytest.raises(LedgerError, match=f"^{text}was not sent: .*{problem}") as refused:
            await wait(read(client))
    assert refused.value.operation == "alpha.explain_objectives"
    assert service.requests == []
    assert before is None or gate_file.read_bytes() == before


@pytest.mark.parametrize("timeout", [0.2, 1e-6])
@sync_and_async
async def test_locked_file_takes_no_longer_than_the_call_also_in_frozen_time(
    client_kind, gate, locked, timeout, monkeypatch
) -> None:
    stop_clock(monkeypatch)
    service = Service()
    async with client_kind.open(transport=service.transport, gate=gate, timeout=timeout) as client:
        # An async call can end before its thread does.
        with locked(), pytest.raises(CallTimeout, match=r"in time: another user has|took the who"):
            await wait(read(client))
    assert service.requests == []


@clients.asyncio_and_trio
async def test_locked_ledger_does_not_stop_reads(client_kind, gate, where) -> None:
    ledger, staged = SQLiteLedger(where), []
    ledger.create()
    service = Service(a_page(), clients.a_draft())

    async def stage() -> None:
        staged.append(await write(client))

    options = {"transport": service.transport, "gate": gate, "ledger": ledger}
    with closing(sqlite3.connect(where, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        async with client_kind.open(**options) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(stage)
            await anyio.wait_all_tasks_blocked()
            await read(client)
            assert staged == []
            connection.execute("ROLLBACK")
    assert len(staged) == 1


@sync_and_async
async def test_pause_that_cannot_be_recorded_is_a_warning(client_kind, gate, gate_file) -> None:
    def answer(request):
        gate_file.unlink()
        gate_file.mkdir()
        return httpx.Response(429, headers={"Retry-After": "20"})

    transport = httpx.MockTransport(answer)
    async with client_kind.open(transport=transport, gate=gate, max_retries=0) as client:
        warned = pytest.warns(LedgerWarning, match="could not record a pause of 20 s")
        with warned, pytest.raises(RateLimited):
            await wait(read(client))


@clients.asyncio_and_trio
async def test_call_cancelled_before_it_asks_takes_no_turn(client_kind, where, locked) -> None:
    service = Service()
    gate = SharedGate(SQLiteLedger(where), per_second=0.1)
    options = {"transport": service.transport, "gate": gate, "max_concurrency": 3}
    async with client_kind.open(**options) as client:
        with locked(), anyio.move_on_after(1) as scope:
            async with anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(read, client)
                await anyio.wait_all_tasks_blocked()
                with pytest.raises(CallTimeout, match="no turn at the gate in time"):
                    await read(client.with_options(timeout=0.1))
        assert scope.cancelled_caught
        with pytest.raises(CallTimeout) as late:
            await read(client.with_options(timeout=1))
    assert late.value.retry_after < 10  # only the call that had begun to ask took a turn
    assert service.requests == []
