"""Tools that patch httpx see the calls of a client that has connections of its own."""

import contextlib
import functools
import inspect
import subprocess
import sys
import types
from unittest import mock

import httpcore
import httpx
import pytest
import respx
from clients import (
    ASYNC,
    DRAFT,
    SYNC,
    a_draft,
    a_page,
    only_of_httpx,
    read,
    sync_and_async,
    sync_asyncio_trio,
    wait,
    write,
)
from raw_server import LISTING, RawServer, refusing_url, serve_well

from adclient import CallTimeout, ConnectionFailed, OutcomeUnknown
from adclient._http.patched import is_async_patched, is_patched

pytestmark = pytest.mark.own

# All that a request passes in httpx 0.27 and 0.28. Tools patch one or another of them.
SYNC_PLACES = [
    (httpx.Client, "send"),
    (httpx.Client, "_send_handling_auth"),
    (httpx.Client, "_send_single_request"),
    (httpx.Client, "_transport_for_url"),
    (httpx.HTTPTransport, "handle_request"),
    (httpcore.ConnectionPool, "handle_request"),
]
ASYNC_PLACES = [
    (httpx.AsyncClient, "send"),
    (httpx.AsyncClient, "_send_handling_auth"),
    (httpx.AsyncClient, "_send_single_request"),
    (httpx.AsyncClient, "_transport_for_url"),
    (httpx.AsyncHTTPTransport, "handle_async_request"),
    (httpcore.AsyncConnectionPool, "handle_async_request"),
]
TRANSPORT = SYNC_PLACES.index((httpx.HTTPTransport, "handle_request"))


def place_of(client_kind, number=TRANSPORT):
    return (SYNC_PLACES if client_kind is SYNC else ASYNC_PLACES)[number]


def replaced(client_kind, replace, number=TRANSPORT):
    cls, name = place_of(client_kind, number)
    return mock.patch.object(cls, name, replace(vars(cls)[name]))


class Spy:
    """Replaces a function with one that notes each call and goes on."""

    def __init__(self) -> None:
        self.seen = 0

    def wrap(self, original):
        def wrapper(*args, **kwargs):
            self.seen += 1
            return original(*args, **kwargs)

        async def async_wrapper(*args, **kwargs):
            return await wrapper(*args, **kwargs)

        return async_wrapper if inspect.iscoroutinefunction(original) else wrapper


def answering(make_response):
    """Replaces what sends with a function that answers; a call would be `async` where it was."""

    def replace(original):
        def answer(_, request):
            return make_response(request)

        async def async_answer(_, request):
            return make_response(request)

        return async_answer if inspect.iscoroutinefunction(original) else answer

    return replace


def answer(request) -> httpx.Response:
    return a_page("x") if request.method == "GET" else a_draft()


def is_patched_for(client_kind) -> bool:
    return is_patched() if client_kind is SYNC else is_async_patched()


@pytest.mark.parametrize("number", range(len(SYNC_PLACES)), ids=[name for _, name in SYNC_PLACES])
@sync_and_async
async def test_each_patched_function_is_called_once_while_it_is_patched(
    client_kind, number
) -> None:
    spy = Spy()
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url) as client:
            await wait(read(client))
            with replaced(client_kind, spy.wrap, number):
                assert (await wait(read(client))).to_dict() == LISTING
                assert (await wait(write(client))).draft_id == DRAFT["draft_id"]
                async with client_kind.open(server.url) as made_meanwhile:
                    await wait(read(made_meanwhile))
            assert spy.seen == 3
            await wait(write(client))
    assert spy.seen == 3
    # A client keeps its connection, whichever way its requests take.
    assert (len(server.requests), server.connections) == (5, 2)


class Proxy:
    """Passes for a function in all respects but identity, like a wrapper of wrapt."""

    def __init__(self, wrapped, wrapper) -> None:
        self.wrapped, self.wrapper = wrapped, wrapper

    @property
    def __class__(self):
        return types.FunctionType

    def __eq__(self, other):
        return self.wrapped == other

    def __hash__(self):
        return hash(self.wrapped)

    def __call__(self, *args, **kwargs):
        return self.wrapper(*args, **kwargs)

    def __get__(self, instance, owner=None):
        return functools.partial(self.wrapper, instance)


class AnyContext(contextlib.ContextDecorator):
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


REPLACEMENTS = {
    "wraps": lambda original, wrapper: functools.wraps(original)(wrapper),
    "wrapt": Proxy,
    "mock": lambda original, wrapper: mock.create_autospec(original, side_effect=wrapper),
    "partialmethod": lambda original, wrapper: functools.partialmethod(wrapper),
    "property": lambda original, wrapper: property(
        lambda transport: functools.partial(wrapper, transport)
    ),
    "context decorator": lambda original, wrapper: AnyContext()(wrapper),
    "no globals": lambda original, wrapper: eval("lambda *args: run(*args)", {"run": wrapper}),
}


@pytest.mark.parametrize("kind", REPLACEMENTS)
@sync_and_async
async def test_replacement_of_any_kind_is_detected(client_kind, kind) -> None:
    spy = Spy()
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url) as client:
            await wait(read(client))

            def replace(original):
                return REPLACEMENTS[kind](original, spy.wrap(original))

            with replaced(client_kind, replace):
                await wait(write(client))
            assert not is_patched_for(client_kind)
    assert spy.seen == 1


