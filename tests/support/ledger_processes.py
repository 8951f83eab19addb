"""Processes that use one ledger or gate at the same time, or are killed while they write."""

import itertools
import json
import random
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from multiprocessing.connection import Connection

import anyio
import anyio.to_thread
import attrs
from processes import LONGEST_WAIT, at_once, received, started

from adclient import AdClient, AdClientError, AsyncAdClient
from adclient.gate import SharedGate
from adclient.ledger import Entry, open_ledger
from adclient.policy import Policy, rules
from adclient.testing import FakeAdService

# A race for daily caps: those of accounts and of all, and nothing twice.

OWN = {"a": Policy(drafts_per_day=3), "b": Policy(drafts_per_day=4)}
ACCOUNTS = Policy(drafts_per_day=9, no_repeat_within="1d", account=OWN)


def race(where: str, *, processes: int, threads: int, attempts: int) -> None:
    """Let each thread of each process make its attempts."""
    works = [(make_attempts, where, number, threads, attempts) for number in range(processes)]
    longest = LONGEST_WAIT + processes * threads * attempts / 10
    assert at_once(*works, longest=longest) == [[]] * processes


def check_race(ledger, *, attempts: int) -> None:
    """Check from the rows alone that each cap was reached, none exceeded, and nothing repeated."""
    drafts: dict[str, tuple[str, str]] = {}
    known: set[str] = set()
    most = Counter[str]()
    ledger.verify()
    columns = "event, entry_id, account_id, state, drafts_of_day, entry"
    sql = f"SELECT {columns} FROM adclient_ledger ORDER BY number"
    with ledger._transaction("read") as transaction:
        rows = transaction.connection.execute(sql).fetchall()
    for event, entry_id, account_id, state, drafts_of_day, text in rows:
        assert (event == "reserved") is (entry_id not in known)
        known.add(entry_id)
        drafts.pop(entry_id, None)
        if state not in ("refused", "not staged"):
            drafts[entry_id] = account_id, json.loads(text)["arguments"]["campaign_id"]
        assert len({*drafts.values()}) == len(drafts) == drafts_of_day
        most |= Counter([account for account, _ in drafts.values()] + ["all"] * len(drafts))
    assert (most["a"], most["b"], most["all"]) == (3, 4, 9)
    entries = ledger.entries()
    assert {None, "drafts_per_day"} <= {entry.rule for entry in entries}  # a repeat is chance
    assert sum(entry.refusals or 1 for entry in entries) == attempts


def attempt(ledger, name: str, chance: random.Random) -> None:
    account, campaign = chance.choice("aaabbbc"), chance.choice("0123456789")
    arguments = {"account_id": account, "campaign_id": campaign}
    operation = "beta.pause_campaign"
    entry = Entry(entry_id=name, operation=operation, account_id=account, arguments=arguments)
    entry = ledger.reserve(entry, partial(rules.refusal_of_usage, ACCOUNTS, entry))
    if entry.state == "under way":
        state = chance.choice(["staged", "unknown", "not staged", "not staged", "under way"])
        if state != "under way":
            ledger.end(attrs.evolve(entry, state=state))


def make_attempts(where: str, process: int, threads: int, attempts: int, done: Connection) -> None:
    """Make the attempts of one process, and send the errors."""
    ledger = open_ledger(where)

    def make(name: str) -> None:
        chance = random.Random(name)
        for number in range(attempts):
            attempt(ledger, f"{name}.{number}", chance)

    done.send(None)
    done.recv()
    with ThreadPoolExecutor(threads) as pool:
        making = [pool.submit(make, f"{process}.{number}") for number in range(threads)]
    done.send([repr(each.exception()) for each in making if each.exception()])


# Writers that are killed by `kill -9` at random instants, and what they must leave behind.

LONGEST_LIFE = 0.15  # seconds


def write_until_killed(url: str, where: str, kill: int, is_ready: Connection) -> None:
    """Stage drafts, each with a name that no other has; every second writer is ready after one."""
    with AdClient(url, ledger=open_ledger(where)) as client:
        for number in itertools.count():
            if number == kill % 2:
                is_ready.send(None)
            fields = {"name": f"writer {kill} {number}"}
            client.gamma.create_dco_ad(account_id="account_c3d8", fields=fields)


def kill_writers(where: str, kills: int, seed: int) -> None:
    """Kill writers one after the other, and compare the drafts at the server with the ledger."""
    from raw_server import RawServer, handling  # which a process, which imports this, does without

    chance, fake = random.Random(seed), FakeAdService(history=1_000_000)
    with RawServer(handling(fake.transport.handle_request)) as server:
        for kill in range(kills):
            with started(write_until_killed, server.url, where, kill) as (writer, is_ready):
                received(is_ready)
                time.sleep(chance.uniform(0, LONGEST_LIFE))
                writer.kill()
                writer.join()
                assert writer.exitcode == -signal.SIGKILL, "the writer ended by itself"
    # The server has stopped, so that no request is under way any more.
    at_server = {draft.draft_id: draft.diff.after["name"] for draft in fake.drafts}
    with closing(open_ledger(where)) as ledger:
        ledger.verify()
        entries, unknown = ledger.entries(), ledger.unknown()
    staged = {each.draft_id: each.arguments["fields"]["name"] for each in entries if each.draft_id}
    # With the reply they lost, or between that and its record.
    lost = at_server.items() - staged.items()
    names = {entry.arguments["fields"]["name"] for entry in unknown}
    assert len(at_server) >= kills // 2
    assert staged.items() <= at_server.items(), "the ledger has drafts that the server has not"
    assert {name for _, name in lost} <= names, "drafts at the server that the ledger does not have"
    assert len(set(at_server.values())) == len(at_server), "staged twice"
    assert len(unknown) <= kills, "more than one unknown entry for each kill"
    # Of a long run, the deadlines of the first entries are over.
    assert all(entry.state in ("staged", "under way", "unknown") for entry in entries)


# Readers that share a gate.


def read_all(url: str, where: str, **work) -> list[str]:
    """Let two processes with threads and two with tasks read, and return the names of errors."""
    reading = [(partial(read, **work), url, where, is_async) for is_async in (False, True) * 2]
    return [error for errors in at_once(*reading) for error in errors]


def read(url: str, where: str, is_async: bool, done: Connection, *, threads, calls, **rate) -> None:
    """Make calls in each thread or task, and send the names of the errors."""
    gate = SharedGate(open_ledger(where), **rate)
    client = (AsyncAdClient if is_async else AdClient)(url, gate=gate)
    explain = partial(client.alpha.explain_objectives, account_id="a")
    errors: list[str] = []

    async def repeat() -> None:
        for _ in range(calls):
            try:
                await (explain() if is_async else anyio.to_thread.run_sync(explain))
            except AdClientError as error:
                errors.append(type(error).__name__)

    async def read_at_once() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(threads):
                tasks.start_soon(repeat)

    done.send(None)
    done.recv()
    anyio.run(read_at_once)
    done.send(errors)
