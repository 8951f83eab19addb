"""The Flask application of the page behind a server that forks; and uvloop."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import uvloop

from adclient import AsyncAdClient, CallTimeout
from adclient.testing import FakeAdService, Fault
from adclient.testing.server import serving

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "web-frameworks.md").read_text("utf-8")
[FLASK] = re.findall(r"^import atexit\n\nfrom flask.*?    return app\n", PAGE, re.M | re.S)
CAMPAIGNS = "/accounts/account_b204/campaigns"
USED = f"""
app = create_app()
assert len(app.test_client().get("{CAMPAIGNS}").json) == 62
"""


@pytest.mark.parametrize("preload", [[], ["--preload"]], ids=["", "preload"])
def test_client_that_was_used_before_a_fork_serves_each_worker(preload, tmp_path) -> None:
    (tmp_path / "reports.py").write_text(FLASK + USED, "utf-8")
    options = ["--workers=2", "--bind=127.0.0.1:0", "--no-control-socket", *preload]
    fake = FakeAdService()
    with (
        serving(fake) as url,
        subprocess.Popen(
            [sys.executable, "-W", "always", "-m", "gunicorn", *options, "reports:app"],
            cwd=tmp_path,
            encoding="utf-8",
            env={**os.environ, "ADCLIENT_BASE_URL": url},
            stderr=subprocess.PIPE,
        ) as server,
    ):
        assert server.stderr is not None
        try:
            [at] = next(
                filter(None, (re.findall(r"at: (http\S+)", line) for line in server.stderr))
            )
            answers = [httpx.get(at + CAMPAIGNS, timeout=30).json() for _ in range(10)]
        finally:
            server.terminate()
        logged = server.stderr.read()
    assert [len(campaigns) for campaigns in answers] == [62] * 10
    assert "never closed" not in logged
    # Two requests for each answer, and for each time that the module was loaded and used it.
    loaded = len(fake.requests) // 2 - 10
    assert loaded == 1 if preload else loaded in (1, 2)


def test_async_client_works_on_uvloop() -> None:
    fake = FakeAdService()
    fake.faults.add(Fault.no_response(), operation="gamma.list_ads")

    async def main(url: str) -> None:
        async with AsyncAdClient(url) as client:
            calls = [client.beta.list_campaigns(account_id="account_b204") for _ in range(50)]
            assert [page.next is None for page in await asyncio.gather(*calls)] == [False] * 50
            hasty = client.with_options(timeout=0.2, max_retries=0)
            with pytest.raises(CallTimeout):
                await hasty.gamma.list_ads(account_id="account_c3d8")

    with serving(fake) as url, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(url))
