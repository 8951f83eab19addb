"""The process of one peer, in the peer's own environment; `field.turns` tells it what to do.

It reads a JSON document from each line of its input and answers with one: `{"open": row}` and
`{"run": times}`. What goes wrong is answered as `{"failed": text}`.
"""

import importlib
import json
import os
import sys
import time
import warnings
from typing import Any

from field import measures
from field.cores import CLIENT_CORE, allow_sockets, pin
from field.rows import Row


class Worker:
    """Keeps the measure of the row that is open."""

    def __init__(self, module: str, shape: str, service: str) -> None:
        self._contestant = importlib.import_module(f"field.contestants.{module}")
        self._shape, self._service = shape, service
        self._measure: measures.Measure | None = None

    def open(self, row: dict[str, Any]) -> None:
        if self._measure is not None:
            self._measure.close()
            self._measure = None
        opened = Row(**row)
        kind = getattr(measures, opened.measure)
        self._measure = kind(self._contestant, self._shape, opened, self._service)

    def run(self, times: int) -> tuple[float | None, float]:
        """The figure, and which part of the time was spent on the processor."""
        assert self._measure is not None, "a row is open"
        began, worked = time.perf_counter(), time.process_time()
        figure = self._measure.run(times)
        return figure, (time.process_time() - worked) / (time.perf_counter() - began)


def main(module: str, shape: str, service: str) -> None:
    # What a library prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    worker = Worker(module, shape, service)
    for line in sys.stdin:
        ((verb, argument),) = json.loads(line).items()
        try:
            answer = {"value": getattr(worker, verb)(argument)}
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    pin(CLIENT_CORE)
    allow_sockets()
    main(*sys.argv[1:])
