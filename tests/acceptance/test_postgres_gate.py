"""A gate that processes share, in PostgreSQL."""

import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from gate_tests import *  # noqa: F403
from postgres_server import PASSWORD

import adclient
from adclient import (
    AdClient,
    CallTimeout,
    LedgerError,
    LedgerWarning,
    RateLimited,
    SharedGate,
)
from adclient.ledger import open_ledger
from adclient.testing import FakeAdService, Fault

DISCONNECT = """
SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND datname = current_database()
"""


@pytest.fixture
def execute(where):
    """Execute SQL, as anybody with access can."""

    def execute(sql: str) -> list[tuple]:
        with psycopg.connect(where, autocommit=True) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    return execute


@pytest.fixture
def gate(where) -> SharedGate:
    return SharedGate(open_ledger(where), per_second=1000)


def read(client: AdClient) -> None:
    client.beta.list_campaigns(account_id="account_b204")


def test_gate_has_a_table_of_its_own_that_is_not_logged(gate, execute) -> None:
    read(FakeAdService().client(gate=gate))
    tables = execute("SELECT relname, relpersistence FROM pg_class WHERE relname LIKE 'adclient%'")
    assert sorted(tables) == [("adclient_gate", "u"), ("adclient_gate_pkey", "u")]


@pytest.mark.parametrize("loss", [DISCONNECT, "DROP TABLE adclient_gate"])
def test_lost_connection_or_table_is_replaced(gate, execute, loss) -> None:
    client = FakeAdService().client(gate=gate)
    read(client)
    execute(loss)
    read(client)


@pytest.mark.parametrize("rate", [None, 1000])
def test_locked_table_takes_no_longer_than_the_call(where, rate) -> None:
    client = FakeAdService().client(
        gate=SharedGate(open_ledger(where), per_second=rate), timeout=0.5
    )
    read(client)
    with psycopg.connect(where) as connection:
        connection.execute("LOCK TABLE adclient_gate")
        with pytest.raises(CallTimeout, match="cannot be asked in time: another user has locked"):
            read(client)
        with pytest.raises(CallTimeout):
            read(client.with_options(timeout=1e-6))
    read(client)


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


def test_server_that_is_gone_is_an_error_without_the_password(where) -> None:
    url = where.replace(where.rpartition(":")[2], "1/ads")
    fake = FakeAdService()
    gate = SharedGate(open_ledger(url))
    assert PASSWORD not in repr(gate)
    with pytest.raises(LedgerError, match=r"cannot be asked.*[Cc]onnection refused") as refused:
        read(fake.client(gate=gate))
    assert PASSWORD not in f"{refused.value} {vars(refused.value)}"
    assert refused.value.__cause__ is None
    assert len(fake.requests) == 0


def test_pause_that_cannot_be_recorded_is_a_warning(gate, execute) -> None:
    fake = FakeAdService()
    fake.faults.add(Fault.status(429, headers={"retry-after": "60"}))
    break_it = "ALTER TABLE adclient_gate RENAME COLUMN turn_at TO other"
    hooks = adclient.Hooks(on_request=lambda event: execute(break_it))
    with (
        pytest.warns(LedgerWarning, match="could not record a pause of 60 s: .*turn_at"),
        pytest.raises(RateLimited),
    ):
        read(fake.client(gate=gate, hooks=hooks))
