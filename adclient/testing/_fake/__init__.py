"""The parts of the fake, and its data files."""

import json
from functools import cache
from pkgutil import get_data
from typing import Any


@cache
def load(path: str) -> Any:
    """The content of a JSON file of `data`, which all fakes of the process share."""
    # By the loader of the package, because `open` may be that of pyfakefs, which has no such file.
    return json.loads(get_data(__name__, f"data/{path}") or b"")
