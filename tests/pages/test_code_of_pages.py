"""Every code block of every page runs, and prints what the page shows."""

from pathlib import Path

import pytest
from cases import each_case
from pages import PAGES, ROOT, run_page

from adclient import Conventions
from adclient._core.operations import READS
from adclient.testing import FakeAccount, FakeAdService, Profile

# What `adclient doctor` finds out on its pages is not the fake's default.
SETTINGS = {"page_size": 20, "token": "YOUR-TOKEN"}
SETTINGS["profile"] = Profile(page_size_parameter="limit")
CONNECTED = Conventions(
    object_style="deep_object",
    cursor_parameter="page_token",
    request_id_headers=("x-correlation-id",),
)
# Somebody's service, with fields of its own.
CAMPAIGNS = [
    {"id": f"cmp_{n}", "name": f"Campaign {n}", "status": "ENABLED" if n % 7 else "PAUSED",
     "cost_micros": 1_000_000 + n * 250_000, "started": f"2026-01-{n % 28 + 1:02}"}
    for n in range(1, 48)
]  # fmt: skip
ADS = [{"id": f"ad_{number}", "landing_page": None} for number in range(1, 13)]
OTHERS = {
    name: [{"id": f"{name}_{number}", "score": 0.25} for number in range(1, 4)]
    for name in READS
    if not name.endswith((".list_campaigns", ".list_ads"))
}
SERVICES = {
    "connect.md": {**SETTINGS, "conventions": CONNECTED},
    "your-service.md": {
        **SETTINGS,
        "conventions": Conventions(cursor_parameter="page_token"),
        "accounts": [FakeAccount("account_7", campaigns=CAMPAIGNS, ads=ADS, reads=OTHERS)],
    },
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run_and_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    run_page(page, tmp_path, FakeAdService(**SERVICES.get(page.name, {})))


# Else the test above could pass whatever a page contains.
@each_case(
    ("text", "failure"),
    ("```python\n1 / 0\n```", "division by zero"),
    ("```python\nprint(1)\n```\n\n```text\n2\n```", "line 5, .*\n.*\n.*\n.*\n-2\n\\+1"),
    ("```python\nprint(1)\n```\n\nIt prints:\n\n```text\n1\n```", "line 7, .*\nno block"),
    ("\n```python\ndef test_it():\n    assert 1 == 2\n```", r"test_line_2\.py:2: "),
    ("```sh\necho begun\nfalse\n```", "line 1, .*\nexit code 1\nbegun"),
    ("```toml\nid = 1\n```", "line 1, .*\nnothing runs"),
    ('<!-- skip: next "noxfile.py::none" -->\n\n```sh\nfalse\n```', "line 3, .*\nit is left"),
)
def test_block_that_is_wrong_fails(tmp_path: Path, text: str, failure: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, "utf-8")
    with pytest.raises(Exception, match=failure):
        run_page(page, tmp_path, FakeAdService())
