"""Both clients in a real Jupyter kernel, and help and tracebacks in IPython."""

import re
import sys
import time
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import attrs
import pytest
from cases import each_case
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel
from traitlets.config import Config

from adclient.testing import FakeAdService, Fault
from adclient.testing.server import serving

LONGEST = 60  # seconds for one cell, on a busy machine
PAUSE = "beta.pause_campaign(account_id='account_b204', campaign_id='campaign_57a7')"


@attrs.define
class Cell:
    """The result of one cell: its displayed bundles, its output, and its error."""

    shown: list[dict[str, Any]] = attrs.field(factory=list)
    written: str = ""
    error: str | None = None
    text: str = ""
    traceback: str = ""

    def take(self, message: dict[str, Any]) -> None:
        kind, content = message["header"]["msg_type"], message["content"]
        if kind in ("display_data", "update_display_data", "execute_result"):
            self.shown.append(content["data"])
        elif kind == "stream":
            self.written += content["text"]
        elif kind == "error":
            self.error, self.text = content["ename"], content["evalue"]
            self.traceback = "\n".join(content["traceback"])

    @property
    def value(self) -> str:
        assert self.error is None, self.traceback
        return self.shown[-1]["text/plain"]


@attrs.frozen
class Kernel:
    """A kernel and its client."""

    manager: KernelManager
    _client: BlockingKernelClient

    def run(self, code: str) -> Cell:
        """Run a cell and wait for its end."""
        return self.end(self.begin(code))

    def begin(self, code: str) -> str:
        """Start to run a cell."""
        return self._client.execute(dedent(code), store_history=False)

    def end(self, cell_id: str) -> Cell:
        """Wait for the end of a started cell."""
        cell = Cell()
        while True:
            message = self._client.get_iopub_msg(timeout=LONGEST)
            if message["parent_header"].get("msg_id") == cell_id:
                cell.take(message)
                if message["content"].get("execution_state") == "idle":
                    return cell


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=LONGEST)
    yield Kernel(manager, client)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.fixture
def both(kernel: Kernel) -> Kernel:
    """A kernel with a sync and an async client for a fake service in the kernel."""
    made = kernel.run("""
        import asyncio
        from adclient.testing import FakeAdService

        service = FakeAdService()
        client, async_client = service.client(), service.async_client()
    """)
    assert made.error is None, made.traceback
    return kernel


def test_both_clients_work_in_successive_cells_with_a_running_loop(both: Kernel) -> None:
    cell = both.run(f"""
        first = await async_client.{PAUSE}
        second = client.{PAUSE}
        third = await async_client.{PAUSE}
        asyncio.get_running_loop().is_running(), second.diff.after, len(service.drafts)
    """)
    assert cell.value == "(True, 'PAUSED', 3)"
    cell = both.run("""
        listing = async_client.gamma.list_ads(account_id="account_c3d8")
        len([ad async for ad in listing]), len(await listing.collect())
    """)
    assert cell.value == "(126, 126)"
    [bundle] = both.run("async_client").shown  # as text and as HTML
    assert bundle["text/plain"].startswith("<AsyncAdClient")
    assert "AsyncAdClient" in bundle["text/html"]


@pytest.fixture
def fake() -> FakeAdService:
    return FakeAdService()


@pytest.fixture
def served(kernel: Kernel, fake: FakeAdService) -> Iterator[Kernel]:
    """A kernel with clients for a service over HTTP, which have one connection each.

    Its loop ticks, because ipykernel ends an interrupted `await` only when the loop wakes up.
    """
    with serving(fake) as url:
        made = kernel.run(f"""
            import asyncio
            from adclient import AdClient, AsyncAdClient

            client = AdClient("{url}", max_concurrency=1, timeout=30)
            async_client = AsyncAdClient("{url}", max_concurrency=1, timeout=30)

            async def tick():
                while True:
                    await asyncio.sleep(0.02)

            ticking = asyncio.create_task(tick())
        """)
        assert made.error is None, made.traceback
        yield kernel
        kernel.run("ticking.cancel(); client.close(); await async_client.aclose()")


