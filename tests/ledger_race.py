"""Processes and threads that race for one daily cap; as a script, it is one of the processes."""

import random
import subprocess
import sys
from threading import Thread

import attrs

from adclient import Entry
from adclient.ledger import open_ledger
from adclient.policy import Refusal, Usage


def run(where: str, *, cap: int, processes: int, threads: int, attempts: int) -> None:
    """Let each thread of each process make its attempts."""
    sizes = [str(cap), str(threads), str(attempts)]
    running = [
        subprocess.Popen([sys.executable, __file__, where, str(number), *sizes])
        for number in range(processes)
    ]
    assert [process.wait() for process in running] == [0] * processes


def check(ledger, *, cap: int, attempts: int) -> None:
    """Check from the rows alone that the cap was reached, and never exceeded."""
    ledger.verify()
    drafts: set[str] = set()
    entries: set[str] = set()
    most = 0
    with ledger._transaction("read") as transaction:
        rows = [row for row, _ in transaction.rows()]
    for row in rows:
        assert (row.event == "reserved") is (row.entry_id not in entries)
        entries.add(row.entry_id)
        is_draft = row.state not in ("refused", "not staged")
        (drafts.add if is_draft else drafts.discard)(row.entry_id)
        most = max(most, len(drafts))
        assert row.drafts_of_day == len(drafts)
    assert (most, len(entries)) == (cap, attempts)


def attempt(ledger, name: str, cap: int, chance: random.Random) -> None:
    def check(usage: Usage) -> Refusal | None:
        return Refusal("drafts_per_day", "enough") if usage.drafts_today >= cap else None

    entry = Entry(entry_id=name, operation="beta.pause_campaign", account_id="a")
    entry = ledger.reserve(entry, check)
    if entry.state == "admitted":
        state = chance.choice(["staged", "unknown", "not staged", "not staged", "admitted"])
        if state != "admitted":
            ledger.end(attrs.evolve(entry, state=state))


def main(where: str, process: str, cap: str, threads: str, attempts: str) -> None:
    ledger = open_ledger(where)
    failed: list[BaseException] = []

    def work(name: str) -> None:
        chance = random.Random(name)
        try:
            for number in range(int(attempts)):
                attempt(ledger, f"{name}.{number}", int(cap), chance)
        except BaseException as error:
            failed.append(error)
            raise

    workers = [Thread(target=work, args=(f"{process}.{n}",)) for n in range(int(threads))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    sys.exit(len(failed))


if __name__ == "__main__":
    main(*sys.argv[1:])
