"""Pages of the site that are made when it is built: the changelog and the example notebooks.

Zensical loads this module for the macros that they call in `docs`.
"""

import json
import re
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).parent.parent
LINK_TO_PAGE = re.compile(r"\]\(docs/(\S+?\.md)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
FIRST_HEADING = re.compile(r"\A#+ .*\n+")
# pandas brings styles of its own, and leaves the corner of a table an empty heading: the name of
# the index, if it has one, is alone in a second row.
OF_PANDAS = re.compile(r"<style scoped>.*?</style>\n?", re.DOTALL)
NAME_OF_INDEX = re.compile(
    r"<th></th>(?P<row>((?!</tr>).)*</tr>)\s*<tr[^>]*>\s*<th>(?P<name>[^<]+)</th>(\s*<th></th>)+\s*</tr>",
    re.DOTALL,
)


class Environment(Protocol):
    """Where Zensical looks for macros."""

    def macro(self, function: Callable[..., str]) -> object:
        """Register a macro under the name of its function."""


def define_env(env: Environment) -> None:
    """Register the macros."""
    env.macro(changelog)
    env.macro(notebook)


def changelog() -> str:
    """The changelog below its heading, with its links as a page of `docs/` has them."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    return LINK_TO_PAGE.sub(r"](\1", FIRST_HEADING.sub("", text))


def notebook(name: str) -> str:
    """A notebook of `examples/` as a section, with the outputs that are saved in it."""
    content = json.loads((ROOT / "examples" / f"{name}.ipynb").read_text("utf-8"))
    return FIRST_HEADING.sub("", "\n\n".join(_blocks(content["cells"])))


def _blocks(cells: list[dict[str, Any]]) -> Iterator[str]:
    heading = ""
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield HEADING.sub(r"#\g<0>", source)
            heading = [heading, *HEADING.findall(source)][-1]
        else:
            yield f"```python\n{source}\n```"
            for output in cell["outputs"]:
                yield _displayed(output, heading)


def _displayed(output: dict[str, Any], heading: str) -> str:
    data = output.get("data", {"text/plain": output.get("text")})
    if "image/png" in data:
        picture = "".join(data["image/png"]).replace("\n", "")
        text = escape(f"Chart: {heading}")
        return f'<p class="output"><img src="data:image/png;base64,{picture}" alt="{text}"></p>'
    if "text/html" in data:
        html = OF_PANDAS.sub("", "".join(data["text/html"]))
        html = html.replace('<table border="1" class="dataframe">', "<table>")
        html = NAME_OF_INDEX.sub(r"<th>\g<name></th>\g<row>", html).replace(
            "<th></th>", "<th>#</th>"
        )
        return f'<div class="output">{html}</div>'
    return f"```text\n{''.join(data['text/plain']).rstrip()}\n```"
