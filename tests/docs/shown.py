"""Code of a page, and the output that the page shows below it."""

import re
from contextlib import redirect_stdout
from io import StringIO

_SHOWN = re.compile(
    r"^```python\n(.*?)^```$(?:\n\n```(?:text|json)\n(.*?)^```$)?", re.MULTILINE | re.DOTALL
)


def run_page(page: str) -> int:
    """Run the blocks of a page one after the other; those with an output must print it."""
    names: dict[str, object] = {}
    compared = 0
    for code, expected in _SHOWN.findall(page):
        printed = StringIO()
        with redirect_stdout(printed):
            exec(code, names)
        if expected:
            assert printed.getvalue() == expected
            compared += 1
    return compared
