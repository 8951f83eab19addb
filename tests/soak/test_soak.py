"""A short soak test."""

import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).with_name("soak.py")
SHORT = ("--rounds", "2", "--workers", "10", "--timeout", "0.7")


@pytest.mark.parametrize("how", [("--calls", "90"), ("--calls", "45", "--keyed")])
def test_short_soak_breaks_no_rule(how) -> None:
    command = [sys.executable, str(SOAK), *SHORT, *how]
    done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "broken rules: 0" in done.stdout
