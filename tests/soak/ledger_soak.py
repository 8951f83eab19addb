"""Kill writers with `kill -9` at random instants, then let processes race for daily caps.

    python tests/soak/ledger_soak.py --kills 1000 --attempts 100000

Writers stage drafts on the fake over HTTP, and record them in one ledger. Afterwards this holds:

- every draft at the server is in the ledger, as a draft or as unknown, and the other way around;
- no kill left more than one unknown entry, and the chain of rows is unbroken.

In the race, the threads of two processes make all attempts together: as the rows alone show, each
cap was reached and never exceeded. The exit status is not 0 if any of this is wrong.
"""

import argparse
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "support"))

import ledger_kills
import ledger_race

from adclient.ledger import open_ledger

PROCESSES, THREADS = 2, 5


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill writers, and race for daily caps.")
    add = parser.add_argument
    add("--kills", type=int, default=30)
    add("--attempts", type=int, default=2000, help="a multiple of ten")
    add("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        counts = ledger_kills.kill_writers(f"{folder}/kills.db", given.kills, given.seed)
        print(f"{time.perf_counter() - started:.0f} s:", counts, flush=True)
        started = time.perf_counter()
        race(f"{folder}/race.db", given.attempts)
        print(f"{time.perf_counter() - started:.0f} s: {given.attempts} attempts")


def race(where: str, attempts: int) -> None:
    each = attempts // (PROCESSES * THREADS)
    ledger_race.run(where, processes=PROCESSES, threads=THREADS, attempts=each)
    with closing(open_ledger(where)) as ledger:
        ledger_race.check(ledger, attempts=attempts)


if __name__ == "__main__":
    main()
