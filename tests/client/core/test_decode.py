"""Decoding responses into drafts and listings, and errors about those that do not fit."""

import contextlib

from cases import each_case
from core_helpers import DRAFT, ITEM, JSON_VALUE, problem_with, structure
from hypothesis import given

from adclient._values.json_values import copied
from adclient._values.jsontext import JSONError
from adclient.models import Ad, Campaign, Draft, Objective, WastedSpend

WRONG = {  # values that are not text, by their name in errors
    "null": None,
    "true or false": True,
    "a number": 1.5,
    "an array": ["a"],
    "an object": {"a": "b"},
}
IF_EMPTY = "an empty page has [] or null; transport= can put it there"
ENDS_SO = "if that is the last page, set Conventions(end_of_listing='missing')"
GONE = object()


def with_spot(body, path, value):
    """Return a copy of a body with another value at one place, or without it."""
    body = parent = copied(body)
    for step in path[:-1]:
        parent = parent[step]
    if value is GONE:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return body


def listing_of(*items):
    return {"data": list(items), "page": {"next": None}}


def items_of(cls, *items):
    return structure(listing_of(*items), cls).data


@each_case(("path", "value", "problem"),
    (["data"], GONE, f": missing; {IF_EMPTY}"),
    (["data"], {}, f": expected an array, got an object; {IF_EMPTY}"),
    (["data"], "", f": expected an array, got empty text; {IF_EMPTY}"),
    (["data", 3], None, ": expected an object, got null"),
    (["data", 3], [], ": expected an object, got an array"),
    *[(["data", 3, name], GONE, ": missing") for name in ITEM],
    (["data", 3, "id"], "", ": expected an id, got empty text"),
    (["data", 3, "id"], 7, ": expected text, got a number"),
    (["data", 3, "name"], None, ": expected text, got null"),
    (["data", 3, "status"], [], ": expected text, got an array"),
    *[(["page"], GONE, ": missing"), (["page"], None, ": expected an object, got null")],
    (["page", "next"], GONE, f": missing; {ENDS_SO}"),
)  # fmt: skip
def test_invalid_listing_is_refused_with_its_path(path, value, problem):
    where = "$" + "".join(f"[{step}]" if step == 3 else f".{step}" for step in path)
    body = with_spot(listing_of(*[ITEM] * 5), path, value)
    assert problem_with(body, Campaign) == f"{where}{problem}"
    if path[0] == "data" and len(path) > 1:
        body["data"][1] = {**ITEM, "id": None}  # the first one of several is named
        expected = "$.data[1].id: expected text, got null"
        assert problem_with(body, Campaign) == expected


def test_null_is_a_page_without_items():
    page = structure({"data": None, "page": {"next": "a"}}, Campaign)
    assert (len(page.data), page.next) == (0, "a")


@each_case("path", ["draft_id"], ["status"], ["requires"], ["diff", "field"])
def test_text_field_of_a_draft_with_another_type_is_refused(path):
    where = f"$.{'.'.join(path)}"
    assert problem_with(with_spot(DRAFT, path, GONE), Draft) == f"{where}: missing"
    for got, value in WRONG.items():
        problem = f"{where}: expected text, got {got}"
        assert problem_with(with_spot(DRAFT, path, value), Draft) == problem
        if got != "an object":
            for cls in (Draft, Ad):
                assert problem_with(value, cls) == f"$: expected an object, got {got}"


@each_case(("path", "value", "problem"),
    (["draft_id"], "", "$.draft_id: expected an id, got empty text"),
    (["diff"], GONE, "$.diff: missing"),
    (["diff"], "x", "$.diff: expected an object, got text"),
    (["diff"], [*DRAFT["diff"].items()], "$.diff: expected an object, got an array"),
    *[(["diff", name], GONE, f"$.diff.{name}: missing") for name in ("before", "after")],
)  # fmt: skip
def test_invalid_draft_is_refused_with_its_path(path, value, problem):
    assert problem_with(with_spot(DRAFT, path, value), Draft) == problem


def test_unknown_fields_are_kept():
    more = {"budget": {"amount": 5}, "extra": 1, "response": 2, "page": 3}
    body = {"data": [{**ITEM, **more}], "page": {"next": None, "total": 9}, "took": 1}
    listing = structure(body, Campaign)
    assert listing.data[0].extra == more
    assert listing.data[0].to_dict() == {**ITEM, **more}
    assert (listing.extra, listing.to_dict()) == ({"took": 1, "page": {"total": 9}}, body)
    body = {**more, **DRAFT, "diff": {**more, **DRAFT["diff"], "id": "x"}}
    draft = structure(body, Draft)
    assert draft.extra == more
    assert draft.diff.extra == {**more, "id": "x"}
    assert draft.to_dict() == body


@each_case("cls", Objective, WastedSpend)
def test_item_of_an_analysis_requires_only_an_id(cls):
    nulls = {"id": "a", "name": None, "status": None}
    for sent in ({"id": "a"}, nulls, {"id": "a", "name": "b"}):
        (item,) = items_of(cls, sent)
        assert (item.name, item.status) == (sent.get("name"), None)
        assert item.to_dict() == sent
    for wrong, problem in (
        ({"id": "a", "name": 7}, "name: expected text, got a number"),
        ({**nulls, "id": ""}, "id: expected an id, got empty text"),
        ({"name": "b"}, "id: missing"),
    ):
        assert problem_with(listing_of(wrong), cls) == f"$.data[0].{problem}"


@given(JSON_VALUE)
def test_any_body_is_decoded_or_a_json_error(value):
    for cls in (Draft, Campaign, Objective):
        for body in (value, {"data": value, "page": value, "diff": value}):
            with contextlib.suppress(JSONError):
                structure(body, cls)
