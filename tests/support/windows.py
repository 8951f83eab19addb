"""Run code in a process of its own that lacks what Windows lacks."""

import os
import subprocess
import sys
from pathlib import Path

_LIKE_WINDOWS = Path(__file__).with_name("like_windows")


def run_like_windows(code: str, *arguments: str) -> str:
    """Return what the code prints, with the encoding that a pipe has on Windows."""
    path = os.pathsep.join(filter(None, [str(_LIKE_WINDOWS), os.environ.get("PYTHONPATH")]))
    env = os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": "cp1252"}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=env, capture_output=True, timeout=40)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()
