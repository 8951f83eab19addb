"""What a shared gate must do in several processes.

tests/tools imports these tests for SQLite, and tests/acceptance for PostgreSQL. Both have the
fixture `where`, a place without a ledger.
"""

import os
import subprocess
import sys
import time

import pytest
from gate_service import Reader, RecordingService, read_all, serving

from adclient.ledger import open_ledger
from adclient.ledger.gate_database import State


def of_four_processes(service: RecordingService, where: str, **options) -> list[Reader]:
    """Two with threads and two with tasks."""
    return [Reader(service.url, where, bool(number % 2), **options) for number in range(4)]


def test_no_process_sends_during_a_pause(where) -> None:
    with serving(RecordingService(refuses=20, delay=0.01)) as service:
        errors = read_all(*of_four_processes(service, where, threads=3, calls=8))
    assert errors == []
    assert len(service.arrivals) == 4 * 3 * 8 + 1
    # The address of the service was part of the key.
    states = list[State]()
    database = open_ledger(where).__gate__()
    key = f"\\n{service.url}\\na"
    database.use(key, states.append, time.monotonic() + 5, is_read=True)
    began, ended = states[0].paused_at, states[0].paused_until
    assert ended - began == pytest.approx(1, abs=0.01)
    during = [at - began for at in service.arrivals if began < at < ended]
    # Of each other thread or task, one request may have been under way when the pause began.
    assert len(during) < 12
    assert max([0, *during]) < 0.3
    assert service.arrivals[-1] > ended


def test_processes_together_respect_the_requests_per_second(where) -> None:
    rate = 20
    with serving(RecordingService()) as service:
        errors = read_all(*of_four_processes(service, where, calls=4, per_second=rate))
    assert errors == []
    arrivals = service.arrivals
    assert len(arrivals) == 32
    for first, at in enumerate(arrivals):
        for count, other in enumerate(arrivals[first:], start=1):
            # A tenth of a second is allowed. The rest is for a request that a busy machine delays:
            # by themselves, the processes would send four times as many.
            assert count <= rate * (other - at + 0.6) + 1


# Parent and child take turns, while a thread of the parent uses the gate all the time.
FORKING = """
import os, sys, threading
import httpx
from adclient import AdClient, SharedGate
from adclient.ledger import open_ledger

gate = SharedGate(open_ledger(sys.argv[1]), per_second=5000)
body = b'{"data": [], "page": {"next": null}}'
answer = lambda request: httpx.Response(200, content=body)
client = AdClient("https://ads.example.com", transport=httpx.MockTransport(answer), gate=gate)
is_over = threading.Event()

def read():
    client.alpha.explain_objectives(account_id="a")

def read_on():
    while not is_over.is_set():
        read()

read()  # so that no fork hits an import
thread = threading.Thread(target=read_on)
thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        for _ in range(5):
            read()
        os._exit(7)
    read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
is_over.set()
thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_gate_can_be_used_on_both_sides_of_a_fork(where) -> None:
    # Newer Pythons warn of any fork beside a thread.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKING, where]
    run = subprocess.run(command, capture_output=True, text=True, timeout=50)
    assert (run.returncode, run.stderr) == (0, "")
