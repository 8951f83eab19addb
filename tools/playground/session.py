"""What runs in the page's Python: its examples, and requests to the approval page of their fake."""

import html
import json
import traceback
from contextlib import redirect_stderr, redirect_stdout
from functools import lru_cache
from io import StringIO

import httpx
from pyodide.code import eval_code_async

from adclient.testing import FakeAdService

_EXAMPLE = "<example>"
_names: dict[str, object] = {"__name__": "__main__"}


async def run(source: str) -> str:
    """Run an example.

    Returns:
        JSON: what it displayed, as HTML; whether it failed; and whether a draft was ever staged.
    """
    printed, shown, has_failed = StringIO(), "", False
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            value = await eval_code_async(source, _names, filename=_EXAMPLE)
            if hasattr(value, "_repr_html_"):
                shown = value._repr_html_()
            elif value is not None:
                print(repr(value))
        except BaseException as error:
            has_failed = True
            traceback.print_exception(_from_example(error))
    text = html.escape(printed.getvalue())
    shown = f"<pre>{text}</pre>{shown}" if text else shown
    fake = _names.get("service")
    has_staged = isinstance(fake, FakeAdService) and bool(fake.drafts)
    return json.dumps({"html": shown, "failed": has_failed, "staged": has_staged})


async def states() -> str:
    """The drafts of the fake named `service`, each with its status, as JSON."""
    fake = _names.get("service")
    drafts = fake.drafts if isinstance(fake, FakeAdService) else ()
    return json.dumps([f"{draft.draft_id}: {draft.status}" for draft in drafts])


async def respond(root: str, origin: str, method: str, url: str, body: str) -> str:
    """Pass a request to the fake named `service`, which has its paths below `root`.

    Returns:
        JSON: status, headers and text of the response.
    """
    client = _client(_names["service"], root)
    response = await client.request(method, url, content=body, headers={"origin": origin})
    return json.dumps([response.status_code, response.headers.multi_items(), response.text])


@lru_cache(maxsize=1)
def _client(fake: FakeAdService, root: str) -> httpx.AsyncClient:
    from adclient.testing.server import create_app  # deferred: it is needed after the first draft

    app = create_app(fake, run_clock=True, any_host=True)
    transport = httpx.ASGITransport(app, root_path=root)
    return httpx.AsyncClient(transport=transport, trust_env=False)


def _from_example(error: BaseException) -> BaseException:
    """The error with a traceback that begins in the example."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename != _EXAMPLE:
        frame = frame.tb_next
    return error.with_traceback(frame)
