"""The code of the README and of the tutorial runs, and prints what is shown.

tests/pages runs that of all other pages, and tests/acceptance follows the tutorial in a browser.
"""

import re
from pathlib import Path

from pages import ROOT, run_page

from adclient.testing import FakeAdService

TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
SHELL = re.compile(
    r"^```(?:sh|powershell)\n.*?^```$(?:\n\n```text\n.*?^```$)?", re.MULTILINE | re.DOTALL
)


def test_code_of_the_readme_runs(tmp_path: Path) -> None:
    run_page(ROOT / "README.md", tmp_path, FakeAdService())


def test_python_of_the_tutorial_prints_what_is_shown(tmp_path: Path) -> None:
    approved = "<!-- approve draft_35ea -->"
    text = re.sub("^## 6.*$", approved, SHELL.sub("", TUTORIAL), flags=re.MULTILINE)
    text = re.sub('<!-- skip: (?!next ").*-->', "", text)
    page = tmp_path / "tutorial.md"
    page.write_text(text.replace("http://127.0.0.1:8765", "https://ads.example.com"), "utf-8")
    fake = FakeAdService()
    run_page(page, tmp_path, fake)
    assert [draft.status for draft in fake.drafts] == ["applied"]
    assert approved in text
