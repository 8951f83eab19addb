"""Compare adclient with bare httpx and other client libraries: one command, one table.

    python benchmarks/compare.py

sets up each peer in its own environment (under `benchmarks/.cache`; the first run takes minutes),
starts a service on another core, lets the peers do the same work in turns, and prints a Markdown
table of ratios to bare httpx and `json` in the same run. `--quick` is a smoke run with the
libraries that are installed here; it fails if a row gives a wrong result, and its figures mean
nothing.
"""

import argparse
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import replace

from field.environments import Environment, Present, environment_of
from field.peers import BARE, OURS, PEERS, Peer
from field.rows import ROWS, Row
from field.table import failures, missed, table
from field.turns import Field, Result, service


def main() -> None:
    given = arguments()
    rows = [row for row in ROWS if not given.rows or row.key in given.rows]
    if given.quick:
        rows = [smoke(row) for row in rows if row.measure != "Installed"]
    peers = participants(given.peers, rows, quick=given.quick)
    results = compare(rows, peers, given.rounds, given.seconds)
    print(about_the_machine(), end="\n\n")
    print(table(rows, list(peers), results))
    problems = failures(results)
    if given.quick:
        problems += missed(rows, results)
    if problems:
        sys.exit("\n".join(["", *problems]))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare adclient with other libraries.")
    parser.add_argument("--quick", action="store_true", help="a smoke run of a few seconds")
    parser.add_argument("--rounds", type=int, help="turns of each peer in each row, 9 by default")
    parser.add_argument("--seconds", type=float, help="length of a turn, 0.2 by default")
    parser.add_argument("--rows", nargs="+", choices=[row.key for row in ROWS])
    parser.add_argument("--peers", nargs="+", choices=[peer.name for peer in PEERS])
    given = parser.parse_args()
    rounds, seconds = (1, 0.01) if given.quick else (9, 0.2)
    given.rounds, given.seconds = given.rounds or rounds, given.seconds or seconds
    return given


def smoke(row: Row) -> Row:
    """A small version of a row, without its goal unless that holds on every machine."""
    return replace(row, **{"goal": None, **row.quick})


def participants(
    names: list[str] | None, rows: list[Row], *, quick: bool
) -> Mapping[Peer, Environment | Present]:
    """Return the chosen peers and their environments; bare httpx and adclient always take part.

    A peer is there once more for each set of libraries that rows need besides its own.
    """
    chosen = [OURS.name, BARE.name, *(names or [] if quick or names else [p.name for p in PEERS])]
    needs = {row.needs: [other for other in rows if other.needs == row.needs] for row in rows}
    variants = [replace(peer, more=more) for more in needs for peer in PEERS if peer.name in chosen]
    peers = [peer for peer in variants if any(map(peer.takes_part, needs[peer.more]))]
    if quick:
        return {peer: Present() for peer in peers if Present().has(peer)}
    environments: dict[Peer, Environment | Present] = {}
    for peer in peers:
        log(f"setting up {' with '.join((peer.name, *peer.more))}")
        environments[peer] = environment_of(peer)
    return environments


def compare(
    rows: list[Row], peers: Mapping[Peer, Environment | Present], rounds: int, seconds: float
) -> dict[str, dict[str, Result]]:
    """Return the results of each row."""
    results: dict[str, dict[str, Result]] = {}
    with service(sys.executable) as address:
        field = Field(peers, address, seconds)
        try:
            for row in rows:
                log(row.title)
                results[row.key] = field.compare(row, rounds)
        finally:
            field.close()
    return results


def about_the_machine() -> str:
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    implementation = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{implementation}, {platform.system()}, {os.cpu_count()} cores{load}"


def log(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
