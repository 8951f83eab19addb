"""Code that makes its clients from the environment, against the fake and unchanged."""

import asyncio
import os
import runpy
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from cases import each_case
from fake_helpers import CLIENT_KINDS

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


def settings() -> list[str | None]:
    return [os.environ.get(name) for name in NAMES]


def made(client_kind: str, *arguments, **options) -> AdClient | AsyncAdClient:
    return (AdClient if client_kind == "sync" else AsyncAdClient)(*arguments, **options)


def pause(client: AdClient | AsyncAdClient) -> str:
    """The code under test."""
    call = client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")

    async def paused() -> str:
        return (await call).draft_id

    return call.draft_id if isinstance(client, AdClient) else asyncio.run(paused())


@CLIENT_KINDS
@pytest.mark.parametrize("token", ["t0ken", None])
def test_client_from_the_environment_reaches_the_fake_by_its_clock(client_kind, token) -> None:
    with FakeAdService(token=token).as_environment() as fake:
        assert settings() == [fake.base_url, token or ""]
        fake.faults.add(Fault.status(429, headers={"Retry-After": "20"}))
        client = made(client_kind)
        draft_id = pause(client)
    assert [draft.draft_id for draft in fake.drafts] == [draft_id]
    assert fake.requests[0].headers.get("authorization") == (token and f"Bearer {token}")
    assert fake.clock.sleeps == (20.5,)
    pause(client)
    assert len(fake.drafts) == 2, "it keeps its fake after the block"


@CLIENT_KINDS
def test_client_with_another_address_or_sender_does_not_reach_the_fake(client_kind) -> None:
    with FakeAdService().as_environment() as fake:
        with pytest.raises(AdClientError, match="cannot be reached"):
            pause(made(client_kind, NOWHERE, max_retries=0))
        own = fake.client if client_kind == "sync" else fake.async_client
        way = {"transport": httpx.MockTransport(lambda _: httpx.Response(418)), "max_retries": 0}
        for client in (made(client_kind, **way), own(**way, base_url=fake.base_url)):
            with pytest.raises(AdClientError, match="418"):
                pause(client)
    assert fake.requests == ()


@each_case("address", "https://fake.adclient.test", "http://fake.adclient.test:8/x")
@each_case("client_kind", "sync", "async")
def test_address_of_the_fake_is_refused_elsewhere_with_a_hint(client_kind, address) -> None:
    with pytest.raises(ConfigurationError, match=r"no real address; use fake\.client") as caught:
        made(client_kind, address)
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
