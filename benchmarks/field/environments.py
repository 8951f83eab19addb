"""The virtual environments of the peers, under a folder that git ignores."""

import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from field.peers import Peer

CHECKOUT = Path(__file__).parents[2]
CACHE = CHECKOUT / "benchmarks" / ".cache" / f"{sys.version_info.major}.{sys.version_info.minor}"

_DUMP = """
import json
from adclient.testing.server import openapi
print(json.dumps(openapi.document()))
"""


@dataclass(frozen=True)
class Environment:
    """An environment that has what a peer needs."""

    folder: Path

    @property
    def python(self) -> str:
        windows = self.folder / "Scripts" / "python.exe"
        return str(windows if windows.exists() else self.folder / "bin" / "python")

    @property
    def libraries(self) -> Path:
        return next(path for path in self.folder.rglob("site-packages"))

    def install(self, *requirements: str) -> None:
        run([self.python, "-m", "pip", "install", "-q", *requirements])

    def holds(self, requirements: tuple[str, ...]) -> bool:
        """Whether these were installed; a peer is installed once and then kept."""
        stamp = self.folder / "installed.txt"
        return stamp.exists() and stamp.read_text("utf-8") == "\n".join(requirements)

    def note(self, requirements: tuple[str, ...]) -> None:
        (self.folder / "installed.txt").write_text("\n".join(requirements), "utf-8")


class Present:
    """The environment of this very process, whatever it has."""

    python = sys.executable

    def has(self, peer: Peer) -> bool:
        others = "".join(f"; import {each.partition('==')[0]}" for each in peer.more)
        code = f"import sys; sys.stderr = None; {peer.imports}{others}"
        return subprocess.run([self.python, "-c", code], check=False).returncode == 0


def environment_of(peer: Peer) -> Environment:
    """The environment of a peer, made if need be."""
    name, requirements = "+".join((peer.name, *peer.more)), (*peer.requirements, *peer.more)
    if peer.extra is not None:
        return _of_the_checkout(name, f"{CHECKOUT}{peer.extra}", *requirements)
    environment = Environment(CACHE / name)
    if not environment.holds(requirements):
        _make(environment)
        environment.install(*requirements)
        if peer.name == "generated":
            _generate(environment)
        environment.note(requirements)
    return environment


def _make(environment: Environment) -> None:
    shutil.rmtree(environment.folder, ignore_errors=True)
    venv.create(environment.folder, with_pip=True)


def _of_the_checkout(name: str, requirement: str, *others: str) -> Environment:
    """An environment with adclient as it is now, not as a link to the checkout."""
    environment = Environment(CACHE / name)
    _make(environment)
    environment.install(requirement, *others)
    return environment


def _generate(environment: Environment) -> None:
    """Let openapi-python-client write a client from the fake's document, as it is now."""
    tools = _of_the_checkout("generator", f"{CHECKOUT}[server]", "openapi-python-client==0.29.1")
    document = CACHE / "openapi.json"
    document.write_text(run([tools.python, "-c", _DUMP]), "utf-8")
    scripts = Path(tools.python).parent
    run(
        [
            str(scripts / "openapi-python-client"),
            *("generate", "--meta", "none", "--overwrite", "--path", str(document)),
            *("--output-path", str(environment.libraries / "generated_client")),
        ],
        path=scripts,
    )


def run(command: list[str], path: Path | None = None) -> str:
    """What a command prints; if it fails, what it complained about."""
    found = os.pathsep.join(filter(None, [str(path or ""), os.environ.get("PATH", "")]))
    done = subprocess.run(
        command,
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, "PATH": found},
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
