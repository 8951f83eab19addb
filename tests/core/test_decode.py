"""Decoding responses into drafts and listings, and errors about those that do not fit."""

import contextlib

import pytest
from cases import each_case
from core_helpers import DRAFT, ITEM, JSON_VALUE, LISTING, TEXT, problem_with, structure
from hypothesis import given, strategies as st

from adclient._core import decode
from adclient._core.jsontext import JSONError
from adclient._core.operations import PageBody, PageInfo
from adclient._values.json_values import copied
from adclient.models import Ad, Campaign, Draft, Objective, ResponseInfo, WastedSpend

THREE = {"data": [ITEM, {**ITEM, "spend": 1.5}, ITEM], "page": {"next": "more"}}
# A class, a valid body, and the path to one place in the body.
SPOTS = [
    *[(Draft, DRAFT, name) for name in DRAFT],
    *[(Draft, DRAFT, "diff", name) for name in ("field", "before", "after")],
    *[
        (PageBody[cls], THREE, *way)
        for cls in (Campaign, Objective)
        for way in [
            ("data",),
            ("page",),
            ("page", "next"),
            *[("data", index) for index in range(3)],
            *[("data", index, name) for index in range(3) for name in ITEM],
        ]
    ],
]


WRONG = {  # values that are not text, by their name in errors
    "null": None,
    "true or false": True,
    "a number": 7,
    "a number with a fraction": 1.5,
    "an array": ["a"],
    "an object": {"a": "b"},
}
TEXT_FIELDS = [("draft_id",), ("status",), ("requires",), ("diff", "field")]
EVERY_TYPE = [None, True, False, 0, 1, 1.0, "", "1", [], [True, 1, 1.0], {}, {"a": None}]


def with_spot(body, path, value):
    """Return a copy of a body with another value at one place."""
    body = parent = copied(body)
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    return body


def items_of(cls, *items):
    return structure({"data": list(items), "page": {"next": None}}, PageBody[cls]).data


