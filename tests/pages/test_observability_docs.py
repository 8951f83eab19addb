"""The page on logs, hooks and spans is correct."""

import re
import subprocess
import sys

from pages import ROOT, blocks

FILE = ROOT / "docs" / "how-to" / "observability.md"
PAGE = FILE.read_text("utf-8")
*_, SPANS, _ = (code for _, code in blocks(FILE, "python"))


def run(code: str) -> str:
    """What code prints, in a separate process, because providers are global."""
    return subprocess.check_output([sys.executable, "-W", "error", "-c", code], encoding="utf-8")


def test_spans_work_as_shown() -> None:
    output = run(SPANS)
    assert '"name": "POST /v1/beta-ads/pause-beta-campaign"' in output
    names = set(re.findall(r'"((?:adclient|http|server|url)\.[a-z_.]+)":? ?[",0-9]', output))
    assert names >= {"adclient.draft_id", "url.template", "http.response.status_code"}
    assert not {name for name in names if f"`{name}`" not in PAGE}
