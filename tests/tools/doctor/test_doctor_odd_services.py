"""The doctor on services that are odd in ways that a careful human would see through."""

import httpx
from cases import each_case
from doctor_services import examined_by
from odd_services import ACCOUNT, SERVICES

from adclient import AdClient
from adclient._survey.observation import READS


@each_case("name", SERVICES)
def test_odd_service_is_read_as_a_whole_or_reported(name) -> None:
    odd, exit_code, parameter, problem = SERVICES[name]
    transport = httpx.MockTransport(odd.handle)
    report = examined_by(transport)
    assert report.exit_code == exit_code, str(report)
    assert problem in " ".join(report.problems)
    assert report.sent <= 100
    assert odd.strangers <= 2
    if exit_code == 0:
        assert report.conventions().cursor_parameter == parameter
        client = AdClient(
            "https://a.example", transport=transport, conventions=report.conventions()
        )
        for read in READS:
            space, _, method = read.partition(".")
            listing = getattr(getattr(client, space), method)(account_id=ACCOUNT)
            assert [each.id for each in listing] == [each["id"] for each in odd.rows(read)]
