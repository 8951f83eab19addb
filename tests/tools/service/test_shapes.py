"""The shapes of fields, inferred from the objects of a listing."""

from decimal import Decimal
from typing import get_args

from cases import each_case
from core_helpers import JSON_VALUE, TEXT
from hypothesis import given, strategies as st

from adclient._core import jsontext
from adclient._service.model import JSONType, Shape
from adclient._service.shapes import shapes_of


def shape_of(*values, keep_texts=False, ids=None, name="field"):
    """The shape of a field that has these values."""
    rows = [{name: value} for value in values]
    return shapes_of(rows, keep_texts=keep_texts, ids=ids or {})[name]


@each_case(
    ("values", "expected"),
    [
        ([None], Shape(types=("null",))),
        ([True, None], Shape(types=("boolean", "null"))),
        ([3, -1, 2], Shape(types=("integer",), minimum=-1, maximum=3)),
        (
            [3, 0.125, 2.50],
            Shape(types=("number",), minimum=Decimal("0.125"), maximum=3, decimals=3),
        ),
        ([1e20], Shape(types=("number",), minimum=10**20, maximum=10**20, decimals=0)),
        (
            [Decimal("0.12345678901234567890")],
            Shape(
                types=("number",),
                minimum=Decimal("0.1234567890123456789"),
                maximum=Decimal("0.1234567890123456789"),
                decimals=20,
            ),
        ),
        (["b", "", "abc"], Shape(types=("string",), min_length=0, max_length=3)),
        (["a", "b", "a"], Shape(types=("string",), min_length=1, max_length=1, distinct=2)),
        ([[], []], Shape(types=("array",), min_length=0, max_length=0)),
        (
            [[1], ["a", 2], None],
            Shape(
                types=("array", "null"),
                min_length=1,
                max_length=2,
                items=Shape(
                    types=("integer", "string"), minimum=1, maximum=2, min_length=1, max_length=1
                ),
            ),
        ),
    ],
)
def test_shape_has_the_types_and_ranges_of_the_values(values, expected):
    assert shape_of(*values) == expected


@each_case(
    ("texts", "expected"),
    [
        (["2026-01-31"], "date"),
        (["2026-01-31", ""], None),
        (["2026-02-30"], None),
        (["20260131"], "digits"),
        (["2026-01-31T10:00:00Z", "2026-01-31T10:00:00.123+02:00"], "date-time"),
        (["2026-01-31 10:00:00"], None),
        (["2026-01-31T25:00:00"], None),
        (["https://a.example/x?y=1", "s3://bucket/key"], "uri"),
        (["mailto:somebody"], None),
        (["http://[::1"], None),
        (["http://a b/"], None),
        (["1b4e28ba-2fa1-11d2-883f-0016d3cca427"], "uuid"),
        (["0017", "3"], "digits"),
        (["²"], None),
        (["2026-01-31", "0017"], None),
        ([None], None),
    ],
)
def test_format_is_one_that_all_texts_have(texts, expected):
    assert shape_of(*texts, None).format == expected


def test_fields_of_objects_are_merged_in_the_order_first_seen():
    rows = [
        {"b": 1, "in": {"id": 1, "x": "t"}},
        {"c": None, "b": None, "in": {"id": 2, "y": True}},
        "skipped",
    ]
    shapes = shapes_of(rows, keep_texts=False, ids={})
    assert [(name, each.is_optional) for name, each in shapes.items()] == [
        ("b", False),
        ("in", False),
        ("c", True),
    ]
    inner = shapes["in"].properties
    assert [(name, each.types, each.is_optional) for name, each in inner.items()] == [
        ("id", ("integer",), False),
        ("x", ("string",), True),
        ("y", ("boolean",), True),
    ]


def test_array_of_objects_has_the_fields_of_all_its_elements():
    items = shape_of([{"a": 1}], [], [{"a": 0, "b": "x"}, {"a": 2}]).items
    assert items is not None
    assert {name: each.is_optional for name, each in items.properties.items()} == {
        "a": False,
        "b": True,
    }
    assert items.properties["a"].maximum == 2


@each_case(
    ("objects", "names"),
    [
        ([{"alice@example.com": 3}], []),
        ([{"alice": 3}, {"bob": 4}], []),
        ([{"alice": 3}, {}], ["alice"]),
        ([{"foo-bar": 3, "@type": "x"}], ["foo-bar", "@type"]),
        ([{"2026-01-01": 3}], []),
        ([{"id": 1, **{f"user{n}": n}} for n in range(21)], []),
        (
            [{"id": 1, **{f"user{n}": n}} for n in range(20)],
            ["id", *(f"user{n}" for n in range(20))],
        ),
        ([{f"metric{n}": n for n in range(30)}] * 2, [f"metric{n}" for n in range(30)]),
        ([{}], []),
    ],
)
def test_keys_that_are_data_are_left_out(objects, names):
    for shape in (shape_of(*objects), shape_of(objects).items):
        assert shape.types == ("object",)
        assert list(shape.properties) == names


def test_name_that_no_file_can_hold_is_left_out():
    assert list(shapes_of([{"a": 1, "a\ud800": 2}], keep_texts=False, ids={})) == ["a"]


def test_texts_are_kept_only_on_request_and_if_few():
    few, many = ["b", "a", "b"], [str(n) for n in range(21)]
    assert shape_of(*few).values == ()
    assert shape_of(*few, keep_texts=True).values == ("b", "a")
    assert shape_of(*many, keep_texts=True).values == ()
    assert shape_of(*many, *many).distinct is None
    assert shape_of(*many[1:], *many[1:]).distinct == 20


@each_case(
    ("name", "texts", "expected"),
    [
        ("campaign_id", ["c1", "c2", "c1"], "beta.list_campaigns"),
        ("campaign_id", ["c1", "other"], None),
        ("ad_ids", [["a1"], [], ["a2", "a1"]], "gamma.list_ads"),
        ("parent", [{"id": "c1"}], "beta.list_campaigns"),
        ("id", ["c1", "c2"], None),
        ("none", [None], None),
    ],
)
def test_reference_is_the_read_whose_items_have_all_ids(name, texts, expected):
    ids = {"beta.list_campaigns": ["c1", "c2"], "gamma.list_ads": ["a1", "a2"]}
    shape = shape_of(*texts, name=name, ids=ids, keep_texts=True)
    inner = shape.items or shape.properties.get("id") or shape
    assert inner.reference == expected
    assert bool(inner.values) == (expected is None and name != "none")


def test_depth_and_number_of_fields_are_limited():
    deep = {}
    for _ in range(10):
        deep = {"in": [deep]}
    shape, levels = shape_of(deep), 1
    while inner := shape.items or shape.properties.get("in"):
        shape, levels = inner, levels + 1
    assert levels == 6
    assert shape.types == ("array",)

    wide = shapes_of([{str(n): n for n in range(300)}], keep_texts=False, ids={})
    assert list(wide) == [str(n) for n in range(200)]


@given(st.lists(st.dictionaries(TEXT, JSON_VALUE, max_size=4), max_size=4), st.booleans())
def test_any_json_has_a_shape(rows, keep_texts):
    decoded = jsontext.loads(jsontext.dumps(rows, "rows").encode())
    shapes = shapes_of(decoded, keep_texts=keep_texts, ids={})
    names = dict.fromkeys(name for row in rows for name in row if name.isprintable())
    assert list(shapes) == list(names)
    for name, shape in shapes.items():
        assert shape.types
        assert list(shape.types) == [kind for kind in get_args(JSONType) if kind in shape.types]
        assert shape.is_optional == any(name not in row for row in rows)
