"""Run one scenario with both clients, and the async one on both event loops."""

import functools
import inspect
import ssl
from collections.abc import Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from operator import attrgetter
from types import SimpleNamespace

import anyio
import attrs
import httpx
import pytest

from adclient import AdClient, AsyncAdClient, Conventions, RetryPolicy

BASE_URL = "https://ads.example.com/prefix"
AT_ONCE = RetryPolicy(backoff_first=0)
KEYED = Conventions(idempotency_header="Idempotency-Key")
SECRET = "hunter2-s3cret"
END = object()
TLS = ssl.create_default_context()


# The HTTP library under test, whether its clients are injected into every client, and what adapts
# a transport; changed by `pytest --family=…`.
FAMILY = SimpleNamespace(library=httpx, is_injected=False, carry=lambda transport: transport)


@attrs.frozen
class ClientKind:
    """One of the two clients, and how to run it."""

    name: str
    client: type
    http_client_name: str
    other_name: str

    def http_client(self, transport=None, **options):
        """An HTTP client of the library under test, with its own connections or a transport."""
        carried = None if transport is None else FAMILY.carry(transport)
        return getattr(FAMILY.library, self.http_client_name)(transport=carried, **options)

    def run(self, scenario: Callable[..., Coroutine], **arguments):
        if self.client is AsyncAdClient:
            return anyio.run(functools.partial(scenario, **arguments), backend=self.name)
        try:
            scenario(**arguments).send(None)
        except StopIteration as done:
            return done.value
        raise AssertionError("a scenario of the sync client has nothing to wait for")

    @asynccontextmanager
    async def open(self, base_url=BASE_URL, **options):
        """A client for the duration of a block, which retries without backoff."""
        theirs = None
        if FAMILY.is_injected and "http_client" not in options:
            theirs = self.http_client(options.pop("transport", None), verify=TLS)
            options["http_client"] = theirs
        client = self.client(base_url, **{"retry": AT_ONCE, **options})
        try:
            yield client
        finally:
            await close(client)
            if theirs is not None:
                await close(theirs)

    def __str__(self) -> str:
        return self.name


SYNC = ClientKind("sync", AdClient, "Client", "AsyncClient")
ASYNC = ClientKind("asyncio", AsyncAdClient, "AsyncClient", "Client")
TRIO = ClientKind("trio", AsyncAdClient, "AsyncClient", "Client")
CLIENT_KINDS = (SYNC, ASYNC, TRIO)

# For tests of the constructor, without any call.
each_client_class = pytest.mark.parametrize("client_class", [AdClient, AsyncAdClient])


def _of_each(kinds):
    def decorate(scenario):
        @pytest.mark.parametrize("client_kind", kinds, ids=str)
        @functools.wraps(scenario)
        def test(client_kind, **arguments):
            client_kind.run(scenario, client_kind=client_kind, **arguments)

        return test

    return decorate


# Each turns a coroutine into a test of the sync client and of the async one. The second also runs
# on trio, which makes a difference only where there is I/O, waiting or cancellation.
sync_and_async = _of_each(CLIENT_KINDS[:2])
sync_asyncio_trio = _of_each(CLIENT_KINDS)
asyncio_and_trio = _of_each(CLIENT_KINDS[1:])


async def wait(value):
    """Await the value if it is awaitable, as results of the async client are."""
    return await value if inspect.isawaitable(value) else value


async def close(client) -> None:
    await wait(client.aclose() if hasattr(client, "aclose") else client.close())


async def step(iterator):
    """Return the next element of a sync or async iterator, or END."""
    if hasattr(iterator, "__anext__"):
        return await anext(iterator, END)
    return next(iterator, END)


def walk(iterable):
    """Return a sync or async iterator."""
    return aiter(iterable) if hasattr(iterable, "__aiter__") else iter(iterable)


async def drain(iterator, found: list) -> None:
    """Add the remaining elements, up to an error if there is one."""
    while (element := await step(iterator)) is not END:
        found.append(element)


async def everything(iterable) -> list:
    found: list = []
    await drain(walk(iterable), found)
    return found


def write(client, **arguments):
    """Stage a draft."""
    return client.beta.pause_campaign(**{"account_id": "a", "campaign_id": "c", **arguments})


def read(client, **arguments):
    """Read a page."""
    return client.alpha.explain_objectives(**{"account_id": "a", **arguments})


def listed(client, **arguments):
    """A page of the sync client; of the async one a listing."""
    return client.beta.list_campaigns(**{"account_id": "a", **arguments})


def method_of(client, name):
    return attrgetter(name)(client)


class Service:
    """Responds from a list, and records the requests."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.transport = httpx.MockTransport(self._answer)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        assert self.answers, f"a request too many: {request.method} {request.url}"
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def queries(self) -> list[str]:
        return [request.url.query.decode() for request in self.requests]


DRAFT = {
    "draft_id": "draft_7c2e",
    "status": "pending_approval",
    "diff": {"field": "daily_budget", "before": 100, "after": 120},
    "requires": "human_two_step_approve",
}


def a_draft(**changes) -> httpx.Response:
    return httpx.Response(201, json={**DRAFT, **changes})


def an_item(name: str, **more) -> dict[str, object]:
    return {"id": f"campaign_{name}", "name": name, "status": "ENABLED", **more}


def a_page(names: Iterable[str] = "", next: object = None, **more) -> httpx.Response:
    """A page with an item for each name, such as each letter of a text."""
    items = [an_item(name, **more) for name in names]
    return httpx.Response(200, json={"data": items, "page": {"next": next}})


def names(items) -> str:
    return "".join(item.name for item in items)
