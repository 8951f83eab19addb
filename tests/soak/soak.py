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


class Server(subprocess.Popen[str]):
    """The faulty fake in a separate process, which ends when its input is closed."""

    def __init__(self, seed: str, keyed: bool) -> None:
        command = [sys.executable, str(Path(__file__).with_name("soak_server.py")), "--seed", seed]
        pipe = subprocess.PIPE
        super().__init__([*command, *["--keyed"] * keyed], stdin=pipe, stdout=pipe, text=True)
        self.url: str = self.stdout.readline().strip()

    def close_books(self) -> list[tuple[int, str, object]]:
        """Return the caller, id and diff of each draft staged since the last call."""
        print(file=self.stdin, flush=True)
        return [tuple(each) for each in json.loads(self.stdout.readline())]


def main() -> None:
    given = arguments()
    # Return freed bodies to the system; the C library would keep them, which looks like a leak.
    ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 128 * 1024)
    warnings.simplefilter("error")
    books = Books()
    # Warnings that could not be raised.
    sys.unraisablehook = lambda what: books.broken.append(f"a warning: {what.exc_value!r}")
    with Server(given.seed, given.keyed) as server:
        started = time.perf_counter()
        first, last = soak(given, server, books)
        took = time.perf_counter() - started
    books.broken += last.more_than(first)
    tell(books, given.rounds * given.calls, took, first, last)
    sys.exit(bool(books.broken))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Send an hour of mixed traffic in minutes to the faulty fake over HTTP.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--rounds", type=int, default=12, help="at least 2")
    add("--calls", type=int, default=9000, help="per round")
    add("--workers", type=int, default=16, help="for each of three kinds")
    add("--timeout", type=float, default=2.0, help="usual timeout of a call in seconds")
    add("--seed", default="1", help="the seed of calls and faults")
    add("--keyed", action="store_true", help="send keys, and repeat each call until it succeeds")
    return parser.parse_args()


def soak(given: argparse.Namespace, server: Server, books: Books) -> tuple[Held, Held]:
    """Run all rounds; return the resources after the first, which warms up, and after the last."""
    traffic = Traffic(
        url=server.url, seed=given.seed, keyed=given.keyed, timeout=given.timeout, books=books
    )
    held: list[Held] = []
    for number in range(given.rounds):
        faulthandler.dump_traceback_later(LONGEST_ROUND, exit=True)
        started = time.perf_counter()
        traffic.run(range(number * given.calls, (number + 1) * given.calls), given.workers)
        took = time.perf_counter() - started
        books.balance(server.close_books(), keyed=given.keyed)
        held.append(Held.in_the_end(held[0]) if held else Held.now())
        print(
            f"round {number + 1}: {took:.1f} s, {held[-1]}, {len(books.broken)} broken", flush=True
        )
    faulthandler.cancel_dump_traceback_later()
    return held[0], held[-1]


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
