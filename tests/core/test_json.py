import json

import pytest
from cases import each_case
from hypothesis import given, strategies as st

from adclient._values.json_values import copied, copied_fields, differ

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
    assert not differ(copy, value)
    for _ in range(50_000):
        copy = copy[0] if isinstance(copy, list) else copy["a"]
    assert copy == 7


@given(VALUE, VALUE)
def test_values_differ_if_their_json_does(one, other):
    assert differ(one, other) is (
        json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True)
    )
    assert not differ(one, copied(one))


@each_case(
    ("one", "other", "different"),
    [
        (100, 100.0, False),
        (1, True, True),
        ({"a": [1]}, {"a": [True]}, True),
        ({"a": None}, {}, True),
        ({"a": None}, {"b": None}, True),
        ([1, 2], [1], True),
        ([1, 2], [2, 1], True),
        ({}, [], True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
    ],
)
def test_true_and_1_differ_and_null_is_not_absence(one, other, different):
    assert differ(one, other) is different
