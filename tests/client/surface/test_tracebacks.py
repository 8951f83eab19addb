"""Tracebacks show the caller's line, the method that was called and the error, and nothing else."""

import asyncio
import traceback
from pathlib import Path

import httpx
import pytest
from clients import ASYNC, BASE_URL, SYNC, Service, sync_and_async, wait

import adclient
from adclient import Conventions, InvalidRequest, NotFound, OutcomeUnknown

PACKAGE = str(Path(adclient.__file__).parent)


def of_ours(error: BaseException) -> list[str]:
    """The functions of the library in a traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame.name for frame in frames if frame.filename.startswith(PACKAGE)]


def missing(times: int = 1) -> Service:
    return Service(*(httpx.Response(404, json={"error": "there is none"}) for _ in range(times)))


@sync_and_async
async def test_traceback_ends_at_the_method(client_kind) -> None:
    async with client_kind.open(transport=missing(2).transport) as client:
        beta = client.beta
        with pytest.raises(NotFound) as missed:
            await wait(beta.pause_campaign(account_id="a", campaign_id="c"))
        with pytest.raises(InvalidRequest) as refused:
            await wait(beta.pause_campaign(account_id="", campaign_id="c"))
        assert of_ours(missed.value) == of_ours(refused.value) == ["pause_campaign"]
        with pytest.raises(InvalidRequest) as refused:
            beta.list_campaigns(account_id="")
        assert of_ours(refused.value) == ["list_campaigns"]
        with pytest.raises(NotFound) as missed:
            await wait(beta.list_campaigns(account_id="a"))
        # Of the async client, the method has returned when its listing is awaited.
        assert of_ours(missed.value) == ["list_campaigns"] * (client_kind is SYNC)


def test_traceback_of_a_task_of_a_listing_has_no_frame_of_the_library() -> None:
    client = ASYNC.client("https://ads.example.com", transport=missing().transport)
    with pytest.raises(NotFound) as caught:
        asyncio.run(client.beta.list_campaigns(account_id="a"))
    assert of_ours(caught.value) == []
    with pytest.raises(NotFound) as caught:
        client.beta.list_campaigns(account_id="a").throw(NotFound("from the event loop"))
    assert of_ours(caught.value) == []


def test_environment_variable_keeps_the_whole_traceback(monkeypatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("a bug")

    client = SYNC.client(BASE_URL, transport=missing(4).transport)
    for is_full in (False, True):
        monkeypatch.setenv("ADCLIENT_TRACEBACK", "full" if is_full else "")
        with monkeypatch.context() as patched:
            for error in (NotFound, KeyError):
                with pytest.raises(error) as caught:
                    client.gamma.list_ads(account_id="a")
                assert ("run" in of_ours(caught.value)) is is_full
                patched.setattr("adclient._core.errors_from.error_for", broken)


@sync_and_async
async def test_cause_keeps_its_frames(client_kind) -> None:
    tokens = iter(["first"])

    def token() -> str:
        return next(tokens, None) or {}["second"]

    service = Service(httpx.Response(503))
    async with client_kind.open(
        transport=service.transport, token=token, conventions=Conventions(idempotency_header="key")
    ) as client:
        with pytest.raises(OutcomeUnknown) as caught:
            await wait(client.beta.pause_campaign(account_id="a", campaign_id="c"))
    assert of_ours(caught.value) == ["pause_campaign"]
    assert isinstance(caught.value.__cause__, KeyError)
    assert traceback.extract_tb(caught.value.__cause__.__traceback__)[-1].name == "token"
