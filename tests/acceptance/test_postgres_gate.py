"""A gate that processes share, in PostgreSQL."""

import os
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest
from clients import sync_and_async, wait
from gate_tests import *  # noqa: F403
from postgres_server import DISCONNECT, PASSWORD, silenced

from adclient import AdClient, CallTimeout, RateLimited
from adclient.gate import SharedGate
from adclient.ledger import open_ledger
from adclient.testing import FakeAdService, Fault


@pytest.fixture
def gate(where) -> SharedGate:
    return SharedGate(open_ledger(where), per_second=1000)


def read(client: AdClient) -> None:
    client.beta.list_campaigns(account_id="account_b204")


@pytest.mark.parametrize("loss", [DISCONNECT, "DROP TABLE adclient_gate"])
def test_lost_connection_or_table_is_replaced(gate, execute, loss) -> None:
    client = FakeAdService().client(gate=gate)
    read(client)
    execute(loss)
    read(client)


@pytest.mark.parametrize("rate", [None, 1000])
def test_locked_table_takes_no_longer_than_the_call(where, rate) -> None:
    client = FakeAdService().client(gate=SharedGate(open_ledger(where), per_second=rate), timeout=1)
    read(client)
    with psycopg.connect(where) as connection:
        connection.execute("LOCK TABLE adclient_gate")
        with pytest.raises(CallTimeout, match="cannot be asked in time: another user has locked"):
            read(client)
        with pytest.raises(CallTimeout):
            read(client.with_options(timeout=1e-6))
    read(client)


def test_child_of_a_fork_leaves_connection_and_lock_of_its_parent_alone(gate, monkeypatch) -> None:
    client, database = FakeAdService().client(gate=gate, timeout=5), gate._database
    read(client)
    [(_, parents)] = database._connections._idle
    database._lock.acquire()  # as another thread of the parent might have
    monkeypatch.setattr(os, "getpid", lambda: -1)  # as in a child that is forked now
    read(client)
    [(_, childs)] = database._connections._idle
    assert childs is not parents
    monkeypatch.undo()
    read(client)
    assert not parents.closed
    for connection in (parents, childs):
        connection.close()


def test_thread_waits_for_the_connection_no_longer_than_its_call(gate, where) -> None:
    client = FakeAdService().client(gate=gate, timeout=2)
    read(client)
    with psycopg.connect(where) as connection, ThreadPoolExecutor() as threads:
        connection.execute("LOCK TABLE adclient_gate")
        other = threads.submit(read, client)
        time.sleep(0.2)
        with pytest.raises(CallTimeout, match="in time: other threads use its connection"):
            read(client.with_options(timeout=0.2))
        assert isinstance(other.exception(), CallTimeout)


@pytest.mark.parametrize("word", [b"", b"BEGIN", b"INSERT"])
@sync_and_async
async def test_silent_server_takes_no_longer_than_the_call(client_kind, gate, where, word) -> None:
    read(FakeAdService().client(gate=gate))  # which makes the table
    answer = httpx.Response(429, headers={"Retry-After": "60"})
    transport = httpx.MockTransport(lambda _: answer)
    with silenced(where, word, 1) as url:
        silent, began = SharedGate(open_ledger(url)), time.monotonic()
        async with client_kind.open(transport=transport, gate=silent, timeout=1) as client:
            # The pause that is not recorded is a warning.
            problem = pytest.raises(CallTimeout if word != b"INSERT" else RateLimited)
            with warnings.catch_warnings(action="ignore"), problem:
                await wait(client.beta.list_campaigns(account_id="account_b204"))
            assert time.monotonic() - began < 5


def test_clock_of_the_server_counts(gate, execute) -> None:
    fake = FakeAdService()
    fake.faults.add(Fault.status(429, headers={"retry-after": "60"}))
    client = fake.client(gate=gate, timeout=5)
    with pytest.raises(RateLimited):
        read(client)
    with pytest.raises(CallTimeout) as late:
        read(client)
    assert 55 < late.value.retry_after < 61
    execute("UPDATE adclient_gate SET paused_until = paused_until - 60")
    read(client)


def test_role_without_the_right_to_create_tables_can_use_them(gate, where, execute) -> None:
    read(FakeAdService().client(gate=gate))
    name = where.rpartition("/")[2]
    execute(f"CREATE ROLE {name}_user LOGIN PASSWORD '{PASSWORD}'")
    execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {name}_user")
    other = where.replace("//ads:", f"//{name}_user:")
    read(FakeAdService().client(gate=SharedGate(open_ledger(other), per_second=1000)))
