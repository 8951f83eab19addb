"""No text contains a credential, even if a response repeats it."""

import copy
import gc
import inspect
import json
import pickle
import tracemalloc
import warnings
from html import escape
from urllib.parse import quote

import attrs
import clients
import httpx
import pytest
from cases import each_case
from clients import Service, a_draft, a_page, everything, read, sync_and_async, wait, write
from interface_table import ROWS
from memory import MIB
from raw_server import Connection, RawServer, reply, serve_well
from secret_texts import TOKEN, assert_untold, locals_of, shown_by

import adclient
from adclient import AdClientError, ConfigurationError, Conventions, Hooks, PaginationError

URL = "https://ads.example.com"


def in_json(given: str) -> bytes:
    message = f"{given} may not do that"
    errors = [{"message": message, "field": message}]
    body = {"error": {"message": message, "code": message, "details": errors}}
    return reply(403, json.dumps({**body, "request_id": message}).encode())


def in_a_success_that_is_none(given: str) -> bytes:
    return reply(200, json.dumps({"error": given, "draft_id": given}).encode())


def in_a_success_that_is_no_json(given: str) -> bytes:
    return reply(201, f"{given} is not welcome".encode())


def behind_a_long_text(given: str) -> bytes:
    """The message and the body of the error would be cut off within the credentials."""
    return reply(500, f"{'x' * 145}{given}{'x' * (2035 - 145 - len(given))}{given}".encode())


def in_escaped_letters_far_behind(given: str) -> bytes:
    escaped = "".join(f"\\u{ord(char):04x}" for char in given)
    return reply(200, f'{{"x": "{"y" * 70_000}", "message": "{escaped}"}}'.encode())


def in_headers(given: str) -> bytes:
    return reply(429, b"{}", f"X-Request-Id: {given}", f"X-Echo: {given}", "Retry-After: 99")


def in_a_redirect(given: str) -> bytes:
    return reply(307, given.encode(), f"Location: https://elsewhere.example.com/?t={given}")


def in_a_content_coding(given: str) -> bytes:
    return reply(200, b"{}", f"Content-Encoding: {given}")


def in_what_is_no_http(given: str) -> bytes:
    return f"HTTP/1.1 200 OK\r\n{given}\r\n\r\n".encode()


def in_a_status_line(given: str) -> bytes:
    return f"{given}\r\n\r\n".encode()


IN_A_BODY = [in_json, in_a_success_that_is_none, in_a_success_that_is_no_json]
IN_A_BODY += [behind_a_long_text, in_escaped_letters_far_behind]
IN_A_HEAD = [in_headers, in_a_redirect, in_a_content_coding, in_what_is_no_http, in_a_status_line]


@each_case("answer", *IN_A_BODY, *IN_A_HEAD)
@sync_and_async
async def test_token_repeated_by_a_response_is_redacted(client_kind, answer, caplog) -> None:
    def serve(connection: Connection) -> None:
        if request := connection.read():
            [given] = [line for line in request.decode().split("\r\n") if TOKEN in line]
            connection.send(answer(given.partition(": ")[2]))

    caplog.clear()
    caplog.set_level("DEBUG")
    events = []
    options = {"hooks": Hooks(**dict.fromkeys(attrs.fields_dict(Hooks), events.append))}
    options["max_retries"] = 0 if answer is in_headers else 1  # there, the others would wait
    with RawServer(serve) as server, warnings.catch_warnings(record=True) as warned:
        for call, name in ((write, "token"), (read, "auth")):
            async with client_kind.open(
                server.url, **options, **{name: CREDENTIALS[name]}
            ) as client:
                with pytest.raises(AdClientError) as caught:
                    await wait(call(client))
                assert_untold(shown_by(caught.value))
    assert all(TOKEN.encode() in request for request in server.requests)
    assert len(events) >= 2 * len(server.requests)
    assert_untold(repr(events), *map(str, events), repr([attrs.asdict(each) for each in events]))
    # The HTTP library's own debug log contains the unredacted head of a response.
    ours = "adclient" if answer in IN_A_HEAD else ""
    assert_untold(*(repr(vars(record)) for record in caplog.records if ours in record.name))
    assert_untold(*(str(warning.message) for warning in warned))


@each_case("error", httpx.ConnectError(TOKEN), httpx.ReadError(TOKEN), RuntimeError(TOKEN))
@sync_and_async
async def test_token_in_the_error_of_a_transport_is_redacted(client_kind, error, caplog) -> None:
    caplog.clear()
    caplog.set_level("DEBUG", "adclient")
    events = []
    options = {"hooks": Hooks(**dict.fromkeys(attrs.fields_dict(Hooks), events.append))}
    options |= {"conventions": Conventions(idempotency_header="Idempotency-Key"), "max_retries": 1}
    service = Service(*[error] * 4)
    async with client_kind.open(transport=service.transport, token=TOKEN, **options) as client:
        keyed = client.with_options(headers={"idempotency-key": TOKEN})
        for call, given in ((write, keyed), (read, client)):
            with pytest.raises((AdClientError, RuntimeError)):
                await wait(call(given))
    assert len(events) >= 4
    assert_untold(repr([attrs.asdict(each) for each in events]), *map(str, events))
    assert_untold(*(repr(vars(record)) for record in caplog.records))


