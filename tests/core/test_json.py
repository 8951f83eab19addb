import pytest
from hypothesis import given
from hypothesis import strategies as st

from adclient._json import copied, copied_fields

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
def test_a_copy_is_equal_and_shares_nothing(value):
    copy = copied(value)
    assert copy == value
    assert repr(copy) == repr(value)
    assert not set(containers_in(copy)) & set(containers_in(value))


@given(st.dictionaries(st.text(max_size=5), VALUE))
def test_fields_are_copied_alike(fields):
    copy = copied_fields(fields)
    assert copy == fields
    assert list(copy) == list(fields)
    assert not set(containers_in(copy)) & set(containers_in(fields))


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}])
def test_any_depth(wrap):
    value = 7
    for _ in range(50_000):
        value = wrap(value)
    copy = copied(value)
    for _ in range(50_000):
        copy = copy[0] if isinstance(copy, list) else copy["a"]
    assert copy == 7
