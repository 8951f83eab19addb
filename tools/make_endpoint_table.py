"""Generate the table in `docs/reference/client.md` from the operations that the client sends.

`python tools/make_endpoint_table.py` writes it; with `--check` it only says whether it is up to
date.
"""

import sys
from pathlib import Path

from adclient._core.operations import OPERATIONS, Operation

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "client.md"
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"


def row(number: int, operation: Operation) -> str:
    """One line for one operation."""
    parameters = ", ".join(
        f"`{parameter.name}`" + ("" if parameter.required else "?")
        for parameter in operation.parameters
    )
    result = operation.result.__name__
    if not operation.is_write:
        result = f"Page[{result}]"
    endpoint = f"`{operation.method} {operation.path}`"
    return f"| {number} | `client.{operation.full_name}` | {endpoint} | {parameters} | `{result}` |"


def table() -> str:
    """The table of all operations, in the order of the interface."""
    rows = [row(number, operation) for number, operation in enumerate(OPERATIONS, start=1)]
    head = ["| # | method | endpoint | parameters | result |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows]) + "\n"


def page() -> str:
    """The page with its table made anew."""
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + table() + END + after


def main(arguments: list[str]) -> int:
    """Write the page, or with --check compare it."""
    if arguments != ["--check"]:
        PAGE.write_text(page(), "utf-8")
        return 0
    is_current = PAGE.read_text("utf-8") == page()
    print("the endpoint table is up to date" if is_current else f"out of date: {PAGE.name}")
    return 0 if is_current else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
