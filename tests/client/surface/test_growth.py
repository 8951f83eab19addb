"""The cost of a call does not grow, measured in function calls and objects, not in seconds."""

import gc
import itertools
import sys
from collections.abc import Callable

import httpx
import pytest
from clients import a_draft, a_page

from adclient import AdClient, NotFound

BASE_URL = "https://ads.example.com"


def client_of(answer: Callable[[httpx.Request], httpx.Response]) -> AdClient:
    return AdClient(BASE_URL, transport=httpx.MockTransport(answer))


def function_calls(work: Callable[[], object]) -> int:
    """Count the Python and C functions that some work calls."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    gc.disable()  # it would call finalizers at random moments
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count


def objects() -> int:
    gc.collect()
    return len(gc.get_objects())


def stage(client: AdClient) -> object:
    return client.beta.pause_campaign(account_id="a", campaign_id="c")


def read(client: AdClient) -> object:
    return client.beta.list_campaigns(account_id="a")


def fail(client: AdClient) -> None:
    with pytest.raises(NotFound):
        client.alpha.explain_objectives(account_id="a")


def answer(request: httpx.Request) -> httpx.Response:
    if request.method == "POST":
        return a_draft()
    return httpx.Response(404) if "explain" in request.url.path else a_page("abc")


@pytest.mark.parametrize("work", [stage, read, fail])
def test_cost_of_a_call_is_constant_after_many_calls_and_with_many_clients(work) -> None:
    client = client_of(answer)
    for _ in range(5):
        work(client)
    first, held = function_calls(lambda: work(client)), objects()
    for _ in range(300):
        work(client)
    assert function_calls(lambda: work(client)) == first
    assert objects() <= held + 20  # one object per call would be 300
    others = [client_of(answer) for _ in range(100)]
    others += [client.with_options(timeout=5) for _ in range(100)]
    for other in others:
        work(other)
    assert function_calls(lambda: work(client)) == first


def test_cost_of_a_client_is_constant_and_it_leaks_nothing() -> None:
    def make() -> None:
        client_of(answer).close()

    for _ in range(5):
        make()
    alone, held = function_calls(make), objects()
    others = [client_of(answer) for _ in range(200)]
    assert function_calls(make) == alone
    del others
    assert objects() <= held + 20


def test_cost_of_a_page_is_constant_after_many_pages() -> None:
    numbers = itertools.count(1_000)
    client = client_of(lambda _: a_page(["a", str(n := next(numbers))], next=f"page_{n}"))
    pages = iter(read(client).pages())
    for _ in range(5):
        next(pages)
    first = function_calls(lambda: next(pages))
    for _ in range(300):  # fill the cache of the last few hundred URLs
        next(pages)
    held = objects()
    for _ in range(300):
        next(pages)
    assert function_calls(lambda: next(pages)) == first
    # A page leaves 32 bytes, which are not an object that the garbage collector tracks.
    assert objects() <= held + 20
