"""What `adclient.testing` names is public."""

import inspect

from adclient import testing
from adclient.testing import FakeAdService, Fault


def test_all_is_exact_and_sorted():
    public = {name for name, value in vars(testing).items() if inspect.isclass(value)}
    assert testing.__all__ == sorted(public)


def test_reprs_of_faults_clock_and_dashboard():
    fake = FakeAdService()
    fake.faults.add(Fault.refused())
    fake.clock.advance(90)
    assert repr(fake.faults) == "<Faults, 1 to come>"
    assert repr(fake.clock) == "<FakeClock 2026-03-02 09:01:30 UTC>"
    assert repr(fake.dashboard) == "<Dashboard, 0 waiting>"
