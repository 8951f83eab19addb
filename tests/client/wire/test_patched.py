"""Tools that patch httpx see the calls of a client that has connections of its own."""

import contextlib
import functools
import json
import re
import sys
import types
from unittest import mock

import httpcore
import httpx
import pytest
import raw_server
import respx
from cases import each_case
from clients import DRAFT, SYNC, a_draft, a_page, read, sync_and_async, wait, write
from raw_server import LISTING, Connection, RawServer, refusing_url, reply, serve_well, serving

import adclient._http.library  # noqa: F401  (here, so that coverage sees its import)
from adclient import AdClientError, CallTimeout, ConnectionFailed, OutcomeUnknown, TransportError
from adclient._http.pool import is_patched

pytestmark = pytest.mark.own

# All that a request passes in httpx 0.27 and 0.28. Tools patch one or another of them.
METHODS = ("send", "_send_handling_auth", "_send_single_request", "_transport_for_url")
CLIENT, TRANSPORT, POOL = 0, len(METHODS), len(METHODS) + 1


def place_of(client_kind, number=TRANSPORT):
    prefix, handle = "", "handle_request"
    if client_kind is not SYNC:
        prefix, handle = "Async", "handle_async_request"
    if number == POOL:
        return getattr(httpcore, f"{prefix}ConnectionPool"), handle
    kind, name = ("HTTPTransport", handle) if number == TRANSPORT else ("Client", METHODS[number])
    return getattr(httpx, prefix + kind), name


@contextlib.contextmanager
def patched(client_kind, number=TRANSPORT):
    """A tool that does nothing but go on."""
    cls, name = place_of(client_kind, number)
    with mock.patch.object(cls, name, autospec=True, side_effect=vars(cls)[name]) as spy:
        yield spy
    assert spy.called


def answer(request) -> httpx.Response:
    return a_page("x") if request.method == "GET" else a_draft()


# What is detected.


@each_case("number", *range(6))
@sync_and_async
async def test_patched_function_is_called_once_while_it_is_patched(client_kind, number) -> None:
    async with serving(client_kind, serve_well) as (server, client):
        await wait(read(client))
        with patched(client_kind, number) as spy:
            assert (await wait(read(client))).to_dict() == LISTING
            assert (await wait(write(client))).draft_id == DRAFT["draft_id"]
            async with client_kind.open(server.url) as made_meanwhile:
                await wait(read(made_meanwhile))
        assert spy.call_count == 3
        await wait(write(client))
    assert spy.call_count == 3
    # A client keeps its connection, whichever way its requests take.
    assert (len(server.requests), server.connections) == (5, 2)


@each_case("is_subclass", True, False)
@sync_and_async
async def test_replaced_class_of_clients_is_used(client_kind, is_subclass, monkeypatch) -> None:
    cls, _ = place_of(client_kind, CLIENT)
    spy = mock.Mock(side_effect=cls)
    put_there = functools.wraps(cls)(lambda **options: spy(**options))
    if is_subclass:
        spy = mock.Mock(side_effect=cls.__init__)
        init = functools.partialmethod(spy)
        put_there = type(cls.__name__, (cls,), {"__init__": init})
    async with serving(client_kind, serve_well) as (_, client):
        await wait(read(client))
        with monkeypatch.context() as patch:
            patch.setattr(httpx, cls.__name__, put_there)
            await wait(read(client))
        assert spy.call_count == 1


