"""What a shared gate must do in several processes.

tests/surface imports these tests for SQLite, and tests/acceptance for PostgreSQL. Both have the
fixture `where`, a place without a ledger.
"""

import subprocess
import sys
import time

import pytest
from gate_service import Reader, RecordingService, read_all, serving, started

from adclient import AdClient, CallTimeout, RetryPolicy, SharedGate
from adclient._core.call import validated
from adclient._core.operations import OPERATIONS
from adclient.ledger import open_ledger
from adclient.options import Options


def of_four_processes(service: RecordingService, where: str, **options) -> list[Reader]:
    """Two with threads and two with tasks."""
    return [Reader(service.url, where, bool(number % 2), **options) for number in range(4)]


def test_no_process_sends_during_a_pause(where) -> None:
    database = open_ledger(where).__gate__()
    database.execute(["SELECT 1"], {})  # a later connection would remove the row of the pause
    with serving(RecordingService(refuses=20, delay=0.01)) as service:
        errors = read_all(*of_four_processes(service, where, threads=3, calls=8))
    assert errors == []
    assert len(service.arrivals) == 4 * 3 * 8 + 1
    [began, ended] = database.execute(["SELECT paused_at, paused_until FROM adclient_gate"], {})
    database.close()
    assert ended - began == pytest.approx(1, abs=0.01)
    during = [at - began for at in service.arrivals if began < at < ended]
    # Of each other thread or task, one request may have been under way when the pause began.
    assert len(during) < 12
    assert max([0, *during]) < 0.3
    assert service.arrivals[-1] > ended


def test_processes_together_respect_the_requests_per_second(where) -> None:
    caps = {"per_second": 20}
    with serving(RecordingService()) as service:
        errors = read_all(*of_four_processes(service, where, calls=4, caps=caps))
    assert errors == []
    arrivals = service.arrivals
    assert len(arrivals) == 32
    for first, at in enumerate(arrivals):
        for count, other in enumerate(arrivals[first:], start=1):
            # A tenth of a second is allowed, and another one is for the way of a request.
            assert count <= 20 * (other - at + 0.2) + 1
    assert arrivals[-1] - arrivals[0] < 3


def test_processes_together_respect_the_requests_at_once(where) -> None:
    caps = {"at_once": 3}
    with serving(RecordingService(delay=0.02)) as service:
        errors = read_all(*of_four_processes(service, where, calls=4, caps=caps))
    assert errors == []
    assert len(service.arrivals) == 32
    assert service.most_at_once == 3


def test_call_that_asked_first_is_sent_first(where) -> None:
    gate = SharedGate(open_ledger(where), at_once=1)
    operation = next(it for it in OPERATIONS if it.full_name == "alpha.explain_objectives")
    call = validated(operation, {"account_id": "a"})
    options = Options(base_url="https://ads.example.com")
    under_way, first, second = (gate.__ticket__(call, options) for _ in range(3))

    def is_sent(ticket) -> bool:
        ticket.asking(30, None, 0.5)()
        return ticket.answer is None

    assert is_sent(under_way)
    assert not is_sent(first)
    assert not is_sent(second)
    under_way.leaving(None)()
    assert not is_sent(second)
    assert is_sent(first)
    first.leaving(None)()
    assert not is_sent(under_way)  # again, behind the one that waits
    assert is_sent(second)
    gate.close()


def test_killed_process_blocks_others_until_the_end_of_its_attempt(where) -> None:
    caps = {"at_once": 1}
    short = RetryPolicy(attempt_timeout=0.5)
    gate = SharedGate(open_ledger(where), **caps)
    with serving(RecordingService(hangs=True)) as service:
        reader = Reader(service.url, where, threads=1, retry=short, caps=caps)
        with AdClient(service.url, gate=gate) as client, started(reader) as [(process, _)]:
            while not service.arrivals:
                time.sleep(0.001)
            process.kill()
            service.hangs = False
            with pytest.raises(CallTimeout, match=r"no place free in time \(1 at once\)") as late:
                client.with_options(timeout=0.2).alpha.explain_objectives(account_id="a")
            assert (late.value.attempts, late.value.retry_after) == (0, None)
            client.alpha.explain_objectives(account_id="a")
    assert 1 < service.arrivals[1] - service.arrivals[0] < 2
    gate.close()


# Parent and child take turns, while a thread of the parent uses the gate all the time.
FORKING = """
import os, sys, threading
import httpx
from adclient import AdClient, SharedGate
from adclient.ledger import open_ledger

gate = SharedGate(open_ledger(sys.argv[1]), at_once=5)
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
gate.close()
"""


def test_gate_can_be_used_on_both_sides_of_a_fork(where) -> None:
    command = [sys.executable, "-c", FORKING, where]
    run = subprocess.run(command, capture_output=True, text=True, timeout=50)
    assert (run.returncode, run.stderr) == (0, "")
