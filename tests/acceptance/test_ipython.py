"""Help and tracebacks in IPython."""

import re
import sys

import pytest
from cases import each_case
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

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
