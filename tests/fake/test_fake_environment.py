"""Code that makes its clients from the environment, against the fake and unchanged."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from cases import each_case
from clients import SYNC, each_client_class, sync_and_async, wait

from adclient import AdClient, AsyncAdClient, ConfigurationError, _pyinstaller
from adclient.errors import AdClientError
from adclient.testing import FakeAdService, Fault

NAMES = ("ADCLIENT_BASE_URL", "ADCLIENT_TOKEN")
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture(autouse=True)
def _other_settings(monkeypatch) -> None:
    """What a developer may have set for the real service."""
    for name, value in zip(NAMES, (NOWHERE, "real"), strict=True):
        monkeypatch.setenv(name, value)


def pause(client: AdClient | AsyncAdClient):
    """The code under test."""
    return client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")


@each_case("token", "t0ken", None)
@sync_and_async
async def test_client_from_the_environment_reaches_the_fake(client_kind, token) -> None:
    with FakeAdService(token=token).as_environment() as fake:
        assert [os.environ.get(name) for name in NAMES] == [fake.base_url, token or ""]
        fake.faults.add(Fault.status(429, headers={"Retry-After": "20"}))
        client = client_kind.client()
        draft = await wait(pause(client))
    assert [staged.draft_id for staged in fake.drafts] == [draft.draft_id]
    assert fake.requests[0].headers.get("authorization") == (token and f"Bearer {token}")
    assert fake.clock.sleeps == (20.5,)
    await wait(pause(client))
    assert len(fake.drafts) == 2, "it keeps its fake after the block"


@sync_and_async
async def test_client_with_another_address_or_sender_does_not_reach_the_fake(client_kind) -> None:
    with FakeAdService().as_environment() as fake:
        with pytest.raises(AdClientError, match="cannot be reached"):
            await wait(pause(client_kind.client(NOWHERE, max_retries=0)))
        own = fake.client if client_kind is SYNC else fake.async_client
        way = {"transport": httpx.MockTransport(lambda _: httpx.Response(418)), "max_retries": 0}
        for client in (client_kind.client(**way), own(**way, base_url=fake.base_url)):
            with pytest.raises(AdClientError, match="418"):
                await wait(pause(client))
    assert fake.requests == ()


@each_case("address", "https://fake.adclient.test", "http://fake.adclient.test:8/x")
@each_client_class
def test_address_of_the_fake_is_refused_elsewhere_with_a_hint(client_class, address) -> None:
    with pytest.raises(ConfigurationError, match=r"no real address; use fake\.client") as caught:
        client_class(address)
    assert caught.value.argument == "base_url"


def test_files_are_read_without_open_and_packed_by_pyinstaller() -> None:
    program = (
        "import builtins, io, pathlib, adclient.pytest_plugin\n"
        "builtins.open = io.open = pathlib.Path.open = None  # such as under pyfakefs\n"
        "from adclient.testing import FakeAdService\n"
        "FakeAdService().client().gamma.search_targeting(account_id='account_c3d8')"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    [folder] = _pyinstaller.hook_dirs()
    packed = runpy.run_path(f"{folder}/hook-adclient.py")["datas"]
    places = {Path(path).name: Path(place).as_posix() for path, place in packed}
    assert places["errors.json"] == "adclient/testing/_fake/data"
    assert {Path(name).suffix for name in places} == {".css", ".html", ".js", ".json", ".svg"}
