"""The page on logs, hooks and spans is correct."""

import re
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from adclient import hooks

PAGE = (Path(__file__).parent.parent.parent / "docs" / "how-to" / "observability.md").read_text(
    "utf-8"
)
*_, SPANS, TRACE = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(code: str) -> str:
    """What code prints, in a separate process, because providers are global."""
    return subprocess.check_output([sys.executable, "-W", "error", "-c", code], encoding="utf-8")


def test_spans_work_as_shown() -> None:
    output = run(SPANS)
    assert '"name": "POST /v1/beta-ads/pause-beta-campaign"' in output
    names = set(re.findall(r'"((?:adclient|http|server|url)\.[a-z_.]+)":? ?[",0-9]', output))
    assert names >= {"adclient.draft_id", "url.template", "http.response.status_code"}
    assert not {name for name in names if f"`{name}`" not in PAGE}


def test_trace_header_is_sent_as_shown() -> None:
    output = run(f"""
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
trace.set_tracer_provider(TracerProvider())
{TRACE}
print(fake.requests[0].headers["traceparent"])
""")
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}\n", output)


@pytest.mark.parametrize(
    "record", [hooks.RequestEvent, hooks.ResponseEvent, hooks.RetryEvent, hooks.DraftEvent]
)
def test_page_names_every_field(record) -> None:
    [row] = re.findall(rf"^\| `{record.__name__}` \| (.*)", PAGE, re.MULTILINE)
    common = {field.name for field in attrs.fields(hooks.CallEvent)}
    for field in attrs.fields(record):
        assert f"`{field.name}`" in (PAGE if field.name in common else row)
