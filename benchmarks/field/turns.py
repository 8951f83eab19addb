"""The contestants of a row take turns, A B A B …, so that each meets the same machine."""

import json
import math
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from field import measures, processes
from field.environments import Environment, Present
from field.peers import Peer
from field.processes import HERE
from field.rows import Row


class Failed(RuntimeError):
    """A contestant could not do the work of a row."""


@dataclass
class Result:
    """What one contestant showed in one row: a figure for each turn, or why there is none.

    `cpu` has the same figures in processor time, for what is measured inside a process.
    """

    figures: list[Any] = field(default_factory=list[Any])
    cpu: list[float] = field(default_factory=list[float])
    failure: str | None = None


class Contestant(Protocol):
    """What can take turns."""

    def run(self, times: int) -> tuple[Any, float | None]:
        """Measure once, in so many repetitions; the second figure is the processor's part."""
        ...


class Worker:
    """The process of a peer, seen from here."""

    def __init__(self, peer: Peer, python: str, service: str) -> None:
        command = [python, "-m", "field.worker", peer.module, peer.shape, service]
        self._process = subprocess.Popen(
            command, cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def open(self, row: Row) -> None:
        self._ask({"open": asdict(row) | {"goal": None, "quick": {}}})

    def run(self, times: int) -> tuple[Any, float | None]:
        figure, busy = self._ask({"run": times})
        return figure, busy

    def _ask(self, question: Mapping[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            print(json.dumps(question), file=self._process.stdin, flush=True)
            answer = json.loads(self._process.stdout.readline())
        except (OSError, ValueError):
            raise Failed("its process ended") from None
        if "failed" in answer:
            raise Failed(answer["failed"])
        return answer["value"]

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def service(python: str) -> Iterator[str]:
    """The address of the service, in a process of its own."""
    with subprocess.Popen(
        [python, "-m", "field.server"],
        cwd=HERE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.stdin.close()


class Field:
    """All contestants of one run of the comparison."""

    def __init__(
        self, peers: Mapping[Peer, Environment | Present], service: str, seconds: float
    ) -> None:
        self._peers, self._service, self._seconds = peers, service, seconds
        self._workers = {
            peer: Worker(peer, environment.python, service) for peer, environment in peers.items()
        }

    def compare(self, row: Row, rounds: int) -> dict[str, Result]:
        """What each contestant of a row shows."""
        peers = [peer for peer in self._peers if peer.takes_part(row)]
        results = {peer.name: Result() for peer in peers}
        started = [(peer, *opened) for peer in peers if (opened := self._open(row, peer, results))]
        for _ in range(min(rounds, row.most_rounds)):
            for peer, contestant, times in started:
                if results[peer.name].failure is None:
                    _take_turn(contestant, times, results[peer.name])
        return results

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()

    def _open(
        self, row: Row, peer: Peer, results: dict[str, Result]
    ) -> tuple[Contestant, int] | None:
        """A contestant that has returned the right result, and how often it repeats in a turn."""
        try:
            if hasattr(processes, row.measure):
                process = getattr(processes, row.measure)(
                    peer, self._peers[peer], self._service, row
                )
                process.run(1)  # the first start compiles, the others read what is compiled
                return process, 1
            worker = self._workers[peer]
            worker.open(row)
            return worker, self._repetitions(worker, row)
        except RuntimeError as error:
            results[peer.name].failure = str(error)
            return None

    def _repetitions(self, worker: Worker, row: Row) -> int:
        """How many make a turn of the wanted length."""
        if not getattr(measures, row.measure).is_repeated:
            return 1
        first, _ = worker.run(1)
        if first > self._seconds:
            return 1
        return math.ceil(self._seconds / min(first, worker.run(1)[0], worker.run(1)[0]))


def _take_turn(contestant: Contestant, times: int, result: Result) -> None:
    try:
        figure, busy = contestant.run(times)
        result.figures.append(figure)
        if busy is not None:
            result.cpu.append(figure * busy)
    except RuntimeError as error:
        result.failure = str(error)
