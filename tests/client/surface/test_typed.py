"""Pages whose items are read into classes of the caller's."""

import copy
import dataclasses
import enum
import pickle
from datetime import datetime
from decimal import Decimal

import attrs
import clients
import pytest
from cases import each_case
from clients import SYNC, Service, a_page, an_item, everything, listed, step, wait, walk

from adclient import Campaign, Items, Page, UnexpectedResponse


def page_of(*responses) -> Page:
    """The first page of the sync client; the async one reads items alike."""
    return listed(SYNC.client(clients.BASE_URL, transport=Service(*responses).transport))


@attrs.frozen(kw_only=True)
class MyCampaign(Campaign):
    objective: str
    daily_budget: float | None = None


@attrs.frozen
class Row:
    id: str
    objective: str


@clients.sync_and_async
async def test_typed_page_types_all_later_pages(client_kind) -> None:
    first, second = a_page("a", "c1", objective="X"), a_page("b", objective="Y")
    service = Service(first, *[second] * 3, first, second)
    async with client_kind.open(transport=service.transport) as client:
        page = (await wait(listed(client))).typed(MyCampaign)
        assert (page.next, page.data[0].objective) == ("c1", "X")
        pages = await everything(page.pages())
        found = await wait(page.collect(limit=2))
        again = await everything(page.typed(Row))
        assert await wait((await wait(listed(client))).typed(Row).collect()) == again
    assert [item for each in pages for item in each.data] == [*found]
    assert [(type(item), item.objective) for item in found] == [(MyCampaign, x) for x in "XY"]
    assert again == [Row("campaign_a", "X"), Row("campaign_b", "Y")]


@attrs.frozen(kw_only=True)
class Plain:
    labels = attrs.field(default=None)
    _others: list[str] = attrs.field(factory=list)


@attrs.define
class Mutable:
    labels: list[str]


@each_case("cls", Plain, Mutable, attrs.make_class("ByIdentity", ["labels"], eq=False))
def test_typed_items_are_the_same_at_each_look_and_share_no_value(cls) -> None:
    page = page_of(a_page("a", labels=["spring"]))
    data, found = (typed := page.typed(cls)).data, typed.collect()
    data[0].labels.append("new")
    page.typed(attrs.make_class("Kept", [], bases=(Campaign,))).data[0].extra["labels"].clear()
    assert [*data] == [*reversed(data)] == [data[0]] == [*found]
    assert found[0] is data[0] is typed.collect()[0]
    assert data.to_records()[0]["labels"] == ["spring", "new"]
    assert page.data[0].extra == {"labels": ["spring"]}
    assert Items([cls(labels=1j)]).to_records()[0]["labels"] == 1j  # left as it is
    assert b"ByField" not in pickle.dumps(page.typed(Mutable).data)
    assert len(page.typed(attrs.make_class("NoFields", [])).data) == 1


ran: list[object] = []


def run(*args, **_) -> object:
    """Code of a class of the caller's, which runs when an item is made."""
    ran.append(args)
    return args[-1]


def with_code(bases=(Plain,), metaclass=type, **body):
    return attrs.frozen(kw_only=True)(metaclass("WithCode", bases, body))


def with_field(**options):
    return with_code(other=attrs.field(**options))


def decorated(cls):
    init = cls.__init__
    cls.__init__ = lambda self, **fields: init(run(self), **fields)
    return cls


WITH_CODE = [
    *(with_code(**{f"__attrs_{when}_init__": run}) for when in ("pre", "post")),
    *(with_field(default=1, **{name: run}) for name in ("converter", "validator")),
    with_field(init=False, factory=lambda: run(1)),
    with_field(default=attrs.Factory(lambda self=0: run(self).labels, takes_self=True)),
    with_code((Campaign,), extra=attrs.field(factory=dict, validator=run)),
    with_code(__new__=lambda cls, **_: object.__new__(run(cls))),
    with_code(metaclass=type("Meta", (type,), {"__call__": run})),
    decorated(with_code()),
    attrs.define(kw_only=True)(
        type("OwnSetattr", (), {"labels": attrs.field(), "__setattr__": run})
    ),
]


