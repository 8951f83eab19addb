"""What a shared gate must do in several processes.

tests/tools imports these tests for SQLite, and tests/acceptance for PostgreSQL. Both have the
fixture `where`, a place without a ledger.
"""

import json
import time

import pytest
from forking import run
from ledger_processes import read_all
from raw_server import LISTING, Connection, RawServer, reply

from adclient._tasks.clock import monotonic
from adclient.extend import OPERATIONS, validated
from adclient.gate.databases import BURST, GateState
from adclient.ledger import open_ledger

PAUSE = 0.5
CALL = validated(OPERATIONS[-1], {"account_id": "a"})


def reserved(gate, longest: float = 30.0) -> float:
    """The seconds until a call has its turn, or may ask for one again."""
    return gate.__reserve__(CALL, "key", longest)


class RecordingServer(RawServer):
    """Notes when requests arrive, and refuses one of them with a `Retry-After`.

    `states` are those of the gate `where` when a request arrived after that.
    """

    def __init__(self, where: str = "", refuses: int = 0) -> None:
        self.arrivals: list[float] = []
        self.states: list[GateState] = []
        self._where, self._refuses = where, refuses
        super().__init__(self.answer)

    def answer(self, connection: Connection) -> None:
        while connection.read():
            with self.lock:
                self.arrivals.append(time.time())
                is_refused = len(self.arrivals) == self._refuses
                if 0 < self._refuses < len(self.arrivals):
                    # The address of the service was part of the key.
                    key, end = f"\\n{self.url}\\na", monotonic() + 5
                    gate = open_ledger(self._where).__gate__()
                    gate.use(key, lambda s: (self.states.append(s), None), end, is_read=True)
            if is_refused:
                connection.send(reply(429, b"{}", f"Retry-After: {PAUSE}"))
            else:
                connection.send(reply(200, json.dumps(LISTING).encode()))


def test_no_process_sends_during_a_pause(where) -> None:
    with RecordingServer(where, refuses=20) as server:
        assert read_all(server.url, where, threads=3, calls=8) == []
    assert len(server.arrivals) == 4 * 3 * 8 + 1
    *_, last = server.states
    assert last.paused_until - last.paused_at == pytest.approx(PAUSE, abs=0.01)
    # Of each other thread or task, one request may have been under way when the pause began.
    assert len([state for state in server.states if state.pause_left > 0]) < 12
    assert server.arrivals[-1] > last.paused_until


def test_processes_together_respect_the_requests_per_second(where) -> None:
    rate, began = 40, time.time()
    with RecordingServer() as server:
        assert read_all(server.url, where, threads=2, calls=4, per_second=rate) == []
    assert len(server.arrivals) == 32
    for number, at in enumerate(server.arrivals):  # by themselves, processes would send sooner
        assert at - began >= number / rate - BURST


def test_gate_can_be_used_on_both_sides_of_a_fork(where) -> None:
    """Parent and child take turns, while a thread of the parent uses the gate all the time."""
    run(
        """
from adclient.gate import SharedGate
from adclient._tasks.clock import monotonic
from adclient.ledger import open_ledger

gate = SharedGate(open_ledger(sys.argv[1]), per_second=5000)
transport = httpx.MockTransport(answered)
client = AdClient("https://ads.example.com", transport=transport, gate=gate)
is_over = threading.Event()

def read_on():
    while not is_over.is_set():
        read(client, "a")

read(client, "a")  # so that no fork hits an import
thread = threading.Thread(target=read_on)
thread.start()
for _ in range(5):
    in_a_child(lambda: [read(client, "a") for _ in range(5)])
    read(client, "a")
is_over.set()
thread.join()
""",
        where,
    )
