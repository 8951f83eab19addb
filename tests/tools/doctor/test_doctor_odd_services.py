"""The doctor on services that are odd in ways that a careful human would see through."""

from operator import attrgetter

import httpx
from cases import each_case
from doctor_services import examined_by
from odd_services import ACCOUNT, SERVICES

from adclient import AdClient
from adclient.extend import READS


@each_case("name", *SERVICES)
def test_odd_service_is_read_as_a_whole_or_reported(name, tmp_path) -> None:
    odd = SERVICES[name]
    transport = httpx.MockTransport(odd.handle)
    report = examined_by(transport, timeout=3600)
    assert report.exit_code == odd.code, str(report)
    assert odd.problem in " ".join(report.problems), str(report)
    assert report.sent <= 100
    assert odd.strangers <= 2
    report.save(tmp_path / "service.toml", replace=True)
    checked = examined_by(transport, timeout=3600, service=tmp_path / "service.toml")
    assert bool(checked.problems) is (odd.code == 1)
    assert odd.code == 1 or checked.sent <= 10
    assert checked.changes(tmp_path / "service.toml") == ()
    if odd.code == 0:
        found = report.conventions()
        assert found.cursor_parameter == odd.name
        client = AdClient("https://a.example", transport=transport, conventions=found)
        for read in READS:
            listing = attrgetter(read)(client)(account_id=ACCOUNT)
            assert [each.id for each in listing] == [each["id"] for each in odd.rows(read)]
