"""Mistakes in a call that Python or the client refuses: the error shows what to write instead."""

import asyncio
import copy
import pickle
import traceback

import pytest
from cases import each_case
from clients import (
    ASYNC,
    BASE_URL,
    Service,
    a_draft,
    a_page,
    each_client_class,
    method_of,
    sync_and_async,
    wait,
)

from adclient import AsyncAdClient, InvalidRequest

BUDGET = ["account_id", "campaign_id", "daily_budget"]


@each_case(
    ("name", "positional", "named", "right"),
    [
        ("alpha.update_campaign_budget", ["account_1", "campaign_1", 120], {}, BUDGET),
        ("beta.pause_campaign", [], {"account": "a"}, ["account_id", "campaign_id"]),
        ("beta.list_campaigns", ["a"], {"daterange": 7}, ["account_id", "date_range"]),
        ("beta.list_campaigns", [], {}, ["account_id"]),
    ],
)
@each_client_class
def test_error_of_a_wrong_call_shows_the_right_one(
    client_class, name, positional, named, right
) -> None:
    method = method_of(client_class(BASE_URL), name)
    with pytest.raises(TypeError) as caught:
        method(*positional, **named)
    call = f"{name.partition('.')[2]}({', '.join(f'{each}=…' for each in right)})"
    assert str(caught.value).endswith(f"; arguments are keyword-only: {call}")
    assert "account_1" not in str(caught.value)
    [frame] = traceback.extract_tb(caught.value.__traceback__)
    assert frame.filename == __file__


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


def client_of(*responses) -> AsyncAdClient:
    return ASYNC.client(BASE_URL, transport=Service(*responses).transport)


def pause(client):
    return client.beta.pause_campaign(account_id="a", campaign_id="c")


def test_draft_that_is_not_awaited_tells_to_await_it() -> None:
    draft = pause(client_of(a_draft()))
    for name in ("draft_id", "diff", "to_dict"):
        with pytest.raises(AttributeError) as caught:
            getattr(draft, name)
        assert str(caught.value) == (
            f"nothing is staged yet, so there is no '{name}': use `await`, as in "
            "`draft = await client.beta.pause_campaign(…)`"
        )
    with pytest.raises(AttributeError, match="'coroutine' object has no attribute 'nonsense'"):
        _ = draft.nonsense
    shown = "<coroutine of beta.pause_campaign, which stages a draft when it is awaited>"
    assert repr(draft) == shown
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"call its method again$"):
            copied(draft)
    assert asyncio.run(draft).draft_id == "draft_7c2e"
    with pytest.raises(AttributeError, match=r"no 'draft_id': the draft is what `await` returned$"):
        _ = draft.draft_id
    with pytest.warns(RuntimeWarning, match=r"^coroutine 'AsyncBeta\.pause_campaign' was never"):
        pause(client_of())


def test_write_can_be_cancelled_and_closed_like_a_coroutine() -> None:
    staging = pause(client_of())
    with pytest.raises(TimeoutError, match="not today"):
        staging.throw(TimeoutError("not today"))
    with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
        asyncio.run(staging)
    pause(client_of()).close()  # or it would warn
