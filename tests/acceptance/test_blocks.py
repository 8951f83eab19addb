"""The code blocks that only run with what the acceptance session installs."""

from pathlib import Path

import pytest
from pages import PAGES, ROOT, run_page

from adclient.testing import FakeAdService

HERE = Path(__file__).relative_to(ROOT).as_posix()
LEFT_TO_THIS = [page for page in PAGES if HERE in page.read_text("utf-8")]


@pytest.mark.parametrize("page", LEFT_TO_THIS, ids=lambda page: page.stem)
def test_code_runs_and_prints_what_is_shown(page: Path, tmp_path: Path) -> None:
    run_page(page, tmp_path, FakeAdService(), runner=HERE)
