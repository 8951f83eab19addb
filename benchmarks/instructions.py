"""Count the machine instructions of a call with valgrind; other load does not change the result.

    python benchmarks/instructions.py

counts, for the installed adclient and bare httpx, in one process at a time: a process that
makes N calls and one that makes 2N differ by N calls. It needs Linux, valgrind, and a few minutes.
The last line is a row for a history of them.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

from field.peers import BARE, OURS, Peer
from field.rows import ROWS, Row
from field.turns import service as running_service

HERE = Path(__file__).parent
# The number of calls in the difference: enough to average out what happens only now and then.
CALLS = {
    "get": 500,
    "post": 500,
    "async-get": 500,
    "get-in-process": 200,
    "post-in-process": 200,
    "error": 200,
    "error-loopback": 500,
    "async-in-process": 200,
    "decode-ten": 200,
    "decode": 10,
}


def main() -> None:
    rows = [row for row in ROWS if row.key in arguments().rows]
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed; on Debian: apt-get install valgrind")
        return
    print(f"CPython {platform.python_version()}, {platform.machine()}", end="\n\n")
    print("| row | adclient | bare httpx | ratio |\n|---|---|---|---|")
    history = [date.today().isoformat(), platform.python_version()]
    with running_service(sys.executable) as service:
        for row in rows:
            ours, bare = (per_call(row, peer, service) for peer in (OURS, BARE))
            print(f"| {row.title} | {ours:,} | {bare:,} | {ours / bare:.3f} |", flush=True)
            history.append(f"{ours:,} ({ours / bare:.2f})")
    print(f"\n| {' | '.join(history)} |")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Count the instructions of a call.")
    parser.add_argument("--rows", nargs="+", metavar="ROW", choices=CALLS, default=list(CALLS))
    return parser.parse_args()


def per_call(row: Row, peer: Peer, service: str) -> int:
    """Return the instructions of one call after the warm-up of the interpreter."""
    calls = CALLS[row.key]
    return round(
        (counted(row, peer, service, 2 * calls) - counted(row, peer, service, calls)) / calls
    )


def counted(row: Row, peer: Peer, service: str, calls: int) -> int:
    """Return the instructions of a process that makes this number of calls."""
    with tempfile.NamedTemporaryFile() as profile:
        command = [
            *("valgrind", "--tool=callgrind", f"--callgrind-out-file={profile.name}"),
            *(sys.executable, "-m", "field.calls", peer.module, peer.shape),
            *(row.key, service, str(calls)),
        ]
        done = subprocess.run(
            command,
            cwd=HERE,
            capture_output=True,
            check=False,
            encoding="utf-8",
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or found is None:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return int(found[1])


if __name__ == "__main__":
    main()
