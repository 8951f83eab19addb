"""Writers that are killed by `kill -9` at random instants, and what they must leave behind."""

import itertools
import random
import signal
import time
from contextlib import closing
from multiprocessing import get_context
from multiprocessing.connection import Connection

from adclient import AdClient
from adclient.ledger import open_ledger
from adclient.testing import FakeAdService
from adclient.testing.server import serving

LONGEST_LIFE = 0.15  # seconds


# What a writer needs, so that it starts in milliseconds.
PRELOADED = ["adclient.testing.server", "adclient.ledger.sqlite", "adclient._sync.client"]
PRELOADED += ["adclient._http.pool", "adclient._http.connection", "adclient._limits.guard"]


def write_until_killed(url: str, where: str, name: str, ready: Connection) -> None:
    """Stage drafts, each with a name that no other has."""
    with AdClient(url, ledger=open_ledger(where)) as client:
        ready.send(None)
        for number in itertools.count():
            client.gamma.create_dco_ad(
                account_id="account_c3d8", fields={"name": f"{name} {number}"}
            )


def kill_writers(where: str, kills: int, seed: int) -> dict[str, int]:
    """Kill writers one after the other, and compare the drafts at the server with the ledger."""
    chance, context = random.Random(seed), get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    fake = FakeAdService(history=1_000_000)
    with serving(fake) as url:
        for kill in range(kills):
            is_ready, ready = context.Pipe(duplex=False)
            arguments = (url, where, f"writer {kill}", ready)
            writer = context.Process(target=write_until_killed, args=arguments)
            writer.start()
            is_ready.recv()
            time.sleep(chance.uniform(0, LONGEST_LIFE))
            writer.kill()
            writer.join()
            assert writer.exitcode == -signal.SIGKILL, "the writer ended by itself"
            writer.close()
            is_ready.close()
            ready.close()
    # The server has stopped, so that no request is under way any more.
    at_server = {draft.draft_id: draft.diff.after["name"] for draft in fake.drafts}
    with closing(open_ledger(where)) as ledger:
        ledger.verify()
        entries, unknown = ledger.entries(), ledger.unknown()
    staged = {
        entry.draft_id: entry.arguments["fields"]["name"] for entry in entries if entry.draft_id
    }
    # With the reply they lost, or between that and its record.
    lost = at_server.items() - staged.items()
    names = {entry.arguments["fields"]["name"] for entry in unknown}
    assert staged.items() <= at_server.items(), (
        "the ledger has drafts that the server does not have"
    )
    assert {name for _, name in lost} <= names, "drafts at the server that the ledger does not have"
    assert len(set(at_server.values())) == len(at_server), "staged twice"
    assert len(unknown) <= kills, "more than one unknown entry for each kill"
    assert all(entry.state in ("staged", "admitted") for entry in entries)
    return {
        "kills": kills,
        "drafts at the server": len(at_server),
        "unknown in the ledger": len(unknown),
        "of those at the server": len(lost),
    }
