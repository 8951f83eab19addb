"""The code in `docs/how-to/notebooks.md` runs."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "notebooks.md").read_text("utf-8")


def test_code_in_the_notebook_page_runs() -> None:
    cells = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(cells) >= 5
    names: dict[str, object] = {}
    for cell in cells:
        exec(compile(cell, "notebooks.md", "exec"), names)
    assert len(names["ads"]) == 126
