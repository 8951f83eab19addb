"""The loop over ten foreign services: find out, keep, use, fake, watch."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import anyio
import attrs
import pytest
from foreign_services import NAMES, READS, ForeignService, foreign_service

from adclient import AdClient, AsyncAdClient, SQLiteLedger
from adclient._service.model import Shape
from adclient._service.reading import read_service
from adclient._service.shapes import shapes_of
from adclient.testing import FakeAdService

VARIABLE = "ADS_SECRET"
# In one service, two ways to continue were told apart only by what they lead to.
pytestmark = pytest.mark.filterwarnings("ignore:.*only likely, not observed")


@attrs.frozen
class Examined:
    """A running service, and what the doctor has written about it."""

    service: ForeignService
    path: Path
    environment: dict[str, str]

    def doctor(self, *options: str) -> subprocess.CompletedProcess[str]:
        return doctor(self.service, self.environment, *options)

    def account(self, read: str) -> str:
        return self.service.accounts[read.partition(".")[0]]


def doctor(service: ForeignService, environment: dict[str, str], *options: str):
    """Run the command as a user does."""
    command = [sys.executable, "-m", "adclient", "doctor", service.url, *options]
    for account in dict.fromkeys(service.accounts.values()):
        command += ["--account", account]
    if service.token is not None:
        command += ["--token-env", VARIABLE]
        if service.header != "Authorization":
            command += ["--token-header", service.header]
        if service.scheme not in (None, "Bearer"):
            command += ["--auth-scheme", service.scheme]
    for name, value in service.headers.items():
        command += ["--header", f"{name}: {value}"]
    if service.ca is not None:
        command += ["--ca-file", str(service.ca)]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=150
    )


@pytest.fixture(scope="module", params=NAMES)
def examined(request, tmp_path_factory) -> Iterator[Examined]:
    path = tmp_path_factory.mktemp(request.param) / "service.toml"
    with foreign_service(request.param) as service, pytest.MonkeyPatch.context() as patch:
        if service.token is not None:
            patch.setenv(VARIABLE, service.token)
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
        found = doctor(service, environment, "--save", str(path))
        assert found.returncode == 0, found.stdout + found.stderr
        yield Examined(service, path, environment)


def read_all(client: AdClient, examined: Examined) -> dict[str, list]:
    return {
        read: client_read(account_id=examined.account(read)).collect()
        for read in READS
        for client_read in [attrgetter(read)(client)]
    }


def ids(items: dict[str, list]) -> dict[str, list[str]]:
    return {read: [item.id for item in each] for read, each in items.items()}


def types_of(items) -> dict[str, tuple]:
    """The fields of items, with their types."""

    def outline(shapes: dict[str, Shape]) -> dict[str, tuple]:
        return {
            name: (shape.types, shape.is_optional, outline(shape.properties))
            for name, shape in sorted(shapes.items())
        }

    rows = [item.to_dict() for item in items]
    return outline(shapes_of(rows, keep_texts=False, ids={}))


def test_client_of_the_file_reads_every_listing_to_its_end(examined) -> None:
    with AdClient.from_service(examined.path) as client:
        assert ids(read_all(client, examined)) == examined.service.items


def test_async_client_of_the_file_reads_every_listing_to_its_end(examined) -> None:
    async def read() -> dict[str, list[str]]:
        found = {}
        async with AsyncAdClient.from_service(examined.path) as client:
            for name in READS:
                listing = attrgetter(name)(client)(account_id=examined.account(name))
                found[name] = [item.id async for item in listing]
        return found

    assert anyio.run(read) == examined.service.items


def test_outcomes_of_drafts_are_what_the_listings_show(examined, tmp_path) -> None:
    """No draft takes effect here, as nobody approves one."""
    beta = examined.account("beta.list_campaigns")
    ledger = SQLiteLedger(tmp_path / "drafts.db")
    with AdClient.from_service(examined.path, ledger=ledger) as client:
        campaigns = client.beta.list_campaigns(account_id=beta).collect()
        campaign = [each for each in campaigns if each.status != "PAUSED"][-1]
        client.beta.pause_campaign(account_id=beta, campaign_id=campaign.id)
        client.delta.update_keyword(
            account_id=examined.account("delta.analyze_wasted_spend"), keywords=["x"]
        )
        paused, keyword = ledger.outcomes(client)
    assert (paused.state, paused.seen) == ("not seen", campaign.status)
    assert keyword.text == "cannot be read: no read finds what delta.update_keyword changes"


def test_file_holds_no_secret_and_no_text_of_an_item(examined) -> None:
    text = examined.path.read_text("utf-8")
    assert examined.service.token is None or examined.service.token not in text
    with AdClient.from_service(examined.path) as client:
        for items in read_all(client, examined).values():
            for item in items:
                assert f'"{item.id}"' not in text
                assert item.name is None or f'"{item.name}"' not in text


def test_page_size_that_the_file_suggests_loses_no_item(examined, tmp_path) -> None:
    text = examined.path.read_text("utf-8")
    suggested = re.findall(r"(?m)^# page_size = \{ (.*) = \d+ \}", text)
    assert {*suggested} == ({"limit"} if examined.service.name == "node" else set())
    path = tmp_path / "service.toml"
    path.write_text(re.sub(r"(?m)^# (?=\[|page_size)", "", text), "utf-8")
    with AdClient.from_service(path) as client:
        assert ids(read_all(client, examined)) == examined.service.items


def test_fake_of_the_file_has_the_same_fields_and_sizes(examined) -> None:
    known = read_service(examined.path)
    with AdClient.from_service(examined.path) as client:
        theirs = read_all(client, examined)
    with FakeAdService.like(examined.path).client() as client:
        faked = read_all(client, examined)
    for read in READS:
        assert known.listings[read].is_complete
        assert len(faked[read]) == len(theirs[read]), read
        assert types_of(faked[read]) == types_of(theirs[read]), read


def test_doctor_finds_the_fake_like_the_service(examined) -> None:
    """The fake behaves as the service does, as far as the doctor can tell."""
    from adclient.doctor import examine

    fake = FakeAdService.like(examined.path)
    known = read_service(examined.path)
    report = examine(
        fake.base_url,
        account_id=list(known.accounts),
        auth=fake._server.auth_headers if known.auth is not None else None,
        transport=fake.transport,
    )
    assert report.problems == ()
    assert report.conventions() == known.conventions


def test_check_is_silent_on_the_same_service_and_loud_on_a_changed_one(examined) -> None:
    same = examined.doctor("--check", str(examined.path))
    assert same.returncode == 0, same.stdout + same.stderr
    assert same.stdout == "Changes\n  none\n"
    with foreign_service(examined.service.name, changed=True) as service:
        changed = doctor(service, examined.environment, "--check", str(examined.path))
    assert changed.returncode == 6, changed.stdout + changed.stderr
    assert len(changed.stdout.splitlines()) > 1
    assert examined.service.token is None or examined.service.token not in changed.stdout
