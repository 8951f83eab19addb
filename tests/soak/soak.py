"""Send an hour of mixed traffic in minutes to the faulty fake over HTTP, and reconcile the drafts.

    python tests/soak/soak.py
    python tests/soak/soak.py --keyed --rounds 4 --calls 3000 --seed 2

Twelve rounds of 9,000 calls are an hour at 30 a second. Threads, asyncio and trio call all sixteen
operations at once; about every third request meets a fault, calls run out of time and are
cancelled, and clients are closed and replaced while in use. After each round this must hold:

- every draft at the server is known to the one call that staged it, as its `Draft`, as an
  `OutcomeUnknown`, or as cancelled; none was staged twice; every `Draft` is at the server,
  unchanged;
- with `--keyed`, which sends idempotency keys, every write produced exactly one draft;
- every listing was complete, or ended in an error; all errors were the library's; nothing warned.

At the end there are no more file descriptors, threads, objects and memory than after the first
round. The exit status is 1 if a rule is broken or a round hangs. It runs only on Linux.
"""

import argparse
import ctypes
import faulthandler
import gc
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import attrs
from soak_books import Books
from soak_traffic import Traffic

MOST_ROUNDS, MOST_CALLS, MOST_WORKERS = 100, 50_000, 100
LONGEST_ROUND, LONGEST_END = 600, 5.0
MORE_OBJECTS, MORE_MEMORY = 200, 16.0
M_MMAP_THRESHOLD = -3


@attrs.frozen
class Held:
    """The resources of the process while no client is open; memory in MiB."""

    descriptors: int
    threads: int
    objects: int
    memory: float

    @classmethod
    def now(cls) -> "Held":
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return cls(
            descriptors=len(os.listdir("/proc/self/fd")),
            threads=len(os.listdir("/proc/self/task")),
            objects=len(gc.get_objects()),
            memory=pages * os.sysconf("SC_PAGESIZE") / 2**20,
        )

    @classmethod
    def in_the_end(cls, before: "Held") -> "Held":
        """Return the resources once ending threads have ended."""
        patience = time.monotonic() + LONGEST_END
        while (held := cls.now()).more_than(before) and time.monotonic() < patience:
            time.sleep(0.05)
        return held

    def more_than(self, before: "Held") -> list[str]:
        """Describe the resources that exceed those of before by more than the allowed margin."""
        allowed = Held(0, 0, MORE_OBJECTS, MORE_MEMORY)
        return [
            f"{name}: {was} became {getattr(self, name)}"
            for name, was in attrs.asdict(before).items()
            if getattr(self, name) > was + getattr(allowed, name)
        ]

    def __str__(self) -> str:
        return (
            f"{self.descriptors} file descriptors, {self.threads} threads, "
            f"{self.objects:,} objects, {self.memory:.1f} MiB"
        )


class Server:
    """The faulty fake in a separate process."""

    def __init__(self, seed: str, keyed: bool) -> None:
        command = [sys.executable, str(Path(__file__).with_name("soak_server.py")), "--seed", seed]
        self._process = subprocess.Popen(
            [*command, "--keyed"] if keyed else command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url: str = self._line().strip()

    def close_books(self) -> list[tuple[int, str, object]]:
        """Return the caller, id and diff of each draft staged since the last call."""
        assert self._process.stdin is not None
        print(file=self._process.stdin, flush=True)
        return [(caller, draft_id, diff) for caller, draft_id, diff in json.loads(self._line())]

    def end(self) -> None:
        with self._process:
            """Closing its input ends the process."""

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def main() -> None:
    given = arguments()
    # Return freed bodies to the system; the C library would keep them, which looks like a leak.
    ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 128 * 1024)
    warnings.simplefilter("error")
    books = Books()
    sys.unraisablehook = lambda what: complain(books, what.exc_value)
    server = Server(given.seed, given.keyed)
    try:
        started = time.perf_counter()
        first, last = soak(given, server, books)
        took = time.perf_counter() - started
    finally:
        server.end()
    books.broken += last.more_than(first)
    tell(books, given.rounds * given.calls, took, first, last)
    sys.exit(bool(books.broken))


def complain(books: Books, warning: BaseException | None) -> None:
    """Record a warning that could not be caught as a broken rule."""
    books.broken.append(f"a warning: {warning!r}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Send an hour of mixed traffic in minutes to the faulty fake over HTTP.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--rounds", type=int, default=12, help=f"from 2 to {MOST_ROUNDS}")
    add("--calls", type=int, default=9000, help=f"per round, at most {MOST_CALLS}")
    add("--workers", type=int, default=16, help=f"for each of three kinds, at most {MOST_WORKERS}")
    add("--timeout", type=float, default=2.0, help="usual timeout of a call in seconds, at most 30")
    add("--seed", default="1", help="the seed of calls and faults")
    add(
        "--keyed",
        action="store_true",
        help="send idempotency keys, and repeat each call until it succeeds",
    )
    given = parser.parse_args()
    if not (
        2 <= given.rounds <= MOST_ROUNDS
        and 1 <= given.calls <= MOST_CALLS
        and 1 <= given.workers <= MOST_WORKERS
        and 0.01 <= given.timeout <= 30
    ):
        parser.error("out of bounds")
    return given


def soak(given: argparse.Namespace, server: Server, books: Books) -> tuple[Held, Held]:
    """Run all rounds; return the resources after the first, which warms up, and after the last."""
    traffic = Traffic(
        url=server.url, seed=given.seed, keyed=given.keyed, timeout=given.timeout, books=books
    )
    first = held = None
    for number in range(given.rounds):
        faulthandler.dump_traceback_later(LONGEST_ROUND, exit=True)
        started = time.perf_counter()
        traffic.run(range(number * given.calls, (number + 1) * given.calls), given.workers)
        took = time.perf_counter() - started
        books.balance(server.close_books(), keyed=given.keyed)
        held = Held.now() if first is None else Held.in_the_end(first)
        first = first or held
        print(f"round {number + 1}: {took:.1f} s, {held}, {len(books.broken)} broken", flush=True)
    faulthandler.cancel_dump_traceback_later()
    assert first is not None
    assert held is not None
    return first, held


def tell(books: Books, calls: int, took: float, first: Held, last: Held) -> None:
    """Print the results."""
    print(f"\n{calls:,} calls in {took:.0f} s ({calls / took:.0f} a second)")
    for what, count in sorted(books.counts.items()):
        print(f"{count:9,}  {what}")
    print(f"after the first round: {first}\nafter the last round:  {last}")
    print(f"broken rules: {len(books.broken)}")
    for rule in books.broken[:20]:
        print(f"- {rule}")


if __name__ == "__main__":
    main()