def interrupted(kernel: Kernel, fake: FakeAdService, code: str, *, call: int = 1) -> Cell:
    """Run a cell and interrupt it in a call that gets no response."""
    fake.faults.add(Fault.no_response(), call=call)
    cell_id = kernel.begin(code)
    end = time.monotonic() + LONGEST
    while fake.faults.pending:
        assert time.monotonic() < end, "the request never came"
        time.sleep(0.01)
    kernel.manager.interrupt_kernel()
    return kernel.end(cell_id)


READ = "beta.list_campaigns(account_id='account_b7e0')"


@each_case("client", "client", "await async_client")
def test_client_is_usable_after_an_interrupted_cell(served, fake, client) -> None:
    # There is only one slot, so a lost one would be noticed.
    for call, expression, expected in [
        (READ, "len(_.data)", "4"),
        (PAUSE, "_.diff.after", "'PAUSED'"),
    ]:
        cell = interrupted(served, fake, f"{client}.{call}")
        assert cell.error in ("KeyboardInterrupt", "CancelledError"), cell.traceback
        assert served.run(f"_ = {client}.{call}\n{expression}").value == expected


BEGIN = """
from adclient import *
from adclient.testing import FakeAdService
fake = FakeAdService()
client, other = fake.client(), fake.async_client()
draft = client.alpha.update_campaign_budget(
    account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=120
)
page = client.gamma.list_ads(account_id="account_c3d8")
"""


class Shell:
    """An in-process IPython shell: the output of cells and of `?`."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell

    def run(self, cell: str) -> str:
        """Run a cell, or a query such as `Draft?`, and return what it prints."""
        with capture_output() as printed:
            self._shell.run_cell(cell)
        return printed.stdout


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERM", "dumb")  # it has no pager
        for name in ("displayhook", "excepthook"):
            patch.setattr(sys, name, getattr(sys, name))
        patch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        shell = InteractiveShell(config=config, ipython_dir=str(tmp_path_factory.mktemp("ipython")))
        opened = Shell(shell)
        assert opened.run(BEGIN) == ""
        yield opened
        shell.restore_sys_module_state()


# Help.


def test_help_of_a_method_has_its_signature_and_an_example(shell) -> None:
    output = shell.run("client.alpha.update_campaign_budget?")
    output = output.replace("Optional[ObjectLike]", "ObjectLike | None")  # of Python 3.11
    assert output.startswith("""\
Signature:
client.alpha.update_campaign_budget(
    *,
    account_id: str,
    campaign_id: str,
    daily_budget: int | float | decimal.Decimal | None = None,
    fields: ObjectLike | None = None,
) -> adclient.models.Draft
Docstring:
Stage a change to a campaign's daily budget.
""")
    assert ">>> draft = client.alpha.update_campaign_budget(\n" in output
    assert re.search(r"^File: .*namespaces\.py$", output, re.MULTILINE)


# Tracebacks.


@each_case(
    ("mode", "cell", "method"),
    ("Verbose", "client.beta.pause_campaign(account_id='a', campaign_id='c')", ["pause"]),
    ("Context", "await other.beta.pause_campaign(account_id='a', campaign_id='c')", ["pause"]),
    ("Context", "client.beta.list_campaigns(account_id='a')", ["list_campaigns"]),
    ("Verbose", "[ad async for ad in other.beta.list_campaigns(account_id='a')]", []),
)
def test_ipython_traceback_has_no_library_frames(shell, mode, cell, method) -> None:
    shell.run(f"%xmode {mode}")
    output = shell.run(cell)
    assert cell in output
    assert re.search(r"^(adclient\.errors\.)?NotFound: beta\.\w+: 404 ", output, re.MULTILINE)
    assert len(re.findall(r"return (?:await )?self\._engine\.", output)) == len(method)
    assert all(name in output for name in method)
    assert set(re.findall(r"\w+\.py\b", output)) == ({"namespaces.py"} if method else set())
