"""Mistakes in a call that Python or the client refuses: the error shows what to write instead."""

import asyncio
import copy
import inspect
import pickle
import traceback

import pytest
import trio
from clients import (
    ASYNC,
    BASE_URL,
    CLIENT_KINDS,
    Service,
    a_draft,
    a_page,
    method_of,
    sync_and_async,
    wait,
)

from adclient import InvalidRequest

# Arguments.


@pytest.mark.parametrize(
    ("name", "positional", "named", "right"),
    [
        (
            "alpha.update_campaign_budget",
            ["account_1", "campaign_1", 120],
            {},
            "update_campaign_budget(account_id=…, campaign_id=…, daily_budget=…)",
        ),
        (
            "alpha.update_campaign_budget",
            [120],
            {"account_id": "a", "campain_id": "c"},
            "update_campaign_budget(account_id=…, campaign_id=…, daily_budget=…)",
        ),
        (
            "beta.pause_campaign",
            [],
            {"account": "a"},
            "pause_campaign(account_id=…, campaign_id=…)",
        ),
        (
            "beta.list_campaigns",
            ["a"],
            {"daterange": 7},
            "list_campaigns(account_id=…, date_range=…)",
        ),
        ("beta.list_campaigns", [], {}, "list_campaigns(account_id=…)"),
        ("delta.remove_auto_search_themes", range(9), {"x": 1}, "remove_auto_search_themes(…)"),
    ],
)
@pytest.mark.parametrize("client_kind", CLIENT_KINDS[:2], ids=str)
def test_error_of_a_wrong_call_shows_the_right_one(
    client_kind, name, positional, named, right
) -> None:
    method = method_of(client_kind.client(BASE_URL), name)
    if right.endswith("(…)"):
        right = right.replace(
            "…", ", ".join(f"{each}=…" for each in inspect.signature(method).parameters)
        )
    with pytest.raises(TypeError) as caught:
        method(*positional, **named)
    assert str(caught.value).endswith(f"; arguments are keyword-only: {right}")
    assert "account_1" not in str(caught.value)
    assert [entry.name for entry in traceback.extract_tb(caught.value.__traceback__)] == [
        "test_error_of_a_wrong_call_shows_the_right_one"
    ]


@sync_and_async
async def test_type_error_of_the_caller_s_own_function_has_no_advice(client_kind) -> None:
    def token():
        return "a" + 1

    async with client_kind.open(transport=Service().transport, token=token) as client:
        for method in (client.beta.pause_campaign, client.beta.list_campaigns):
            with pytest.raises(TypeError, match=r"^can only concatenate str \(.*\) to str$"):
                await wait(method(account_id="a", campaign_id="c"))


@sync_and_async
async def test_draft_or_item_in_place_of_an_id_is_refused_with_advice(client_kind) -> None:
    service = Service(a_draft(), a_page("a"))
    async with client_kind.open(transport=service.transport) as client:
        draft = await wait(client.beta.pause_campaign(account_id="a", campaign_id="c"))
        page = await wait(client.beta.list_campaigns(account_id="a"))
        for value, advice in (
            (draft, "got a Draft, which is only a proposal: pass the id of what it would change"),
            (page.data[0], "got Campaign: pass an id, such as its own"),
        ):
            problem = f"campaign_id must be a non-empty str, {advice}; nothing was sent"
            with pytest.raises(InvalidRequest, match=problem):
                await wait(client.beta.pause_campaign(account_id="a", campaign_id=value))


# A write that nobody has awaited.


def test_draft_that_is_not_awaited_tells_to_await_it() -> None:
    client = ASYNC.client(BASE_URL, transport=Service().transport)
    draft = client.beta.pause_campaign(account_id="a", campaign_id="c")
    for name in ("draft_id", "diff", "to_dict"):
        with pytest.raises(AttributeError) as caught:
            getattr(draft, name)
        assert str(caught.value) == (
            f"nothing is staged yet, so there is no '{name}': use `await`, as in "
            "`draft = await client.beta.pause_campaign(…)`"
        )
    with pytest.raises(AttributeError, match="'coroutine' object has no attribute 'nonsense'"):
        _ = draft.nonsense
    assert (
        repr(draft) == "<coroutine of beta.pause_campaign, which stages a draft when it is awaited>"
    )
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"call its method again$"):
            copied(draft)
    draft.close()  # or it would warn, as the next one does


def test_coroutine_that_was_awaited_does_not_tell_to_await_it() -> None:
    client = ASYNC.client(BASE_URL, transport=Service(a_draft()).transport)
    coroutine = client.beta.pause_campaign(account_id="a", campaign_id="c")
    assert asyncio.run(coroutine).draft_id == "draft_7c2e"
    with pytest.raises(AttributeError, match=r"no 'draft_id': the draft is what `await` returned$"):
        _ = coroutine.draft_id


def test_draft_that_is_never_awaited_warns() -> None:
    client = ASYNC.client(BASE_URL, transport=Service().transport)
    with pytest.warns(RuntimeWarning, match=r"^coroutine 'AsyncBeta\.pause_campaign' was never"):
        client.beta.pause_campaign(account_id="a", campaign_id="c")


def test_write_is_a_coroutine_for_whatever_runs_one() -> None:
    service = Service(*[a_draft(draft_id=f"draft_{number}") for number in range(6)])
    client = ASYNC.client(BASE_URL, transport=service.transport)

    def pause():
        return client.beta.pause_campaign(account_id="a", campaign_id="c")

    async def on_asyncio() -> list[str]:
        task = asyncio.create_task(pause())
        assert "AsyncBeta.pause_campaign()" in repr(task)
        async with asyncio.TaskGroup() as group:
            other = group.create_task(pause())
        drafts = [await task, *await asyncio.gather(pause(), asyncio.wait_for(pause(), 5))]
        return [other.result().draft_id, *(draft.draft_id for draft in drafts)]

    assert sorted(asyncio.run(on_asyncio())) == ["draft_0", "draft_1", "draft_2", "draft_3"]
    assert asyncio.run(pause()).draft_id == "draft_4"

    async def on_trio() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pause)

    trio.run(on_trio)
    assert service.answers == []


def test_write_can_be_cancelled_and_closed_like_a_coroutine() -> None:
    client = ASYNC.client(BASE_URL, transport=Service().transport)
    staging = client.beta.pause_campaign(account_id="a", campaign_id="c")
    with pytest.raises(TimeoutError, match="not today"):
        staging.throw(TimeoutError("not today"))
    with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
        asyncio.run(staging)
    client.beta.pause_campaign(account_id="a", campaign_id="c").close()  # or it would warn
