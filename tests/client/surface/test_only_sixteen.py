"""No argument, however hostile, makes a request outside the sixteen operations."""

import json
from contextlib import suppress
from itertools import chain
from unittest.mock import Mock
from urllib.parse import parse_qsl

import attrs
import httpx
import pytest
from clients import BASE_URL, Service, a_draft, a_page, method_of, names, sync_and_async, wait
from hypothesis import given, strategies as st
from interface_table import NUMBER, OBJECT, ROWS, STRING, STRINGS
from memory_ledger import MemoryLedger

import adclient
from adclient import AdClient, AdClientError, ConfigurationError, Conventions, PolicyRefused
from adclient.extend import OPERATIONS, Call, Credentials, parts_of, run, validated
from adclient.policy import Policy

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


# Tools of somebody else.

PAUSE = next(each for each in OPERATIONS if each.full_name == "beta.pause_campaign")


def pause(account_id="a") -> Call:
    return validated(PAUSE, {"account_id": account_id, "campaign_id": "c"})


@sync_and_async
async def test_run_refuses_an_operation_that_is_none_of_the_sixteen(client_kind) -> None:
    async with client_kind.open(transport=Service().transport) as client:
        for changed in ({"path": "/v1/drafts/draft_1/approve"}, {"method": "GET"}, {}):
            call = attrs.evolve(pause(), operation=attrs.evolve(PAUSE, **changed))
            with pytest.raises(ConfigurationError, match="is none of the operations of adclient"):
                await wait(run(client, call))


@sync_and_async
async def test_run_sends_what_the_policy_and_the_ledger_see(client_kind) -> None:
    service, ledger, call = Service(a_draft()), MemoryLedger(), pause()
    options = {"ledger": ledger, "policy": Policy(accounts=["a"], fields=["name"])}
    async with client_kind.open(transport=service.transport, **options) as client:
        for changed in (
            {"arguments": {**call.arguments, "account_id": "b"}}, {"account_id": "b"},
            {"arguments": {**call.arguments, "fields": {1, 2}}},
        ):  # fmt: skip
            with pytest.raises(adclient.InvalidRequest, match="; nothing was sent"):
                await wait(run(client, attrs.evolve(call, **changed)))
        sent = {**call.encoded, "account_id": '"b"', "approve": "true"}
        await wait(run(client, attrs.evolve(call, encoded=sent)))
        wrong = attrs.evolve(call, arguments={**call.arguments, "fields": 5})
        with pytest.raises(PolicyRefused, match="fields is listed neither"):
            await wait(run(client, wrong))
        elsewhere = attrs.evolve(parts_of(client).options, base_url="https://b.example.com")
        with pytest.raises(ConfigurationError, match="base_url is another one"):
            await wait(run(client, call, options=elsewhere))
    assert json.loads(service.requests[0].content) == ledger.rows[0].arguments == call.arguments
    assert len(service.requests) == 1


@sync_and_async
async def test_run_can_have_other_options_and_credentials_than_its_client(client_kind) -> None:
    service = Service(a_draft(), a_draft())
    async with client_kind.open(transport=service.transport, token="t0ken") as client:
        options = attrs.evolve(parts_of(client).options, headers={"x-tool": "1"})
        await wait(run(client, pause(), options=options, credentials=Credentials()))
        await wait(run(client, pause()))
    names = ("x-tool", "authorization")
    sent = [[each.headers.get(name) for each in service.requests] for name in names]
    assert sent == [["1", None], [None, "Bearer t0ken"]]


class Guard:
    """It is the record of each call, and fails where it is told to."""

    def __init__(self, fails=None) -> None:
        self.seen, self.fails = [], fails

    def note(self, name, *values) -> "Guard":
        self.seen.append((name, *values))
        if name == self.fails:
            raise ValueError(name)
        return self

    def admit(self, call, actor) -> "Guard":
        return self.note("admit", call.account_id, actor)

    def reserve(self, seconds) -> None:
        self.note("reserve", 0 < seconds < 30)

    def end(self, result, attempts) -> None:
        self.note("end", type(result).__name__, attempts)


def test_record_is_ended_if_its_beginning_was_interrupted() -> None:
    service, guard = Service(a_draft()), Guard()
    guard.reserve = Mock(side_effect=KeyboardInterrupt)
    with (
        AdClient(BASE_URL, transport=service.transport) as client,
        pytest.raises(KeyboardInterrupt),
    ):
        run(client, pause(), guard=guard)
    assert (guard.seen[1:], service.requests) == ([("end", "CallTimeout", 0)], [])


@sync_and_async
async def test_guard_of_a_run_is_added_to_the_policy_and_the_ledger(client_kind) -> None:
    ledger, service = MemoryLedger(), Service(a_draft(), a_draft(), a_draft())
    options = {"ledger": ledger, "policy": Policy(accounts=["a"]), "actor": "kim"}
    begin = [("admit", "a", "kim"), ("reserve", True)]
    async with client_kind.open(transport=service.transport, **options) as client:
        with pytest.raises(PolicyRefused):
            await wait(run(client, pause("b"), guard=Guard()))
        del ledger.rows[:]
        await wait(run(client, pause(), guard=(guard := Guard())))
        assert guard.seen == [*begin, ("end", "Draft", 1)]
        assert ledger.states == ["under way", "staged"]
        for fails, states in (("admit", []), ("reserve", ["under way", "not staged"])):
            del ledger.rows[:]
            with pytest.raises(ValueError, match=fails):
                await wait(run(client, pause(), guard=(guard := Guard(fails))))
            assert (guard.seen, ledger.states) == (begin[: 1 + len(states) // 2], states)
    assert len(service.requests) == 1
    service = Service(a_draft(), a_page("a", next="A"), a_page("b"))
    async with client_kind.open(transport=service.transport) as client:
        with pytest.warns(RuntimeWarning, match="its end could not be recorded: ValueError"):
            assert (await wait(run(client, pause(), guard=Guard("end")))).draft_id
        call, guard = validated(OPERATIONS[-1], {"account_id": "a"}), Guard()
        page = await wait(run(client, call, guard=guard))
        assert names(await wait(page.collect())) == "ab"  # later pages go the same way
        assert [name for name, *_ in guard.seen] == ["admit", "reserve", "end"] * 2