@each_case("module", None, types.ModuleType("httpx"))  # absent, or half-way imported
def test_only_httpcore_can_be_patched_before_httpx_is_imported(module, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.delitem(sys.modules, "httpx")
        if module is not None:
            patch.setitem(sys.modules, "httpx", module)
        for number in (TRANSPORT, POOL):
            with mock.patch.object(*place_of(SYNC, number)):
                assert is_patched() is (number == POOL)


# What a tool makes of a call.


@each_case(
    ("error", "expected"),
    (httpx.ConnectError("x"), ConnectionFailed),
    (httpx.ConnectTimeout("x"), CallTimeout),
    (httpx.PoolTimeout("x"), CallTimeout),
    (httpx.ProxyError("x"), ConnectionFailed),
    (httpx.LocalProtocolError("x"), TransportError),
    (httpx.WriteError("x"), ConnectionFailed),  # before it read the body
    (httpx.ReadError("x"), OutcomeUnknown),
    (httpx.ReadTimeout("x"), OutcomeUnknown),
    (httpx.RemoteProtocolError("x"), OutcomeUnknown),
    (AssertionError("not mocked"), AssertionError),
)
@sync_and_async
async def test_mocked_error_of_a_write_is_that_of_its_kind(client_kind, error, expected) -> None:
    async with client_kind.open(refusing_url(), max_retries=0) as client:
        tool = mock.patch.object(*place_of(client_kind), side_effect=error)
        with tool, pytest.raises(expected) as caught:
            await wait(write(client))
    assert getattr(caught.value, "outcome_unknown", False) is (expected is OutcomeUnknown)


@each_case("modes", ["httpcore"], ["httpx"], ["httpcore", "httpx"])
@sync_and_async
async def test_respx_mocks_calls_in_each_mode_and_in_both(client_kind, modes) -> None:
    async with serving(client_kind, serve_well) as (server, client):
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


# A call that a tool sees is sent, and fails, as without the tool.

TIMEOUT = 0.4


async def failure_of(operation, client):
    """What a caller may learn of an error."""
    with pytest.raises(AdClientError) as caught:
        await wait(operation(client))
    error = caught.value
    return type(error), re.sub(r"[\d.]+ s\b", "… s", str(error)), error.outcome_unknown


async def fails_alike(client_kind, client, *operations) -> list[bool]:
    """Check that calls fail in the same way without a tool and with one; is each unknown?"""
    plain = [await failure_of(operation, client) for operation in operations]
    with patched(client_kind):
        assert [await failure_of(operation, client) for operation in operations] == plain
    return [is_unknown for *_, is_unknown in plain]


ODD = {
    "account_id": "ä /?#%&+=[]'\"<>{}|\\^`~:@!$()*,;%41 \u2028",
    "campaign_id": "c",
    "date_range": "a\tb\r\n",
}


@each_case("prefix", "", "/prefix/a%20b/~x'(1);!$&*,=:@", "/%7e%41%2f")
@each_case("is_proxied", False, True)
@sync_and_async
async def test_patched_call_sends_the_same_bytes(client_kind, prefix, is_proxied) -> None:
    with RawServer(serve_well) as server:
        url, options = server.url + prefix, {"token": "t0ken"}
        if is_proxied:
            url = "http://ads.example.com" + prefix
            options = {"proxy": server.url.replace("//", "//us%65r:p%40ss@")}
        options["headers"] = {"X-Custom": "a,  b"}
        async with client_kind.open(url, **options) as client:
            for way in (contextlib.nullcontext(), patched(client_kind)):
                with way:
                    await wait(client.beta.list_campaigns(**ODD))
                    await wait(write(client, account_id=ODD["account_id"]))
                    await wait(client.delta.remove_auto_search_themes(account_id="a"))
    assert server.requests[:3] == server.requests[3:]
    assert server.connections == 1
    authorization = b"Proxy-Authorization: Basic dXNlcjpwQHNz\r\n"
    assert all((authorization in request) is is_proxied for request in server.requests)


@each_case("serve", None, raw_server.responding(reply(403, b"")), Connection.stay_silent)
@sync_and_async
async def test_patched_call_raises_the_same_error_if_nothing_was_sent(client_kind, serve) -> None:
    if serve is None:
        for proxy in (None, refusing_url()):
            async with client_kind.open(refusing_url(), proxy=proxy, max_retries=1) as client:
                await fails_alike(client_kind, client, read, write)
        return
    with RawServer(serve) as proxy:
        timeout = TIMEOUT if serve is Connection.stay_silent else 20
        options = {"proxy": proxy.url, "timeout": timeout, "max_retries": 1}
        async with client_kind.open("https://ads.example.com", **options) as client:
            assert await fails_alike(client_kind, client, write) == [False]


@sync_and_async
async def test_body_read_by_a_tool_does_not_count_as_sent(client_kind) -> None:
    """As respx, and as vcrpy, which reads the requests of both clients without `await`."""
    cls, name = place_of(client_kind)
    handle = vars(cls)[name]

    def tool(transport, request):
        assert json.loads(request.read())["campaign_id"] == "c"
        return handle(transport, request)

    async with client_kind.open(refusing_url(), max_retries=1) as client:
        with mock.patch.object(cls, name, tool):
            assert (await failure_of(write, client))[::2] == (ConnectionFailed, False)
