"""A process that makes so many calls of one row and nothing else, for `instructions.py`."""

import sys
from importlib import import_module

from field.measures import Repeated
from field.rows import ROWS


def main(module: str, shape: str, key: str, calls: str) -> None:
    row = next(row for row in ROWS if row.key == key)
    measure = Repeated(import_module(f"field.contestants.{module}"), shape, row, "http://127.0.0.1")
    measure.run(100 if row.key != "decode" else 10)  # until the interpreter has specialised it all
    measure.run(int(calls))


if __name__ == "__main__":
    main(*sys.argv[1:])
