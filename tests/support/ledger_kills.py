"""Writers that are killed by `kill -9` at random instants, and what they must leave behind."""

import itertools
import random
import signal
import time
from contextlib import closing
from multiprocessing.connection import Connection

from processes import received, started

from adclient import AdClient
from adclient.ledger import open_ledger
from adclient.testing import FakeAdService

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
    from raw_server import RawServer, handling  # which a writer, who imports this, does without

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
