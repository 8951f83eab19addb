"""Every code block of every page runs, and prints what the page shows."""

from pathlib import Path

import pytest
from cases import each_case
from pages import PAGES, ROOT, run_page

from adclient import Conventions
from adclient._core.operations import READS
from adclient.testing import FakeAccount, FakeAdService, Profile

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
        "profile": Profile(page_size_parameter="limit"),
    },
    # As somebody's service, with fields of its own.
    "your-service.md": {
        "page_size": 20,
        "token": "YOUR-TOKEN",
        "conventions": Conventions(cursor_parameter="page_token"),
        "profile": Profile(page_size_parameter="limit"),
        "accounts": [
            FakeAccount(
                "account_7",
                campaigns=[
                    {
                        "id": f"cmp_{number}",
                        "name": f"Campaign {number}",
                        "status": "PAUSED" if number % 7 == 0 else "ENABLED",
                        "cost_micros": 1_000_000 + number * 250_000,
                        "started": f"2026-01-{number % 28 + 1:02}",
                    }
                    for number in range(1, 48)
                ],
                ads=[{"id": f"ad_{number}", "landing_page": None} for number in range(1, 13)],
                reads={
                    name: [{"id": f"{name}_{number}", "score": 0.25} for number in range(1, 4)]
                    for name in READS
                    if not name.endswith((".list_campaigns", ".list_ads"))
                },
            )
        ],
    },
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


def test_reader_approves_a_draft_between_two_blocks(tmp_path: Path) -> None:
    run(
        """
```python
from adclient import AdClient

client = AdClient("https://ads.example.com")
campaign = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
client.beta.pause_campaign(**campaign)
print(client.beta.list_campaigns(**campaign).data[0].status)
```

```text
ENABLED
```

<!-- approve draft_35ea -->

```python
print(client.beta.list_campaigns(**campaign).data[0].status)
```

```text
PAUSED
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
        ("<!-- approve draft_0 -->", "draft_0"),
        (
            '<!-- skip: next "noxfile.py::none" -->\n\n```sh\nfalse\n```',
            "line 3, .*\nit is left to",
        ),
    ],
)
def test_block_that_is_wrong_fails(tmp_path: Path, text: str, failure: str) -> None:
    with pytest.raises(Exception, match=failure):
        run(text, tmp_path)
