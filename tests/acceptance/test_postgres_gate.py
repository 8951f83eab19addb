"""A gate that processes share, in PostgreSQL."""

from contextlib import closing

import psycopg
import pytest
from gate_tests import *  # noqa: F403
from postgres_server import PASSWORD

import adclient
from adclient import AdClient, LedgerError, LedgerWarning, RateLimited, SharedGate
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
def gate(where):
    with closing(SharedGate(open_ledger(where), per_second=1000, at_once=2)) as gate:
        yield gate


def read(client: AdClient) -> None:
    client.beta.list_campaigns(account_id="account_b204")


def test_gate_has_two_tables_of_its_own_that_are_not_logged(gate, execute) -> None:
    read(FakeAdService().client(gate=gate))
    tables = execute("SELECT relname, relpersistence FROM pg_class WHERE relname LIKE 'adclient%'")
    assert {name: kind for name, kind in tables if not name.endswith("pkey")} == {
        "adclient_gate": "u",
        "adclient_gate_call": "u",
    }


def test_lost_connection_is_replaced_before_and_after_a_request(gate, execute) -> None:
    client = FakeAdService().client(gate=gate)
    read(client)
    assert execute(DISCONNECT) == [(1,)]
    read(client)
    disconnect = adclient.Hooks(on_request=lambda event: execute(DISCONNECT))
    read(client.with_options(hooks=disconnect))
    assert execute("SELECT count(*) FROM adclient_gate_call") == [(0,)]


@pytest.mark.parametrize("caps", [{}, {"at_once": 1}])
def test_locked_table_takes_no_longer_than_the_call(where, caps) -> None:
    with closing(SharedGate(open_ledger(where), **caps)) as gate:
        client = FakeAdService().client(gate=gate, timeout=0.5)
        read(client)
        with psycopg.connect(where) as connection:
            connection.execute("LOCK TABLE adclient_gate")
            with pytest.raises(LedgerError, match="another user has locked it"):
                read(client)
        read(client)


def test_role_without_the_right_to_create_tables_can_use_them(gate, where, execute) -> None:
    read(FakeAdService().client(gate=gate))
    name = where.rpartition("/")[2]
    execute(f"CREATE ROLE {name}_user LOGIN PASSWORD '{PASSWORD}'")
    execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {name}_user")
    other = where.replace("//ads:", f"//{name}_user:")
    with closing(SharedGate(open_ledger(other), at_once=1)) as gate:
        read(FakeAdService().client(gate=gate))


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


def test_response_that_cannot_be_recorded_is_returned_with_a_warning(gate, execute) -> None:
    fake = FakeAdService()
    fake.faults.add(Fault.status(429, headers={"retry-after": "60"}))
    drop = adclient.Hooks(on_request=lambda event: execute("DROP TABLE adclient_gate"))
    with (
        pytest.warns(LedgerWarning, match="could not record a pause of 60 s"),
        pytest.raises(RateLimited),
    ):
        read(fake.client(gate=gate, hooks=drop))
