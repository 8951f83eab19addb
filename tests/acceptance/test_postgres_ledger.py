"""The ledger and the gate in PostgreSQL, on a server that only these tests use."""

import doctest
import os
import socket
import time
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta

import httpx
import psycopg
import pytest
from clients import sync_and_async, wait
from gate_tests import *  # noqa: F403
from ledger_processes import check_race, race
from ledger_tests import *  # noqa: F403
from ledger_tests import CAMPAIGN, Clock, admit, an_entry, stage, states
from postgres_server import DISCONNECT, PASSWORD, silenced

import adclient.ledger.postgres
from adclient import AdClient, CallTimeout, LedgerError, RateLimited
from adclient.gate import SharedGate
from adclient.ledger import LedgerWarning, PostgresLedger, open_ledger
from adclient.testing import FakeAdService, Fault


@pytest.fixture
def tamper(execute):
    """Execute SQL without the triggers."""

    def tamper(sql: str) -> None:
        execute("ALTER TABLE adclient_ledger DISABLE TRIGGER USER", sql)

    return tamper


@pytest.fixture
def wipe(execute):
    """Start again without a ledger."""
    return lambda: execute("DROP TABLE IF EXISTS adclient_ledger")


@pytest.fixture
def locked(where, ledger):
    """A block in which somebody else writes."""
    begin = adclient.ledger.postgres._BEGIN_WRITING.format(milliseconds=5000)
    admit(ledger, "of the past")

    @contextmanager
    def locked():
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute(begin)
            yield

    return locked


def assert_has_no_secret(error: Exception, *others: object) -> None:
    report = "".join(traceback.format_exception(error))
    assert PASSWORD not in f"{report} {vars(error)} {error!r} {others!r}"
    assert error.__context__ is None
    assert "\n" not in str(error)


def test_repr_has_the_place_and_no_password(where) -> None:
    shown = f"<PostgresLedger postgresql://{where.partition('@')[2]}>"
    assert repr(open_ledger(where)) == shown
    client = AdClient("https://ads.example.com", ledger=open_ledger(where))
    assert repr(client).endswith(f", ledger {shown}>")
    assert PASSWORD not in repr(SharedGate(open_ledger(where)))


def test_time_is_that_of_the_server_whatever_that_of_the_machine_is(where, monkeypatch) -> None:
    right, wrong_clock = datetime.now(UTC), Clock()
    for module in ("sql", "postgres"):
        monkeypatch.setattr(f"adclient.ledger.{module}.machine_time", wrong_clock)
    entry = admit(open_ledger(where))
    assert abs(entry.at - right) < timedelta(minutes=1)
    assert states(open_ledger(where)) == ["under way"]


def test_rows_cannot_be_truncated(ledger, execute) -> None:
    stage(ledger)
    with pytest.raises(psycopg.errors.RaiseException, match="a ledger is append-only"):
        execute("TRUNCATE adclient_ledger")
    assert states(ledger) == ["staged"]


@pytest.mark.parametrize("rest", ["@127.0.0.1:port/ads?what", "@x@127.0.0.1/ads"])
def test_invalid_url_is_refused_without_its_password(rest) -> None:
    with pytest.raises(LedgerError, match="the URL of a ledger must be like") as refused:
        open_ledger(f"postgresql://ads:{PASSWORD}{rest}")
    assert_has_no_secret(refused.value)


def test_server_that_refuses_is_an_error(assert_refuses_a_write, server) -> None:
    wrong = server.replace(PASSWORD, f"{PASSWORD}-wrong")
    for url, problem in [
        (f"postgresql://ads:{PASSWORD}@127.0.0.1:1/ads", "connection refused|Connection refused"),
        (f"{server}/nowhere", 'database "nowhere" does not exist'),
        (f"{wrong}/postgres", "password authentication failed"),
    ]:
        assert_has_no_secret(assert_refuses_a_write(open_ledger(url), problem), open_ledger(url))


def test_network_that_drops_packets_does_not_hang_the_ledger(ledger) -> None:
    """A test cannot drop them; these are the settings with which Linux notices it."""
    admit(ledger)
    with ledger._transaction("read") as transaction:
        fileno = os.dup(transaction.connection.fileno())
    with closing(socket.socket(fileno=fileno)) as connected:
        options = [socket.TCP_USER_TIMEOUT, socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL]
        found = [connected.getsockopt(socket.IPPROTO_TCP, option) for option in options]
    assert found == [10_000, 5, 1]


