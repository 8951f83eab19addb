"""Every code block of every page runs, and prints what the page shows."""

import re
from codeop import CommandCompiler
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest
from cases import each_case
from pages import PAGES, ROOT, blocks, run_page

from adclient import Conventions
from adclient.testing import FakeAdService

# What `adclient doctor` finds out on its page is not the fake's default.
SERVICES = {
    "connect.md": {
        "page_size": 20,
        "token": "YOUR-TOKEN",
        "conventions": Conventions(
            object_style="deep_object",
            cursor_parameter="page_token",
            request_id_headers=("x-correlation-id",),
        ),
    }
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run_and_print_what_is_shown(
    page: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    run_page(page, tmp_path, FakeAdService(**SERVICES.get(page.name, {})))
    if (
        pytestconfig.getoption("seeds") > 1
    ):  # as on the next day: the files are there, and the fake has forgotten its drafts
        run_page(page, tmp_path, FakeAdService(**SERVICES.get(page.name, {})))


def test_each_page_has_a_ledger_of_its_own() -> None:
    names = [set(re.findall(r"[\w-]+\.db\b", page.read_text("utf-8"))) for page in PAGES]
    assert len(set.union(*names)) == 6
    assert max(Counter(chain.from_iterable(names)).values()) == 1


def run(text: str, folder: Path) -> None:
    page = folder / "page.md"
    page.write_text(text, "utf-8")
    run_page(page, folder, FakeAdService())


def test_blocks_share_names_files_and_exported_variables(tmp_path: Path) -> None:
    run(
        """
```toml
# settings/mine.toml
name = "mine"
```

```sh
export NAME=spring
cat settings/mine.toml >copy.toml
```

```python
import os

name = os.environ["NAME"]
```

```python
with open("copy.toml") as file:
    print(name, len(list(file)))
```

```text
spring 2
```
""",
        tmp_path,
    )


@each_case(
    ("text", "failure"),
    [
        ("```python\n1 / 0\n```", "division by zero"),
        ("```python\nprint(1)\n```\n\n```text\n2\n```", "line 5, .*\n.*\n.*\n.*\n-2\n\\+1"),
        ("```python\nprint(1)\n```\n\nIt prints:\n\n```text\n1\n```", "line 7, .*\nno block"),
        ("\n```python\ndef test_it():\n    assert 1 == 2\n```", r"test_line_2\.py:2: "),
        ("```sh\necho begun\nfalse\n```", "line 1, .*\nexit code 1\nbegun"),
        ("```toml\nid = 1\n```", "line 1, .*\nnothing runs"),
        ('<!-- skip: next "tests/none.py" -->\n\n```sh\nfalse\n```', "line 3, .*\nit is left to"),
        (
            '<!-- skip: next "noxfile.py::none" -->\n\n```sh\nfalse\n```',
            "line 3, .*\nit is left to",
        ),
    ],
)
def test_block_that_is_wrong_fails(tmp_path: Path, text: str, failure: str) -> None:
    with pytest.raises(Exception, match=failure):
        run(text, tmp_path)


def refused_at_a_prompt(block: str) -> str | None:
    """The first line of a block that the prompt of Python refuses; None if it takes all of them.

    Until Python 3.12, the prompt takes a pasted text line by line: an empty line ends a statement
    that has indented lines, and nothing else does.
    """
    compiled, statement = CommandCompiler(), ""
    for line in [*block.splitlines(), ""]:
        statement += f"{line}\n"
        try:
            code = compiled(statement.removesuffix("\n"))
        except SyntaxError:
            return line
        if code is not None:
            statement = ""
    return statement.strip() or None


def test_python_can_be_pasted_at_a_prompt() -> None:
    found = [(page, blocks(page, "python")) for page in PAGES]
    refused = {
        f"{page.relative_to(ROOT)}:{line}": refused_at_a_prompt(block)
        for page, of_page in found
        for line, block in of_page
    }
    assert len(refused) > 50
    assert {place: line for place, line in refused.items() if line} == {}


@each_case(
    ("block", "refused"),
    [
        ("with a:\n    b\n\nc\n", None),
        ("# x\n\nif a:\n    b\nelse:\n    c\n", None),
        ("@a\ndef f():\n    b(\n\n    )\n    # c\n    d\n\n\nf()\n", None),
        ("with a:\n    b\nc\n", "c"),
        ("def f():\n    a\n\n    b\n", "    b"),
        ("await a\n", "await a"),
        ("a = [\n", "a = ["),
    ],
)
def test_line_that_a_prompt_refuses_is_found(block: str, refused: str | None) -> None:
    assert refused_at_a_prompt(block) == refused
