"""The process pool of the page on web frameworks works; tests/acceptance runs a server."""

import os
import subprocess
import sys
from multiprocessing import get_all_start_methods

import pytest
from pages import ROOT, blocks

from adclient.testing import FakeAdService
from adclient.testing.server import serving

PAGE = ROOT / "docs" / "how-to" / "web-frameworks.md"
[POOL] = [text for _, text in blocks(PAGE, "python") if "ProcessPoolExecutor" in text]


@pytest.mark.parametrize("method", sorted({"spawn", "fork"} & {*get_all_start_methods()}))
def test_process_pool_works_with_each_start_method(method, tmp_path) -> None:
    script = tmp_path / "pool.py"
    script.write_text(POOL.replace('"spawn"', repr(method)), "utf-8")
    with serving(FakeAdService()) as url:
        done = subprocess.run(
            [sys.executable, "-W", "error", script],
            capture_output=True,
            check=True,
            encoding="utf-8",
            env={**os.environ, "ADCLIENT_BASE_URL": url},
        )
    assert (done.stdout, done.stderr) == ("62 campaigns\n4 campaigns\n", "")