@pytest.mark.parametrize(
    ("word", "times", "left"),
    [
        (b"", 1, []),
        (b"COMMIT", 1, []),  # each transaction begins with `READ COMMITTED`
        (b"COMMIT", 2, ["under way"]),
        (b"COMMIT", 3, ["under way"]),
        (b"COMMIT", 4, ["staged"]),
    ],
    ids=["connecting", "reserving", "reserved", "ending", "ended"],
)
@sync_and_async
async def test_silent_server_takes_no_longer_than_the_call_and_loses_no_draft(
    client_kind, where, ledger, clock, monkeypatch, word, times, left
) -> None:
    monkeypatch.setattr("adclient.policy.guard.LONGEST_END", 1)
    clock.now = datetime.now(UTC)
    ledger.create()
    fake, is_sent, began = FakeAdService(), times > 2, time.monotonic()
    options = {"transport": httpx.MockTransport(fake.transport.handle_request), "timeout": 1}
    # An async call can end before its thread does.
    warns = pytest.warns(LedgerWarning, match=r"could not record draft draft_.* in time")
    ends = warns if is_sent else pytest.raises((LedgerError, CallTimeout))
    with silenced(where, word, times) as url:
        options["ledger"] = open_ledger(url)
        async with client_kind.open("https://ads.example.com", **options) as client:
            with ends:
                draft = await wait(client.beta.pause_campaign(**CAMPAIGN))
                assert draft.draft_id == fake.drafts[0].draft_id
    assert time.monotonic() - began < 5
    assert (len(fake.requests), states(ledger)) == (is_sent, left)


def test_table_of_something_else_is_refused(assert_refuses_a_write, ledger, execute) -> None:
    admit(ledger)
    for comment, problem in (
        ("NULL", "its table has the comment None"),
        ("'adclient ledger, format 3'", "format 3' instead of 'adclient ledger, format 2'"),
    ):
        execute(f"COMMENT ON TABLE adclient_ledger IS {comment}")
        assert_refuses_a_write(ledger, problem)


def in_a_database_with(server, encoding: str):
    """The ledger in a new database of some encoding."""
    name = f"in_{encoding.lower()}"
    options = f"ENCODING '{encoding}' TEMPLATE template0 LOCALE 'C'"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} {options}")
    return open_ledger(f"{server}/{name}")


def test_characters_are_kept_or_refused_before_anything_is_staged(
    assert_refuses_a_write, server
) -> None:
    problem = "its database has the encoding LATIN1 instead of UTF8"
    assert_refuses_a_write(in_a_database_with(server, "LATIN1"), problem)
    ledger = in_a_database_with(server, "SQL_ASCII")
    fields = {"name": "Frühling ☀"}
    with FakeAdService().client(ledger=ledger) as client:
        client.alpha.update_creative(account_id="account_a91f", fields=fields)
    [entry] = ledger.entries()
    assert (entry.state, entry.arguments["fields"]) == ("staged", fields)
    ledger.verify()


def test_connection_that_is_lost_between_two_uses_is_replaced(ledger, execute) -> None:
    with FakeAdService().client(ledger=ledger) as client:
        client.beta.pause_campaign(**CAMPAIGN)
        execute(DISCONNECT)
        client.beta.pause_campaign(**CAMPAIGN)
    assert states(ledger) == ["staged"] * 2


def test_role_that_can_only_read_reads(assert_refuses_a_write, ledger, where, execute) -> None:
    stage(ledger)
    execute(
        "DROP ROLE IF EXISTS auditor",
        f"CREATE ROLE auditor LOGIN PASSWORD '{PASSWORD}'",
        "GRANT SELECT ON adclient_ledger TO auditor",
    )
    auditors = open_ledger(where.replace("//ads:", "//auditor:"))
    assert (auditors.entries(), auditors.unknown()) == (ledger.entries(), [])
    assert auditors.verify() == ledger.verify()
    assert_refuses_a_write(auditors, "permission denied for table adclient_ledger")


def test_connection_that_is_lost_in_a_transaction_admits_nothing(ledger, execute) -> None:
    stage(ledger)
    with pytest.raises(LedgerError, match="terminating connection") as refused:
        ledger.reserve(an_entry(2), lambda usage: execute(DISCONNECT) and None)
    assert_has_no_secret(refused.value)
    assert states(ledger) == ["staged"]


def test_default_of_the_database_does_not_make_usage_stale(ledger, where, execute) -> None:
    """A snapshot from before the wait for the lock would not see what was written meanwhile."""
    name = where.rpartition("/")[2]
    execute(f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
    race(where, processes=2, threads=2, attempts=30)
    check_race(ledger, attempts=120)


def test_docstring_example_runs() -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(PostgresLedger, globs={})
    assert doctest.DocTestRunner().run(example).failed == 0


# The gate.


@pytest.fixture
def gate(where) -> SharedGate:
    return SharedGate(open_ledger(where), per_second=1000)


def read(client: AdClient) -> None:
    client.beta.list_campaigns(account_id="account_b204")


def test_gate_on_a_server_that_is_gone_is_an_error_without_the_password(where) -> None:
    fake, gate = (
        FakeAdService(),
        SharedGate(open_ledger(where.replace(where.rpartition(":")[2], "1/ads"))),
    )
    with pytest.raises(LedgerError, match=r"cannot be asked.*[Cc]onnection refused") as refused:
        read(fake.client(gate=gate))
    assert PASSWORD not in f"{refused.value} {vars(refused.value)}"
    assert (refused.value.__cause__, len(fake.requests)) == (None, 0)


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
