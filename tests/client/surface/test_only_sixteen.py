"""No argument, however hostile, makes a request outside the sixteen operations."""

import json
from contextlib import suppress
from itertools import chain
from urllib.parse import parse_qsl

import httpx
from clients import BASE_URL, a_draft, a_page, method_of
from hypothesis import given, strategies as st
from interface_table import NUMBER, OBJECT, ROWS, STRING, STRINGS

from adclient import AdClient, AdClientError, Conventions

hostile_texts = st.one_of(
    st.sampled_from([
        "..", "../x", "../../v1/drafts/draft_1/approve", "%2e%2e", "%2F..%2F", "a/b?c#d",
        "a&approve=true", "//evil.example.com", "https://evil.example.com/",
        "https://ads.example.com/prefix/v1/drafts/draft_1/approve?x=1", "?x=1",
        "/prefix/v1/drafts?x=1", "/prefix/v1/drafts", "\r\nX-Approve: 1", "a\x00b", "\ud800",
        "x" * 10_000, "",
    ]),
    st.text(),
)  # fmt: skip
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | hostile_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(hostile_texts, inner, max_size=3),
    max_leaves=6,
)
VALUES = {
    STRING: hostile_texts | st.none() | st.integers(),
    OBJECT: st.dictionaries(hostile_texts, json_values, max_size=3) | json_values,
    NUMBER: st.integers() | st.floats() | st.decimals() | hostile_texts,
    STRINGS: st.lists(hostile_texts, max_size=3) | json_values,
}
conventions = st.builds(
    Conventions,
    read_parameters=st.sampled_from(["query", "body"]),
    object_style=st.sampled_from(["json", "deep_object"]),
    cursor_parameter=st.sampled_from(["cursor", "a&b=c", "x#y", "../x", "a[b]", "é"]),
    follow_next_urls=st.booleans(),
    idempotency_header=st.sampled_from([None, "x-key"]),
)


def arguments_of(row):
    strategies = {p.name: VALUES[p.type] for p in row.parameters}
    if row.is_read:
        strategies["cursor"] = json_values
    return st.fixed_dictionaries(strategies)


def pairs_of(row, arguments, cursor, conventions) -> list[tuple[str, str]]:
    """Return the expected pairs of the query, in the order of the interface."""
    if not row.is_read or conventions.read_parameters == "body":
        return []
    given = [(p.name, arguments[p.name]) for p in row.parameters]
    split = bracketed if conventions.object_style == "deep_object" else whole
    found = chain(*(split(name, value) for name, value in given if value is not None))
    last = [] if cursor is None else whole(conventions.cursor_parameter, cursor)
    return [*found, *last]


def whole(name, value) -> list[tuple[str, str]]:
    if isinstance(value, str):
        return [(name, value)]
    return [(name, json.dumps(value, ensure_ascii=False, separators=(",", ":")))]


def bracketed(name, value) -> list[tuple[str, str]]:
    children = enumerate(value) if isinstance(value, list) else ()
    children = value.items() if isinstance(value, dict) else children
    found = list(chain(*(bracketed(f"{name}[{key}]", child) for key, child in children)))
    return found or whole(name, value)


@given(st.sampled_from(ROWS), st.data())
def test_hostile_arguments_make_no_request_outside_the_operations(row, data) -> None:
    seen, following = [], data.draw(json_values)
    chosen, arguments = data.draw(conventions), data.draw(arguments_of(row))

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        if not row.is_read:
            return a_draft()
        with suppress(ValueError):  # what JSON cannot hold
            if len(seen) == 1:
                return a_page("a", following)
        return a_page("b")

    transport = httpx.MockTransport(answer)
    with AdClient(BASE_URL, transport=transport, token="t0ken", conventions=chosen) as client:
        try:
            result = method_of(client, row.call)(**arguments)
            if row.is_read:
                list(result)
        except AdClientError as error:
            assert not error.outcome_unknown  # noqa: PT017  an error is one of several good ends
    assert len(seen) <= 2
    for request, cursor in zip(seen, (arguments.get("cursor"), following), strict=False):
        path, _, query = request.url.raw_path.decode("ascii").partition("?")
        assert (request.method, path) == (row.method, f"/prefix{row.path}")
        # A URL that is followed may add pairs of its own.
        if not (chosen.follow_next_urls and isinstance(cursor, str)):
            pairs = parse_qsl(query, keep_blank_values=True, errors="strict")
            assert pairs == pairs_of(row, arguments, cursor, chosen)
        assert str(request.url).startswith(f"{BASE_URL}/v1/")
        assert request.headers["host"] == "ads.example.com"
        assert "x-approve" not in request.headers
