"""A process that makes so many calls of one row and nothing else, for `instructions.py`."""

import sys
from importlib import import_module

from field import measures
from field.rows import ROWS


def main(module: str, shape: str, key: str, service: str, calls: str) -> None:
    row = next(row for row in ROWS if row.key == key)
    contestant = import_module(f"field.contestants.{module}")
    measure = getattr(measures, row.measure)(contestant, shape, row, service)
    measure.run(100 if row.key != "decode" else 10)  # until the interpreter has specialised it all
    measure.run(int(calls))


if __name__ == "__main__":
    main(*sys.argv[1:])
