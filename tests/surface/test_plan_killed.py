"""Processes that stage one plan, together, and are killed in the middle of it."""

import random
import subprocess
import sys
import time

from plans import pause, plan_of

from adclient import AdClient, Plan
from adclient.ledger import SQLiteLedger
from adclient.testing import FakeAdService
from adclient.testing.server import serving

STAGE = """
import sys
from adclient import AdClient, Plan
from adclient.ledger import SQLiteLedger

url, plan, ledger = sys.argv[1:]
with AdClient(url, ledger=SQLiteLedger(ledger)) as client:
    sys.exit(Plan.read(plan).stage(client).exit_code)
"""
CHANGES = 12


def pytest_generate_tests(metafunc) -> None:
    metafunc.parametrize("seed", range(metafunc.config.getoption("seeds")))


def test_plan_whose_processes_are_killed_can_be_run_again(tmp_path, seed) -> None:
    fake, chance = FakeAdService(), random.Random(seed)
    listed = fake.client().beta.list_campaigns(account_id="account_b204").items()
    running = [each.id for each in listed if each.status == "ENABLED"][:CHANGES]
    plan_of(tmp_path, *map(pause, running))
    plan, ledger, reads = tmp_path / "changes.toml", tmp_path / "drafts.db", len(fake.requests)
    with serving(fake) as url:
        command = [sys.executable, "-c", STAGE, url, plan, ledger]
        killed, other = subprocess.Popen(command), subprocess.Popen(command)
        try:
            when, deadline = chance.randrange(CHANGES), time.monotonic() + 30
            while len(fake.requests) <= reads + when and time.monotonic() < deadline:
                time.sleep(0.0005 * chance.random())
        finally:
            killed.kill()
        assert {killed.wait(30), other.wait(30)} <= {-9, 0, 5}
        with AdClient(url, ledger=SQLiteLedger(ledger)) as client:
            report = Plan.read(plan).stage(client)
    drafts = {draft.target: draft.draft_id for draft in fake.drafts}
    assert len(drafts) == len(fake.drafts), "a change was staged twice"
    unknown = [change for change in report.changes if change.verdict == "unknown"]
    assert len(unknown) <= 1, "one process was killed, in at most one call"
    for change in report.changes:
        if change not in unknown:
            assert change.verdict in ("staged", "already staged")
            assert drafts[change.target_id] == change.draft_id
