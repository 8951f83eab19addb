"""How a row is measured that is about whole processes of a peer, or about what is installed."""

import subprocess
import time
from importlib.metadata import distributions
from pathlib import Path

from field.environments import Environment
from field.peers import Peer
from field.rows import Row

HERE = Path(__file__).parent.parent

_FIRST_ANSWER = """
import sys
from importlib import import_module
contestant = import_module(sys.argv[1])
client = contestant.Client(sys.argv[2])
assert len(client.ids(client.page())) == 10
"""

# The memory in use, which is what the system has given to the process, not what was asked for.
_PEAK = """
import sys
from collections import deque
from importlib import import_module
def peak():
    with open("/proc/self/status") as status:
        return int(status.read().split("VmHWM:")[1].split()[0]) * 1024
contestant = import_module(sys.argv[1])
few = contestant.Client(sys.argv[2])
assert len(contestant.ids(few.page())) == 10
before = peak()
last = deque(getattr(contestant.Client(sys.argv[3]), sys.argv[4])(), maxlen=1)
assert last, "the listing was empty"
print(peak() - before)
"""


class Process:
    """One row for one peer, measured from outside."""

    def __init__(self, peer: Peer, environment: Environment, service: str, row: Row) -> None:
        self._peer, self._environment, self._row = peer, environment, row
        self._contestant = f"field.contestants.{peer.module}"
        self._service = f"{service}/{peer.shape}"

    def run(self, times: int) -> tuple[float | tuple[float, int], None]:
        raise NotImplementedError

    def _seconds(self, code: str, *arguments: str) -> float:
        """Seconds from the start of a process to the end of its work."""
        command = [self._environment.python, "-c", f"{code}\nprint(flush=True)", *arguments]
        began = time.perf_counter()
        with subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            answer = process.stdout.readline()
            took = time.perf_counter() - began
        if not answer or process.returncode:
            raise RuntimeError(f"{self._peer.name}: the process failed")
        return took


class Import(Process):
    """Seconds of the import, without those of the interpreter."""

    @property
    def imports(self) -> str:
        return self._peer.imports

    def run(self, times: int) -> tuple[float, None]:
        both = ((self.imports, 1), ("pass", -1))
        return sum(sign * self._seconds(code) for code, sign in both * times) / times, None


class ImportOfTheClient(Import):
    """The same up to the class that a program needs; adclient loads it when it is named."""

    @property
    def imports(self) -> str:
        return self._peer.imports_client or self._peer.imports


class FirstResponse(Process):
    """Seconds from the start of a process to the first response of the service."""

    def run(self, times: int) -> tuple[float, None]:
        url = f"{self._service}/ten"
        took = (self._seconds(_FIRST_ANSWER, self._contestant, url) for _ in range(times))
        return sum(took) / times, None


class Memory(Process):
    """The peak of resident memory during a listing, in bytes above that of a first call."""

    def run(self, times: int) -> tuple[float, None]:  # noqa: ARG002
        urls = f"{self._service}/ten", f"{self._service}/{self._row.holding}"
        command = [self._environment.python, "-c", _PEAK, self._contestant, *urls, self._row.call]
        done = subprocess.run(command, cwd=HERE, stdout=subprocess.PIPE, check=False)
        if done.returncode:
            raise RuntimeError(f"{self._peer.name}: the process failed")
        return float(done.stdout), None


class Installed(Process):
    """Megabytes and number of what was installed for the peer."""

    def run(self, times: int) -> tuple[tuple[float, int], None]:  # noqa: ARG002
        path = [str(self._environment.libraries)]
        # What makes an environment does not count.
        found = [one for one in distributions(path=path) if one.name not in ("pip", "setuptools")]
        files = {Path(str(file.locate())) for one in found for file in one.files or ()}
        kept = [file for file in files if file.is_file() and file.suffix != ".pyc"]
        return (sum(file.stat().st_size for file in kept) / 1e6, len(found)), None
