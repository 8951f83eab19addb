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
import os
import sys
import time
import warnings
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "support"))

from processes import received, started
from soak_server import serve
from soak_traffic import Traffic

LONGEST_ROUND, LONGEST_END = 600, 5.0
# How much more of each resource the process may have in the end.
MORE = {"file descriptors": 0, "threads": 0, "objects": 200, "MiB": 16.0}
M_MMAP_THRESHOLD = -3


def held() -> dict[str, float]:
    """The resources of the process while no client is open."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    descriptors, threads = (len(os.listdir(f"/proc/self/{name}")) for name in ("fd", "task"))
    memory = round(pages * os.sysconf("SC_PAGESIZE") / 2**20, 1)
    return dict(zip(MORE, (descriptors, threads, len(gc.get_objects()), memory), strict=True))


def more(before: dict[str, float], now: dict[str, float]) -> list[str]:
    """Describe the resources that exceed those of before by more than the allowed margin."""
    grown = [name for name in MORE if now[name] > before[name] + MORE[name]]
    return [f"{name}: {before[name]} became {now[name]}" for name in grown]


def held_in_the_end(before: dict[str, float]) -> dict[str, float]:
    """Return the resources once ending threads have ended."""
    patience = time.monotonic() + LONGEST_END
    while more(before, now := held()) and time.monotonic() < patience:
        time.sleep(0.05)
    return now


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


def main() -> None:
    given = arguments()
    # Return freed bodies to the system; the C library would keep them, which looks like a leak.
    ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 128 * 1024)
    warnings.simplefilter("error")
    with started(serve, given.seed, given.keyed) as (_, server):
        of_calls = {name: getattr(given, name) for name in ("seed", "keyed", "timeout")}
        traffic = Traffic(url=str(received(server)), **of_calls)
        # Warnings that could not be raised.
        sys.unraisablehook = lambda what: traffic.broken.append(f"a warning: {what.exc_value!r}")
        first: dict[str, float] = {}  # after the first round, which warms up
        for number in range(given.rounds):
            faulthandler.dump_traceback_later(LONGEST_ROUND, exit=True)
            began = time.perf_counter()
            traffic.run(range(number * given.calls, (number + 1) * given.calls), given.workers)
            took = time.perf_counter() - began
            server.send(None)
            traffic.balance(server.recv())
            now = held_in_the_end(first) if first else held()
            first = first or now
            resources = ", ".join(f"{count:,} {name}" for name, count in now.items())
            print(f"round {number + 1}: {took:.1f} s, {resources}", flush=True)
        faulthandler.cancel_dump_traceback_later()
    for what, count in sorted(traffic.counts.items()):
        print(f"{count:9,}  {what}")
    broken = traffic.broken + more(first, now)
    print(f"broken rules: {len(broken)}", *broken[:20], sep="\n- ")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