@each_case("cls", *WITH_CODE)
def test_code_of_a_class_runs_when_its_page_arrives(cls) -> None:
    ran.clear()
    data = page_of(a_page("a", labels=["spring"])).typed(cls).data
    assert len(ran) == 1
    assert len([*data]) == len(ran) == 1


@clients.sync_and_async
async def test_misfit_on_a_later_page_raises_there(client_kind) -> None:
    service = Service(a_page("a", "c1", objective="X"), a_page("b"), a_page("b", objective="Y"))
    async with client_kind.open(transport=service.transport) as client:
        iterator = walk((await wait(listed(client))).typed(Row))
        await step(iterator)
        with pytest.raises(UnexpectedResponse, match=r"\$\.data\[0\]\.objective: ") as caught:
            await step(iterator)
        assert caught.value.cursor == iterator.cursor == "c1"
        assert (await step(iterator)).objective == "Y"


class Undecorated(Campaign):
    spend: Decimal = Decimal(0)


class OfADecoratedBase(MyCampaign):
    spend: Decimal = Decimal(0)


@attrs.frozen(kw_only=True)
class OfAnUndecoratedBase(Undecorated):
    pass


@each_case(
    ("cls", "problem"),
    *((cls, "attrs class or a dataclass") for cls in (dict, int, "Campaign", None, [])),
    (Undecorated, "Undecorated has no decorator"),
    (OfADecoratedBase, "OfADecoratedBase has no decorator"),
    (OfAnUndecoratedBase, "Undecorated has no decorator"),
)
def test_typed_refuses_other_than_decorated_attrs_classes(cls, problem) -> None:
    page = page_of(a_page("a", objective="SALES", spend=12.5))
    with pytest.raises(TypeError, match=problem):
        page.typed(cls)


@each_case("error", KeyError("name"), ValueError("no"), TypeError("no"))
@pytest.mark.parametrize("place", ["validator", "converter"])
def test_error_of_the_callers_class_is_raised_as_it_is_or_is_the_cause(error, place) -> None:
    def refuse(*_):
        raise error

    cls = attrs.make_class("Mine", {"id": attrs.field(type=str, **{place: refuse})})
    with pytest.raises((UnexpectedResponse, KeyError)) as caught:
        page_of(a_page("a")).typed(cls)
    if isinstance(error, KeyError):
        assert caught.value is error
        assert any("$.data[0]" in note for note in error.__notes__)
    else:
        assert f"do not fit Mine: $.data[0]: {error}" in str(caught.value)
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
    members: tuple[Campaign, ...]
    clicks: int = 0
    by_day: dict[str, Decimal] | None = None


def test_to_dict_of_a_converted_item_has_its_fields_as_json() -> None:
    sent = {
        "objective": "SALES",
        "spend": 12.5,
        "seen": "2026-11-20T08:30:00Z",
        "labels": ["spring", "a"],
        "bid": {"amount": 4.2},
        "note": {"text": "new"},
        "members": [an_item("x", spend=1), an_item("y")],
        "more": [None],
    }
    page = page_of(a_page("a", **sent)).typed(Converted)
    (item,) = page.data
    assert item.members[1] == Campaign(**an_item("y"))
    expected = {
        **an_item("a", **sent),
        "spend": Decimal("12.5"),
        "seen": "2026-11-20T08:30:00+00:00",
        "labels": ["a", "spring"],
        "bid": {"amount": Decimal("4.2"), "strategy": "target_cost"},
        "clicks": 0,
    }
    assert page.to_dict()["data"] == [expected]
    for twin in (item, copy.copy(item), copy.deepcopy(item), pickle.loads(pickle.dumps(item))):
        assert twin == item
        assert twin.to_dict() == expected
    changed = attrs.evolve(item, status="PAUSED", by_day={"2026-11-20": Decimal(1)})
    assert changed.to_dict() == {**expected, "status": "PAUSED", "by_day": {"2026-11-20": 1}}
    assert page.typed(Converted) == page
