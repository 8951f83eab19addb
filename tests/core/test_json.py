import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st

from adclient._json import copied, copied_fields, differences

VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=15,
)


def containers_in(value):
    if isinstance(value, list | dict):
        yield id(value)
        for inner in value.values() if isinstance(value, dict) else value:
            yield from containers_in(inner)


@given(VALUE)
def test_copy_is_equal_and_shares_nothing(value):
    copy = copied(value)
    assert copy == value
    assert repr(copy) == repr(value)
    assert not set(containers_in(copy)) & set(containers_in(value))


@given(st.dictionaries(st.text(max_size=5), VALUE))
def test_copied_fields_share_nothing(fields):
    copy = copied_fields(fields)
    assert copy == fields
    assert list(copy) == list(fields)
    assert not set(containers_in(copy)) & set(containers_in(fields))


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}])
def test_value_of_any_depth_is_copied_and_compared(wrap):
    value = 7
    for _ in range(50_000):
        value = wrap(value)
    copy = copied(value)
    for _ in range(50_000):
        copy = copy[0] if isinstance(copy, list) else copy["a"]
    assert copy == 7


@each_case(
    ("before", "after", "found"),
    [
        (100, 120, [("x", 100, 120)]),
        (100, 100.0, []),
        (1, True, [("x", 1, True)]),
        (None, {"a": 1}, [("x", None, {"a": 1})]),
        ([1, 2], [1], [("x", [1, 2], [1])]),
        ([1, 2], [1, 3], [("x[1]", 2, 3)]),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1, "c": 3}]}, [("x.a[0].c", 2, 3)]),
        ({"a": 1}, {"b": 1}, [("x.a", 1, None), ("x.b", None, 1)]),
        ({"a": 1}, {"a": 1}, []),
        ({"a": None}, {}, [("x", {"a": None}, {})]),
        ({"y": {"b": 1}}, {"y": {"b": 1, "a": None}}, [("x.y", {"b": 1}, {"b": 1, "a": None})]),
        ({"a": None, "b": 1}, {"a": None}, [("x.b", 1, None)]),
    ],
)
def test_differences_are_listed_by_path(before, after, found):
    assert list(differences("x", before, after)) == found
