"""The loop over services of others: find out, keep, use, watch."""

import os
import subprocess
import sys
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import anyio
import attrs
import pytest
from foreign_services import NAMES, READS, ForeignService, foreign_service

from adclient import AdClient, AsyncAdClient

VARIABLE = "ADS_SECRET"
# In one service, two ways to continue were told apart only by what they lead to.
pytestmark = pytest.mark.filterwarnings("ignore:.*not certain")


@attrs.frozen
class Examined:
    """A running service, and what the doctor has written about it."""

    service: ForeignService
    path: Path

    def account(self, read: str) -> str:
        return self.service.accounts[read.partition(".")[0]]


def doctor(service: ForeignService, *options: str) -> subprocess.CompletedProcess[str]:
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
    if service.ca is not None:
        command += ["--ca-file", str(service.ca)]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=150
    )


@pytest.fixture(scope="module", params=NAMES)
def examined(request, tmp_path_factory) -> Iterator[Examined]:
    path = tmp_path_factory.mktemp(request.param) / "service.toml"
    with foreign_service(request.param) as service, pytest.MonkeyPatch.context() as patch:
        if service.token is not None:
            patch.setenv(VARIABLE, service.token)
        found = doctor(service, "--save", str(path))
        assert found.returncode == 0, found.stdout + found.stderr
        yield Examined(service, path)


def read_all(client: AdClient, examined: Examined) -> dict[str, list]:
    return {
        read: attrgetter(read)(client)(account_id=examined.account(read)).collect()
        for read in READS
    }


def ids(items: dict[str, list]) -> dict[str, list[str]]:
    return {read: [item.id for item in each] for read, each in items.items()}


def test_clients_of_the_file_read_every_listing_to_its_end(examined, tmp_path) -> None:
    with AdClient.from_service(examined.path) as client:
        found = read_all(client, examined)
    assert ids(found) == examined.service.items

    async def read() -> dict[str, list[str]]:
        async with AsyncAdClient.from_service(examined.path) as client:
            listings = {
                name: attrgetter(name)(client)(account_id=examined.account(name)) for name in READS
            }
            return ids({name: await listing.collect() for name, listing in listings.items()})

    assert anyio.run(read) == examined.service.items
    # No secret and no text of an item is in the file.
    text = examined.path.read_text("utf-8")
    secret = {examined.service.token} - {None}
    values = {
        f'"{value}"' for items in found.values() for it in items for value in (it.id, it.name)
    }
    assert not [value for value in values | secret if value in text]


def test_check_is_silent_on_the_same_service_and_loud_on_a_changed_one(examined) -> None:
    same = doctor(examined.service, "--check", str(examined.path))
    assert same.returncode == 0, same.stdout + same.stderr
    assert same.stdout == "Changes\n  none\n"
    with foreign_service(examined.service.name, changed=True) as service:
        changed = doctor(service, "--check", str(examined.path))
    assert changed.returncode == 6, changed.stdout + changed.stderr
    assert len(changed.stdout.splitlines()) > 1
    assert examined.service.token is None or examined.service.token not in changed.stdout
