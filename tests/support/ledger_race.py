"""Processes and threads that race for daily caps."""

import json
import random
from collections import Counter
from functools import partial
from multiprocessing.connection import Connection
from threading import Thread

import attrs
from processes import LONGEST_WAIT, at_once

from adclient.ledger import Entry, open_ledger
from adclient.policy import Policy, rules

# The caps of accounts and of all, and nothing twice.
OWN = {"a": Policy(drafts_per_day=3), "b": Policy(drafts_per_day=4)}
ACCOUNTS = Policy(drafts_per_day=9, no_repeat_within="1d", account=OWN)


def run(where: str, *, processes: int, threads: int, attempts: int) -> None:
    """Let each thread of each process make its attempts."""
    works = [(work, where, number, threads, attempts) for number in range(processes)]
    longest = LONGEST_WAIT + processes * threads * attempts / 10
    assert at_once(*works, longest=longest) == [[]] * processes


def check(ledger, *, attempts: int) -> None:
    """Check from the rows alone that each cap was reached, none exceeded, and nothing repeated."""
    drafts: dict[str, tuple[str, str]] = {}
    known: set[str] = set()
    most = Counter[str]()
    for row in rows_of(ledger):
        assert (row.event == "reserved") is (row.entry_id not in known)
        known.add(row.entry_id)
        drafts.pop(row.entry_id, None)
        if row.state not in ("refused", "not staged"):
            drafts[row.entry_id] = row.account_id, json.loads(row.entry)["arguments"]["campaign_id"]
        assert len({*drafts.values()}) == len(drafts) == row.drafts_of_day
        most |= Counter([account for account, _ in drafts.values()] + ["all"] * len(drafts))
    assert (most["a"], most["b"], most["all"]) == (3, 4, 9)
    entries = ledger.entries()
    assert {None, "drafts_per_day"} <= {entry.rule for entry in entries}  # a repeat is chance
    assert sum(entry.refusals or 1 for entry in entries) == attempts


def rows_of(ledger) -> list:
    ledger.verify()
    with ledger._transaction("read") as transaction:
        return [row for row, _ in transaction.rows()]


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


def work(where: str, process: int, threads: int, attempts: int, done: Connection) -> None:
    """Make the attempts of one process, and send the errors."""
    ledger, failed = open_ledger(where), []

    def make_attempts(name: str) -> None:
        chance = random.Random(name)
        try:
            for number in range(attempts):
                attempt(ledger, f"{name}.{number}", chance)
        except BaseException as error:
            failed.append(repr(error))

    workers = [Thread(target=make_attempts, args=(f"{process}.{n}",)) for n in range(threads)]
    done.send(None)
    done.recv()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    done.send(failed)