@sync_and_async
async def test_results_and_logs_of_each_method_have_no_token(client_kind, caplog) -> None:
    caplog.set_level("DEBUG")
    events = []
    options = {"hooks": Hooks(**dict.fromkeys(attrs.fields_dict(Hooks), events.append))}
    options |= {"token": TOKEN, "headers": {"x-key": TOKEN}}
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url, **options) as client:
            assert_untold(repr(client), repr(client.beta))
            for row in ROWS:
                value = await wait(clients.method_of(client, row.call)(**row.arguments))
                assert_untold(repr(value), str(value), value._repr_html_(), repr(value.response))
                assert_untold(repr(pickle.dumps(value)), repr(copy.deepcopy(value)))
                assert_untold(repr(attrs.asdict(value)), repr(attrs.astuple(value)))
    assert [request.count(TOKEN.encode()) for request in server.requests] == [2] * len(ROWS)
    assert_untold(caplog.text, repr([attrs.asdict(event) for event in events]))


@sync_and_async
async def test_successful_response_is_not_altered(client_kind) -> None:
    answers = a_draft(note=TOKEN), a_page("a", note=TOKEN)
    for answer in answers:
        answer.headers.update({"x-echo": f"Bearer {TOKEN}", "x-other": "kept"})
    async with client_kind.open(transport=Service(*answers).transport, token=TOKEN) as client:
        staged, listed = await wait(write(client)), await wait(read(client))
    assert staged.extra["note"] == listed.data[0].extra["note"] == TOKEN
    for value in (staged, listed):
        assert value.response.headers["x-echo"] == "Bearer ***"
        assert value.response.headers["x-other"] == "kept"


MARKS = (
    r"\u%04X",
    r"\\u%04x",
    r"\\x%02x",
    "%%%02x",
    "%%25%02X",
    "&#%d;",
    "&amp;#x0%X",
    r"\u0026#%d;",
)


@each_case("token", TOKEN, "ab\\c0", "a/b'c\"d", "100%\\u0041", "/s3cr3t+token==", "/\"\\/%'")
def test_escaped_token_is_redacted_and_the_rest_of_a_body_stays(token) -> None:
    php = json.dumps(token)[1:-1].replace("/", r"\/")
    texts = [php, quote(php), quote(token), quote(quote(token, safe=""))]
    texts += [json.dumps(text)[1:-1] for text in (token, php, escape(token), repr(token)[1:-1])]
    texts += ["".join(mark % ord(char) for char in token) for mark in MARKS]
    problem = r'{"code":"17","message":"\"%s\" is","details":[{"a\n":"%s"}],"request_id":"r\/9"}'
    staged = r'{"echo":"%s\",\"draft_id\":\"old\"","draft_id":"draft_1"}'
    for text in texts:
        refused = httpx.Response(400, text=problem % (text, text), headers={"x-echo": text})
        service = Service(refused, httpx.Response(201, text=staged % text))
        with adclient.AdClient(URL, token=token, transport=service.transport) as client:
            with pytest.raises(adclient.BadRequest) as caught:
                read(client)
            with pytest.raises(adclient.OutcomeUnknown) as unknown:
                write(client)
        error = caught.value
        assert (error.body, error.headers["x-echo"]) == (problem % ("***", "***"), "***")
        shown = error.code, error.message, error.details, error.request_id
        assert shown == ("17", '"***" is', [{"a\n": "***"}], "r/9")
        assert (unknown.value.body, unknown.value.draft_id) == (staged % "***", "draft_1")


def test_no_text_breaks_redaction() -> None:
    answers = [a_draft() for _ in range(3)]
    for answer, number in zip(answers, ("9" * 5000, "x" + "f" * 5000, "0" * 5000), strict=True):
        answer.headers["x-trace"] = rf"&#{number}; \ud800 \xff %ff &nLt;&none; \\"
    # What is examined for escapes ends within a character.
    cut = [f'{{"message": "{"x" * at}%63anary{"é" * 40_000}"}}' for at in (0, 1)]
    service = Service(*answers, *(httpx.Response(201, text=text) for text in cut))
    with adclient.AdClient(URL, token="canary", transport=service.transport) as client:
        assert {write(client).status for _ in range(3)} == {"pending_approval"}
        for _ in cut:
            with pytest.raises(adclient.OutcomeUnknown, match=r"message: x?\*\*\*é"):
                write(client)


