"""Generate `adclient/_sync` from `adclient/_async`, by deletions and renames only.

`python tools/make_twin.py` writes the twin; with `--check` it only reports whether it is current.
"""

import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "adclient"
SOURCE, TWIN = PACKAGE / "_async", PACKAGE / "_sync"

# What only the async client needs: the rest of a file, and lines.
ASYNC_ONLY_REST = "# async only from here on\n"
ASYNC_ONLY_LINE = re.compile(r"^.*# async only\b.*\n", re.MULTILINE)

HEADER = "# Generated from ../_async by tools/make_twin.py: change it there.\n"

# Every rule must match at least once, so that no obsolete one stays.
RULES: list[tuple[str, str]] = [
    (
        r"AsyncListing\(source, call\.cursor\)",
        "source.page(call.cursor)",
    ),
    (r"\bAsyncListing\[", "Page["),
    (r"\bAwaitable\[AsyncPage\[T\]\]", "Page[T]"),
    (r"import AsyncListing, AsyncPage\b", "import AsyncPage"),
    (r"import AsyncListing\b", "import AsyncPage"),
    (
        r"A listing of (`\w+`) items; await it for one page, or iterate over all items\.",
        r"A page of \1 items; iterating over it continues through all later pages.",
    ),
    (r"\b_async\b", "_sync"),
    (r", for async code", ""),
    (r" at once, on each event loop;", " at once;"),
    (r"any number of tasks", "any number of threads"),
    (r"an `async with` block", "a `with` block"),
    (r"\basync with\b", "with"),
    (r"\basync for\b", "for"),
    (r"\basync def\b", "def"),
    (r"\bawait ", ""),
    (r"\basync_", ""),
    (r"\b(handle|is)_async_", r"\1_"),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\baclose\b", "close"),
    (r"__aenter__", "__enter__"),
    (r"__aexit__", "__exit__"),
    (r"__enter__ = __exit__ =", "__aenter__ = __aexit__ ="),
    (r"__aiter__", "__iter__"),
    (r"__anext__", "__next__"),
    (r"\bStopAsyncIteration\b", "StopIteration"),
    (r"\baiter\(", "iter("),
    (r"\banext\(", "next("),
]


def twin_of(source: str, fired: set[str]) -> str:
    """The sync source of an async one; the patterns that matched are added to `fired`."""
    text = ASYNC_ONLY_LINE.sub("", source.partition(ASYNC_ONLY_REST)[0].rstrip() + "\n")
    for pattern, replacement in RULES:
        text, count = re.subn(pattern, replacement, text)
        if count:
            fired.add(pattern)
    return HEADER + text


def twins() -> dict[str, str]:
    """The source of every file of the twin, by name."""
    fired: set[str] = set()
    sources = {path.name: path.read_text("utf-8") for path in sorted(SOURCE.glob("*.py"))}
    made = {name: twin_of(text, fired) for name, text in sources.items()}
    idle = [pattern for pattern, _ in RULES if pattern not in fired]
    if idle:
        raise SystemExit(f"rules that never fire: {idle}")
    return made


def main(arguments: list[str]) -> int:
    """Write the twin, or with --check compare whole files."""
    expected = twins()
    present = {path.name: path.read_text("utf-8") for path in TWIN.glob("*.py")}
    if arguments == ["--check"]:
        names = expected.keys() | present.keys()
        stale = sorted(name for name in names if expected.get(name) != present.get(name))
        print(f"out of date: {', '.join(stale)}" if stale else "the twin is up to date")
        return 1 if stale else 0
    for name in present.keys() - expected.keys():
        (TWIN / name).unlink()
    for name, text in expected.items():
        (TWIN / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
