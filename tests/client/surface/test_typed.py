"""Pages whose items are read into classes of the caller's."""

import copy
import dataclasses
import enum
import pickle
from datetime import datetime
from decimal import Decimal

import attrs
import httpx
import pytest
from clients import (
    ASYNC,
    TRIO,
    Service,
    a_page,
    an_item,
    everything,
    step,
    sync_and_async,
    wait,
    walk,
)

from adclient import Campaign, UnexpectedResponse


def listed(client):
    return client.beta.list_campaigns(account_id="a")


@attrs.frozen(kw_only=True)
class MyCampaign(Campaign):
    objective: str
    daily_budget: float | None = None


@attrs.frozen
class Row:
    id: str
    objective: str


@pytest.mark.parametrize("cls", [MyCampaign, Row])
@sync_and_async
async def test_typed_page_types_all_later_pages(client_kind, cls) -> None:
    answers = [a_page("a", "c1", objective="X"), a_page("b", objective="Y")]
    service = Service(*answers, a_page("b", objective="Y"))
    async with client_kind.open(transport=service.transport) as client:
        page = (await wait(listed(client))).typed(cls)
        assert [type(item) for item in page.data] == [cls]
        assert page.next == "c1"
        pages = await everything(page.pages())
        found = await wait(page.collect(limit=2))
    assert [item.objective for each in pages for item in each.data] == ["X", "Y"]
    assert [item.objective for item in found] == ["X", "Y"]


@sync_and_async
async def test_typed_page_can_be_typed_again(client_kind) -> None:
    service = Service(a_page("a", "c1", objective="SALES"), a_page("b", objective="LEADS"))
    async with client_kind.open(transport=service.transport) as client:
        page = (await wait(listed(client))).typed(MyCampaign).typed(Row)
        assert [type(item) for item in await everything(page)] == [Row, Row]


@sync_and_async
async def test_misfit_on_a_later_page_raises_there(client_kind) -> None:
    service = Service(a_page("a", "c1", objective="X"), a_page("b"), a_page("b", objective="Y"))
    async with client_kind.open(transport=service.transport) as client:
        iterator = walk((await wait(listed(client))).typed(Row))
        await step(iterator)
        with pytest.raises(
            UnexpectedResponse, match=r"\$\.data\[0\]\.objective: missing"
        ) as caught:
            await step(iterator)
        assert caught.value.cursor == iterator.cursor == "c1"
        assert (await step(iterator)).objective == "Y"


@pytest.mark.parametrize("error", [StopIteration, StopAsyncIteration])
@sync_and_async
async def test_class_that_raises_stop_iteration_does_not_end_the_listing(
    client_kind, error
) -> None:
    @attrs.frozen
    class Odd:
        id: str

        def __attrs_post_init__(self) -> None:
            if self.id == "campaign_b":
                raise error

    service = Service(a_page("a", "c1"), a_page("b", "c2"), a_page("c"))
    async with client_kind.open(transport=service.transport) as client:
        iterator = walk((await wait(listed(client))).typed(Odd))
        assert (await step(iterator)).id == "campaign_a"
        with pytest.raises((RuntimeError, error)):
            await step(iterator)


@pytest.mark.parametrize("cls", [dict, int, "Campaign", None])
@sync_and_async
async def test_typed_refuses_other_than_attrs_classes(client_kind, cls) -> None:
    service = Service(a_page("a"))
    async with client_kind.open(transport=service.transport) as client:
        page = await wait(listed(client))
        with pytest.raises(TypeError, match="attrs class"):
            page.typed(cls)


@attrs.frozen(kw_only=True)
class Portfolio:
    members: tuple[Campaign, ...]


@sync_and_async
async def test_to_dict_has_what_nested_items_were_received_as(client_kind) -> None:
    members = [an_item("x", spend=1), an_item("y")]
    service = Service(a_page("a", members=members))
    async with client_kind.open(transport=service.transport) as client:
        page = (await wait(listed(client))).typed(Portfolio)
    assert [member.name for member in page.data[0].members] == ["x", "y"]
    assert page.to_dict()["data"] == [{"members": members}]


@pytest.mark.parametrize("cls", [MyCampaign, Row])
@pytest.mark.parametrize("client_kind", [ASYNC, TRIO], ids=str)
def test_typed_listing_types_every_page(client_kind, cls) -> None:
    def answers():
        return a_page("a", "c1", objective="X"), a_page("b", objective="Y")

    service = Service(*answers(), *answers(), *answers())

    async def scenario() -> None:
        async with client_kind.open(transport=service.transport) as client:
            listing = listed(client).typed(cls)
            assert [item.objective async for item in listing] == ["X", "Y"]
            page = await listing
            assert [type(item) for item in page.data] == [cls]
            assert [type(item) async for item in page] == [cls, cls]
            assert (await listing.typed(Row).collect(limit=1)) == [Row("campaign_a", "X")]

    client_kind.run(scenario)


class Undecorated(Campaign):
    spend: Decimal = Decimal(0)


class OfADecoratedBase(MyCampaign):
    spend: Decimal = Decimal(0)


@attrs.frozen(kw_only=True)
class OfAnUndecoratedBase(Undecorated):
    pass