@sync_and_async
async def test_override_of_an_inherited_method_is_detected(client_kind, monkeypatch) -> None:
    cls, _ = place_of(client_kind, 0)
    assert not is_patched_for(client_kind)
    with monkeypatch.context() as patch:
        patch.setattr(cls, "_enforce_trailing_slash", lambda self, url: url)
        assert is_patched_for(client_kind)
    assert not is_patched_for(client_kind)


@sync_and_async
async def test_changed_data_and_patched_other_classes_are_ignored(client_kind, monkeypatch) -> None:
    monkeypatch.setattr(place_of(client_kind)[0], "__doc__", "changed")
    monkeypatch.setattr(httpx.MockTransport, "handle_request", lambda self, request: None)
    other, name = place_of(ASYNC if client_kind is SYNC else SYNC)
    monkeypatch.setattr(other, name, lambda self, request: None)
    assert not is_patched_for(client_kind)


@pytest.mark.parametrize("kind", ["subclass", "factory"])
@sync_and_async
async def test_class_that_replaces_the_httpx_client_is_used(client_kind, kind, monkeypatch) -> None:
    cls, _ = place_of(client_kind, 0)
    spy = Spy()
    put_there = spy.wrap(cls)
    if kind == "subclass":
        put_there = type(cls.__name__, (cls,), {"__init__": spy.wrap(cls.__init__)})
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url) as client:
            await wait(read(client))
            monkeypatch.setattr(httpx, cls.__name__, put_there)
            await wait(read(client))
            assert spy.seen == 1


@pytest.mark.parametrize("module", [None, types.ModuleType("httpx")], ids=["absent", "half-way"])
def test_only_httpcore_can_be_patched_before_httpx_is_imported(module, monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "httpx")
    if module is not None:
        monkeypatch.setitem(sys.modules, "httpx", module)
    with replaced(SYNC, Spy().wrap):
        assert not is_patched()
    with replaced(SYNC, Spy().wrap, SYNC_PLACES.index((httpcore.ConnectionPool, "handle_request"))):
        assert is_patched()


IMPORTED_LATE = """
import sys
from adclient import AdClient

client = AdClient(sys.argv[1], max_retries=0)
assert client.alpha.explain_objectives(account_id="a").data
assert "httpx" not in sys.modules

import httpx
httpx.HTTPTransport.handle_request = lambda self, request: httpx.Response(
    200, json={"data": [], "page": {"next": None}}
)
assert not client.alpha.explain_objectives(account_id="a").data
client.close()
"""


@only_of_httpx
def test_patch_of_httpx_imported_after_the_first_call_is_detected() -> None:
    with RawServer(serve_well) as server:
        subprocess.run([sys.executable, "-c", IMPORTED_LATE, server.url], check=True, timeout=60)
    assert len(server.requests) == 1


ALIASED = """
import httpx2
httpx2.alias_httpx()
import httpx
from adclient._http.patched import is_async_patched, is_patched

assert httpx is httpx2
assert not is_patched() and not is_async_patched()
httpx.Client.send = httpx.AsyncClient.send = lambda *_, **__: None
assert is_patched() and is_async_patched()
"""


def test_httpx2_in_the_place_of_httpx_is_not_taken_for_a_patch() -> None:
    pytest.importorskip("httpx2")
    subprocess.run([sys.executable, "-c", ALIASED], check=True, timeout=60)


# What a tool makes of a call.


@sync_asyncio_trio
async def test_mocked_response_needs_no_server(client_kind) -> None:
    async with client_kind.open(refusing_url()) as client:
        with replaced(client_kind, answering(answer)):
            assert (await wait(read(client))).data[0].name == "x"
            assert (await wait(write(client))).draft_id == DRAFT["draft_id"]
        with pytest.raises(ConnectionFailed, match=r"[Rr]efused"):
            await wait(write(client))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (httpx.ConnectError("x"), ConnectionFailed),
        (httpx.ConnectTimeout("x"), CallTimeout),
        (httpx.ReadError("x"), OutcomeUnknown),
        (httpx.ReadTimeout("x"), OutcomeUnknown),
        (httpx.RemoteProtocolError("x"), OutcomeUnknown),
        (AssertionError("not mocked"), AssertionError),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
@sync_and_async
async def test_mocked_error_of_a_write_raises_the_error_of_its_kind(
    client_kind, error, expected
) -> None:
    def fail(request):
        raise error

    async with client_kind.open(refusing_url(), max_retries=0) as client:
        with replaced(client_kind, answering(fail)), pytest.raises(expected) as caught:
            await wait(write(client))
    assert getattr(caught.value, "outcome_unknown", False) is (expected is OutcomeUnknown)


@pytest.mark.parametrize("modes", [["httpcore"], ["httpx"], ["httpcore", "httpx"]], ids="+".join)
@sync_asyncio_trio
async def test_respx_mocks_calls_in_each_mode_and_in_both(client_kind, modes) -> None:
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url) as client:
            await wait(read(client))
            with contextlib.ExitStack() as stack:
                for mode in modes:
                    router = stack.enter_context(respx.mock(using=mode, assert_all_called=False))
                    router.route().mock(side_effect=answer)
                assert (await wait(read(client))).data[0].name == "x"
                await wait(write(client))
                async with client_kind.open(server.url) as made_meanwhile:
                    await wait(write(made_meanwhile))
            await wait(read(client))
    assert (len(server.requests), server.connections) == (2, 1)