class TestResponses:
    def test_draft_is_decoded(self):
        draft = structure(DRAFT, Draft)
        assert draft.draft_id == "draft_7c2e"
        assert draft.status == "pending_approval"
        assert (draft.diff.field, draft.diff.before, draft.diff.after) == ("daily_budget", 100, 120)
        assert draft.requires == "human_two_step_approve"
        assert draft.response.status == 0
        assert draft.to_dict() == DRAFT

    def test_listing_is_decoded(self):
        listing = structure(LISTING, PageBody[Campaign])
        assert listing.data == (Campaign(id="campaign_57a7", name="Spring", status="ENABLED"),)
        assert listing.page == PageInfo(next=None)

    def test_item_of_an_analysis_with_an_empty_id_is_refused(self):
        for more in ({}, {"name": "b", "status": None}):
            body = {"data": [{"id": "", **more}], "page": {"next": None}}
            expected = "$.data[0].id: expected an id, got empty text"
            assert problem_with(body, PageBody[Objective]) == expected

    @each_case("cursor", [None, "c", 7, 1.5, {"a": [1]}, [1], True])
    def test_cursor_may_be_any_json(self, cursor):
        assert structure({"data": [], "page": {"next": cursor}}, PageBody[Ad]).page.next == cursor

    @each_case("value", [None, 1, 1.5, "a", True, [1, {"b": 2}], {"c": None}])
    def test_diff_values_may_be_any_json(self, value):
        diff = {"field": "f", "before": value, "after": value}
        assert structure({**DRAFT, "diff": diff}, Draft).diff.before == value

    def test_error_contains_the_path_of_the_invalid_value(self):
        body = {
            "data": [{**ITEM}, {**ITEM}, {**ITEM}, {**ITEM, "id": None}],
            "page": {"next": None},
        }
        assert problem_with(body, PageBody[Campaign]) == "$.data[3].id: expected text, got null"

    @each_case(
        ("change", "problem"),
        [
            ({"data": None}, "$.data: expected an array, got null"),
            ({"data": {}}, "$.data: expected an array, got an object"),
            ({"data": "abc"}, "$.data: expected an array, got text"),
            ({"data": [None]}, "$.data[0]: expected an object, got null"),
            ({"data": [[]]}, "$.data[0]: expected an object, got an array"),
            ({"data": [{"name": "b", "status": "c"}]}, "$.data[0].id: missing"),
            ({"data": [{"id": "a", "status": "c"}]}, "$.data[0].name: missing"),
            ({"data": [{**ITEM, "id": 7}]}, "$.data[0].id: expected text, got a number"),
            ({"data": [ITEM, {**ITEM, "id": ""}]}, "$.data[1].id: expected an id, got empty text"),
            (
                {"data": [{**ITEM, "id": "", "name": None}]},
                "$.data[0].id: expected an id, got empty text",
            ),
            (
                {"data": [{**ITEM, "name": True}]},
                "$.data[0].name: expected text, got true or false",
            ),
            ({"data": [{**ITEM, "status": []}]}, "$.data[0].status: expected text, got an array"),
            ({"data": [{**ITEM, "status": {}}]}, "$.data[0].status: expected text, got an object"),
            ({"page": None}, "$.page: expected an object, got null"),
            ({"page": {}}, "$.page.next: missing"),
            ({"page": "x"}, "$.page: expected an object, got text"),
        ],
    )
    def test_invalid_listing_is_refused_with_its_path(self, change, problem):
        assert problem_with({**LISTING, **change}, PageBody[Campaign]) == problem

    @pytest.mark.parametrize("missing", ["data", "page"])
    def test_listing_with_a_missing_field_is_refused(self, missing):
        body = {name: value for name, value in LISTING.items() if name != missing}
        assert problem_with(body, PageBody[Campaign]) == f"$.{missing}: missing"

    @pytest.mark.parametrize("missing", ["draft_id", "status", "diff", "requires"])
    def test_draft_with_a_missing_field_is_refused(self, missing):
        body = {name: value for name, value in DRAFT.items() if name != missing}
        assert problem_with(body, Draft) == f"$.{missing}: missing"

    @pytest.mark.parametrize("missing", ["field", "before", "after"])
    def test_diff_with_a_missing_field_is_refused(self, missing):
        diff = {name: value for name, value in DRAFT["diff"].items() if name != missing}
        assert problem_with({**DRAFT, "diff": diff}, Draft) == f"$.diff.{missing}: missing"

    @each_case("got", WRONG)
    @each_case("path", TEXT_FIELDS)
    def test_text_field_of_a_draft_with_another_type_is_refused(self, path, got):
        body = with_spot(DRAFT, path, WRONG[got])
        words = got.removesuffix(" with a fraction")
        assert problem_with(body, Draft) == f"$.{'.'.join(path)}: expected text, got {words}"

    @each_case(
        ("value", "got"),
        [
            *[(None, "null"), (True, "true or false"), (7, "a number"), (1.5, "a number")],
            *[("x", "text"), ([], "an array"), ([*DRAFT["diff"].items()], "an array")],
        ],
    )
    def test_diff_that_is_not_an_object_is_refused(self, value, got):
        body = {**DRAFT, "diff": value}
        assert problem_with(body, Draft) == f"$.diff: expected an object, got {got}"

    @each_case("value", EVERY_TYPE)
    @each_case("name", ["before", "after"])
    def test_diff_value_keeps_its_exact_type(self, name, value):
        body = with_spot(DRAFT, ("diff", name), value)
        fast = decode.read(lambda: copied(body), Draft, ResponseInfo())
        for draft in (structure(body, Draft), fast):
            assert repr(getattr(draft.diff, name)) == repr(value)  # because True == 1 == 1.0

    @each_case(
        ("body", "got"),
        [(None, "null"), ([], "an array"), ("x", "text"), (7, "a number"), (True, "true or false")],
    )
    def test_body_that_is_not_an_object_is_refused(self, body, got):
        assert problem_with(body, Draft) == f"$: expected an object, got {got}"
        assert problem_with(body, PageBody[Ad]) == f"$: expected an object, got {got}"

    def test_unknown_fields_are_kept(self):
        item = {**ITEM, "budget": {"amount": 5}, "extra": 1, "response": 2, "page": 3}
        body = {"data": [item], "page": {"next": None, "total": 9}, "took": 1}
        listing = structure(body, PageBody[Campaign])
        (campaign,) = listing.data
        assert campaign.extra == {"budget": {"amount": 5}, "extra": 1, "response": 2, "page": 3}
        assert campaign.to_dict() == item
        assert listing.page.extra == {"total": 9}
        assert listing.extra == {"took": 1}

    @pytest.mark.parametrize("cls", [Objective, WastedSpend])
    def test_finding_requires_only_an_id(self, cls):
        only_id, nulls = items_of(cls, {"id": "a"}, {"id": "a", "name": None, "status": None})
        assert only_id.name is nulls.name is None
        assert only_id.to_dict() == {"id": "a"}
        (named,) = items_of(cls, {"id": "a", "name": "b"})
        assert (named.name, named.status, named.extra) == ("b", None, {})
        assert nulls.to_dict() == {"id": "a", "name": None, "status": None}

    def test_optional_fields_of_a_finding_are_not_coerced(self):
        body = {"data": [{"id": "a", "name": 7}], "page": {"next": None}}
        assert problem_with(body, PageBody[Objective]).startswith("$.data[0].name: expected text")

    @given(st.dictionaries(TEXT | st.sampled_from(["extra", "response", "id", "name"]), JSON_VALUE))
    def test_to_dict_returns_the_original_body(self, extra):
        finding = {**extra, "id": "a", "name": None}
        finding.pop("status", None)
        (found,) = items_of(Objective, finding)
        assert found.to_dict() == finding
        (campaign,) = items_of(Campaign, {**extra, **ITEM})
        assert campaign.to_dict() == {**extra, **ITEM}
        diff = {**extra, **DRAFT["diff"]}
        assert structure({**extra, **DRAFT, "diff": diff}, Draft).to_dict() == {
            **extra,
            **DRAFT,
            "diff": diff,
        }

    @given(JSON_VALUE)
    def test_any_body_is_decoded_or_a_json_error(self, value):
        for cls in (Draft, PageBody[Campaign], PageBody[Objective]):
            with contextlib.suppress(JSONError):
                structure(value, cls)

    @given(st.sampled_from(SPOTS), st.none() | JSON_VALUE, st.booleans())
    def test_body_with_one_odd_value_is_decoded_as_by_the_converter(self, spot, value, is_gone):
        cls, body, *path, name = spot
        body = parent = copied(body)
        for step in path:
            parent = parent[step]
        if is_gone:
            del parent[name]
        else:
            parent[name] = value
        with contextlib.suppress(JSONError):
            structure(body, cls)

    @pytest.mark.parametrize("status", ["ENABLED", "PAUSED", "", "a status of tomorrow"])
    def test_status_may_be_any_text(self, status):
        assert structure({**DRAFT, "status": status}, Draft).status == status