def giving(value: object):
    return lambda *_: value  # unlike a `partial`, its `repr` does not show the value


CREDENTIALS = {"token": TOKEN, "auth": giving({"x-key": TOKEN})}
SECRETS = {"token": TOKEN, "headers": {"x-key": TOKEN}, "proxy": "http://user:canary@proxy.test"}
WRONG = {**dict.fromkeys(inspect.signature(adclient.AdClient).parameters, object()), "base_url": 7}
COPIED = {"timeout", "max_retries", "retry", "headers", "hooks", "actor"}
WRONG["conventions"] = Conventions(reads={"x.y": {}})


@each_case(
    ("options", "environment"),
    ({"base_url": URL, "token": "canary\n"}, {}),
    ({"base_url": URL, "token": "canary", "auth": giving("canary")}, {}),
    ({"base_url": URL}, {"ADCLIENT_TOKEN": "canary x"}),
    ({"base_url": "https://user:canary@ads.example.com"}, {}),
    *[({"base_url": f"https://user:canary@{bad}"}, {}) for bad in ("[::x]", "a:canary")],
    ({"base_url": URL, "proxy": "http://user:canary@[::x]"}, {}),
    ({"base_url": URL, "headers": {"x-key": "canary\n"}}, {}),
    ({}, {"ADCLIENT_BASE_URL": "https://user:canary@ads.example.com"}),
    ({"base_url": URL}, {"https_proxy": "ftp://user:canary@proxy"}),
    ({"base_url": URL}, {"HTTPS_PROXY": "http://user:canary@[::1"}),
    ({"base_url": URL}, {"ALL_PROXY": "http://user:canary@proxy:port"}),
    *[({"base_url": URL, **SECRETS, name: value}, {}) for name, value in WRONG.items()],
)
@pytest.mark.parametrize("client_kind", clients.CLIENT_KINDS[:2], ids=str)
def test_error_about_an_argument_holds_no_credentials(client_kind, options, environment) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        with pytest.raises((ConfigurationError, TypeError)) as caught:
            client_kind.client(**options)
    assert_untold(*locals_of(caught.value), repr([caught.value, caught.value.__context__]))
    assert_untold(repr(vars(caught.value)))
    for name in environment:
        assert name.lower() in str(caught.value).lower() or "proxy" not in name.lower()
    for name in COPIED.intersection(options):
        with pytest.raises(ConfigurationError) as caught:
            client_kind.client(URL).with_options(**{"headers": {"x-key": TOKEN}, name: object()})
        assert_untold(*locals_of(caught.value), repr(caught.value.__context__))


LONG_TEXTS = ["canary" * 500_000, json.dumps({"data": ["canary" * 500_000]})] * 2


@sync_and_async
async def test_error_about_a_body_or_a_text_holds_only_its_beginning(client_kind) -> None:
    bodies = iter(LONG_TEXTS)
    transport = httpx.MockTransport(lambda request: httpx.Response(200, text=next(bodies)))
    async with client_kind.open(transport=transport, token="canary", max_retries=0) as client:
        tracemalloc.start()
        errors = []
        for _ in LONG_TEXTS:
            with pytest.raises(adclient.UnexpectedResponse) as caught:
                await wait(read(client))
            errors.append(caught.value)
        with pytest.raises(adclient.InvalidRequest) as caught:
            await wait(write(client, campaign_id="canary\ud800" * 500_000))
        errors.append(caught.value.with_traceback(None))  # its frames are the caller's
        del caught
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert held < MIB
    assert_untold(*map(shown_by, errors), *(t for e in errors for t in locals_of(e)))


BAD = [{"token": giving(token)} for token in ("", "canary\n", None, 7)]
BAD += [{"auth": giving(h)} for h in (None, "canary", {"host": "canary"}, {"x-key": "canary\t"})]


@each_case("options", *BAD)
@sync_and_async
async def test_invalid_result_of_token_or_auth_is_not_shown(client_kind, options) -> None:
    async with client_kind.open(transport=Service().transport, **options) as client:
        with pytest.raises(ConfigurationError) as caught:
            await wait(write(client))
    assert caught.value.argument in options
    assert_untold(shown_by(caught.value))


@sync_and_async
async def test_token_in_a_next_url_is_redacted(client_kind) -> None:
    onward = f"https://elsewhere.example.com/?{httpx.QueryParams({'token': TOKEN})}"
    service = Service(a_page("a", next=onward))
    async with client_kind.open(transport=service.transport, token=TOKEN) as client:
        with pytest.raises(PaginationError, match=r"elsewhere\.example\.com/\?…") as caught:
            await everything(await wait(read(client)))
    assert_untold(str(caught.value))
    signed = PaginationError("", cursor=f"https://ads.example.com/?page=2&access_token={TOKEN}")
    assert_untold(signed._repr_html_())
