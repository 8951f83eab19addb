"""Run the example notebooks against the fake service, and keep what they show.

`python tools/run_notebooks.py` runs them and writes their outputs. With `--check` it writes nothing
and tells what a fresh run shows otherwise; pictures are not compared. Both need
`pip install '.[examples]'`.
"""

import asyncio
import difflib
import sys
from copy import deepcopy
from pathlib import Path

import matplotlib.font_manager  # noqa: F401 (makes its cache, which it would tell in a notebook)
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

EXAMPLES = Path(__file__).parent.parent / "examples"
LONGEST = 120  # seconds for one cell, on a busy machine
PICTURE = "image/png"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


async def run(path: Path) -> NotebookNode:
    """A notebook with the outputs of a fresh run, without what changes from run to run."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=LONGEST,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(EXAMPLES)}},
    )
    await client.async_execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise ValueError(f"it warns: {output.text}")
    notebook.metadata = nbformat.from_dict(METADATA)
    return notebook


def text_of(notebook: NotebookNode) -> str:
    """A notebook as its file holds it."""
    return nbformat.writes(notebook) + "\n"


def without_pictures(notebook: NotebookNode) -> str:
    """The text of a notebook that says where pictures are, and no more of them."""
    bare = deepcopy(notebook)
    for cell in bare.cells:
        for output in cell.get("outputs", []):
            if PICTURE in output.get("data", {}):
                output.data[PICTURE], output.metadata = "…", {}
    return text_of(bare)


def changes(path: Path, fresh: NotebookNode) -> list[str]:
    """What a fresh run shows otherwise than the file, with a line for each cell of a table."""
    old, new = (
        without_pictures(notebook).replace("><", ">\n<").splitlines()
        for notebook in (nbformat.read(path, as_version=4), fresh)
    )
    return list(difflib.unified_diff(old, new, path.name, "a fresh run", n=0, lineterm=""))


async def run_all(paths: list[Path]) -> list[NotebookNode | BaseException]:
    """All of them at once, each in a kernel of its own."""
    found = await asyncio.gather(*map(run, paths), return_exceptions=True)
    for place, path in enumerate(paths):
        # What nbclient raises if a kernel cannot start, because another program took its port. No
        # cell raises these: its errors, warnings and time limits have other classes.
        if isinstance(found[place], AssertionError | RuntimeError):
            [found[place]] = await asyncio.gather(run(path), return_exceptions=True)
    return found


def main(arguments: list[str]) -> int:
    """Write the outputs, or with --check compare them."""
    paths, troubles = sorted(EXAMPLES.glob("*.ipynb")), list[str]()
    for path, fresh in zip(paths, asyncio.run(run_all(paths)), strict=True):
        if isinstance(fresh, BaseException):
            troubles.append(f"{path.name} does not run: {fresh}")
        elif arguments == ["--check"]:
            troubles += changes(path, fresh)
        else:
            path.write_text(text_of(fresh), "utf-8")
    print("\n".join(troubles) or f"{len(paths)} notebooks are up to date")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
