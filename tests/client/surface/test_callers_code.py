"""Code of the caller inside a call and around it: functions, hooks, clients and tracebacks."""

import asyncio
import copy
import inspect
import multiprocessing
import pickle
import traceback
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import clients
import httpx
import pytest
from cases import each_case
from clients import ASYNC, SYNC, Service, a_draft, a_page, close, sync_and_async, wait, walk, write

import adclient
from adclient import InvalidRequest, NotFound, OutcomeUnknown, Request, Unauthenticated
from adclient._core import decode


@sync_and_async
async def test_os_error_while_decoding_a_draft_is_outcome_unknown(client_kind, monkeypatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(24, "Too many open files")  # as an import could raise

    monkeypatch.setattr(decode, "loads", fails)
    service = Service(httpx.Response(201, json=clients.DRAFT), a_page("a"))
    async with client_kind.open(transport=service.transport) as client:
        with pytest.raises(OutcomeUnknown, match="stopped by OSError") as caught:
            await wait(write(client))
        assert isinstance(caught.value.__cause__, OSError)
        with pytest.raises(OSError, match="Too many"):
            await wait(client.beta.list_campaigns(account_id="a"))


@sync_and_async
async def test_status_is_kept_if_a_hook_raises_for_it(client_kind) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        return httpx.Response(401, json={"message": "who are you?"})

    def complain(response: httpx.Response) -> None:
        response.raise_for_status()

    async def complain_async(response: httpx.Response) -> None:
        response.raise_for_status()

    hook = complain if client_kind is SYNC else complain_async
    hooks, transport = {"response": [hook]}, httpx.MockTransport(refuse)
    theirs = client_kind.http_client(transport=transport, event_hooks=hooks)
    async with client_kind.open(http_client=theirs) as client:
        with pytest.raises(Unauthenticated) as caught:
            await wait(write(client))
    assert not caught.value.outcome_unknown


@sync_and_async
async def test_closed_http_client_is_a_configuration_error(client_kind) -> None:
    theirs = client_kind.http_client(transport=Service().transport)
    async with client_kind.open(http_client=theirs) as client:
        await close(theirs)
        with pytest.raises(adclient.ConfigurationError, match="http_client is closed"):
            await wait(write(client))


@sync_and_async
async def test_iterator_advanced_by_two_callers_at_once_raises(client_kind) -> None:
    pages, refused = None, []

    def token() -> str:
        if pages is not None:  # the sync client has requested the first page before
            with pytest.raises(RuntimeError, match="already fetching a page") as caught:
                next(pages) if client_kind is SYNC else anext(pages).send(None)
            refused.append(caught.value)
        return "t0ken"

    service = Service(a_page("a", next="2"), a_page("b"))
    async with client_kind.open(transport=service.transport, token=token) as client:
        pages = walk(client.beta.list_campaigns(account_id="a").pages())
        assert [page.data[0].name for page in await clients.everything(pages)] == ["a", "b"]
    assert refused


@clients.asyncio_and_trio
async def test_async_token_and_auth_are_awaited(client_kind) -> None:
    async def token() -> str:
        return "awaited"

    async def sign(request: Request) -> dict[str, str]:
        return {"x-signature": request.method}

    service = Service(a_draft(), a_draft())
    for credentials in ({"token": token}, {"auth": sign}):
        async with client_kind.open(transport=service.transport, **credentials) as client:
            await write(client)
    first, second = service.requests
    assert first.headers["authorization"] == "Bearer awaited"
    assert second.headers["x-signature"] == "POST"


# Tracebacks show the caller's line, the method that was called and the error, and nothing else.

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

    client = SYNC.client(clients.BASE_URL, transport=missing(4).transport)
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
    options = {"transport": service.transport, "token": token, "conventions": clients.KEYED}
    async with client_kind.open(**options) as client:
        with pytest.raises(OutcomeUnknown) as caught:
            await wait(client.beta.pause_campaign(account_id="a", campaign_id="c"))
    assert of_ours(caught.value) == ["pause_campaign"]
    assert isinstance(caught.value.__cause__, KeyError)
    assert traceback.extract_tb(caught.value.__cause__.__traceback__)[-1].name == "token"


# What a call raises goes to another process and back, and loses nothing.

CLASSES = [each for _, each in inspect.getmembers(adclient.errors, inspect.isclass)]
CLASSES = [cls for cls in CLASSES if issubclass(cls, adclient.AdClientError)]


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield pool


def raises(error: Exception) -> None:
    raise error


@each_case("cls", *CLASSES)
def test_error_survives_pickle_and_copy(cls, pool) -> None:
    error = cls("it happened", operation="beta.x", details={"a": [1]}, retry_after=2.5, cursor="c")
    error.add_note("a note")
    with pytest.raises(adclient.AdClientError) as caught:
        pool.submit(raises, error).result()
    for twin in (caught.value, copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is cls
        assert (str(twin), repr(twin), twin.args) == (str(error), repr(error), error.args)
        assert twin.outcome_unknown is error.outcome_unknown
        assert {name: getattr(twin, name) for name in vars(error)} == vars(error)
        assert twin.__notes__ == ["a note"]


@each_case("made", pickle.dumps, copy.copy, copy.deepcopy)
@clients.each_client_class
def test_client_and_what_holds_its_credentials_refuse_pickle_and_copy(client_class, made) -> None:
    client = client_class(clients.BASE_URL, token="sk-canary")
    with pytest.raises(TypeError, match="client"):
        made(client)
    for holder in (client.alpha, client.alpha.update_campaign_budget):
        with pytest.raises(TypeError, match="credentials cannot be pickled"):
            pickle.dumps(holder)