@pytest.mark.parametrize("cls", [Undecorated, OfADecoratedBase, OfAnUndecoratedBase])
@sync_and_async
async def test_typed_refuses_a_class_without_decorator(client_kind, cls) -> None:
    service = Service(a_page("a", objective="SALES", spend=12.5))
    async with client_kind.open(transport=service.transport) as client:
        page = await wait(listed(client))
        with pytest.raises(TypeError, match=r"(Undecorated|Base) has no decorator"):
            page.typed(cls)


def classes_that_raise(error):
    """Return classes whose own code raises an error for an item, by what raises it."""

    def raise_it(*_):
        raise error

    def with_field(type_, **settings):
        return attrs.make_class("Mine", {"id": attrs.field(type=type_, **settings)})

    after = {"__attrs_post_init__": raise_it}
    return {
        "__attrs_post_init__": attrs.make_class("Mine", {"id": attrs.field(type=str)}, (), after),
        "validator": with_field(str, validator=raise_it),
        "converter": with_field(str, converter=raise_it),
    }


WAYS = list(classes_that_raise(ValueError()))


@pytest.mark.parametrize("error", [KeyError("name"), AttributeError("name"), ZeroDivisionError()])
@pytest.mark.parametrize("way", WAYS)
@sync_and_async
async def test_error_of_the_callers_class_is_raised_as_it_is(client_kind, way, error) -> None:
    service = Service(a_page("a"))
    async with client_kind.open(transport=service.transport) as client:
        page = await wait(listed(client))
        with pytest.raises(type(error)) as caught:
            page.typed(classes_that_raise(error)[way])
    assert caught.value is error
    assert any("$.data[0]" in note for note in error.__notes__)


@pytest.mark.parametrize("error", [ValueError("too much"), TypeError("too odd")])
@pytest.mark.parametrize("way", WAYS)
@sync_and_async
async def test_refusal_by_the_callers_class_is_the_cause(client_kind, way, error) -> None:
    service = Service(a_page("a"))
    async with client_kind.open(transport=service.transport) as client:
        page = await wait(listed(client))
        with pytest.raises(UnexpectedResponse, match=f"do not fit Mine.*{error}") as caught:
            page.typed(classes_that_raise(error)[way])
    assert caught.value.__cause__ is error


class Goal(enum.Enum):
    SALES = "SALES"


@attrs.frozen
class Bid:
    amount: Decimal
    strategy: str = "target_cost"


@dataclasses.dataclass
class Note:
    text: str


@attrs.frozen(kw_only=True)
class Converted(Campaign):
    objective: Goal
    spend: Decimal
    seen: datetime
    labels: frozenset[str]
    bid: Bid
    note: Note
    parent: Campaign
    clicks: int = 0
    by_day: dict[str, Decimal] | None = None


@sync_and_async
async def test_to_dict_of_a_converted_item_has_its_fields_as_json(client_kind) -> None:
    sent = an_item(
        "a",
        objective="SALES",
        spend=12.5,
        seen="2026-11-20T08:30:00Z",
        labels=["spring", "a"],
        bid={"amount": 4.2},
        note={"text": "new"},
        parent=an_item("p", spend=1),
        more=[None],
    )
    service = Service(httpx.Response(200, json={"data": [sent], "page": {"next": None}}))
    async with client_kind.open(transport=service.transport) as client:
        page = (await wait(listed(client))).typed(Converted)
    (item,) = page.data
    expected = {
        **sent,
        "spend": Decimal("12.5"),
        "seen": "2026-11-20T08:30:00+00:00",
        "labels": ["a", "spring"],
        "bid": {"amount": Decimal("4.2"), "strategy": "target_cost"},
        "clicks": 0,
    }
    assert item.to_dict() == expected
    assert page.to_dict()["data"] == [expected]
    for twin in copies_of(item):
        assert twin == item
        assert twin.to_dict() == expected
    changed = attrs.evolve(item, status="PAUSED", by_day={"2026-11-20": Decimal(1)})
    assert changed.to_dict() == {**expected, "status": "PAUSED", "by_day": {"2026-11-20": 1}}
    assert page.typed(Converted) == page


@attrs.frozen(kw_only=True, slots=False)
class WithDict(Campaign):
    objective: str


@attrs.frozen(kw_only=True)
class SlottedOfABaseWithDict(WithDict):
    note: int


def copies_of(item):
    return copy.copy(item), copy.deepcopy(item), pickle.loads(pickle.dumps(item))


@pytest.mark.parametrize("cls", [WithDict, SlottedOfABaseWithDict])
@sync_and_async
async def test_copied_item_of_a_class_without_slots_is_whole(client_kind, cls) -> None:
    service = Service(a_page("a", objective="SALES", note=7, more=[1]))
    async with client_kind.open(transport=service.transport) as client:
        (item,) = (await wait(listed(client))).typed(cls).data
    for original in (item, attrs.evolve(item, objective="LEADS")):
        number = hash(original)
        for twin in copies_of(original):
            assert type(twin) is cls
            assert twin == original
            assert hash(twin) == number
            assert attrs.asdict(twin) == attrs.asdict(original)
            assert twin.to_dict() == original.to_dict()
