"""No text contains a credential, even if a response repeats it."""

import copy
import json
import pickle
import time
import traceback
import warnings
from pathlib import Path

import attrs
import httpx
import pytest
from clients import (
    CLIENT_KINDS,
    Service,
    a_draft,
    a_page,
    everything,
    method_of,
    sync_and_async,
    sync_asyncio_trio,
    wait,
)
from interface_table import ROWS
from raw_server import Connection, RawServer, reply, serve_well

import adclient
from adclient import (
    AdClientError,
    ConfigurationError,
    PaginationError,
    UnexpectedResponse,
)

# JSON and URLs escape its characters differently, but every form contains the word "canary".
TOKEN = 'canary/9+b"c<d>&\\e=='
IDS = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
PACKAGE = Path(adclient.__file__).parent


def shown_by(error: BaseException) -> str:
    """Return all texts that can be obtained from an error."""
    report = traceback.TracebackException.from_exception(error, capture_locals=True)
    texts = [*report.format(), str(error), repr(error), repr(error.args), repr(vars(error))]
    for twin in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        texts += [str(twin), repr(vars(twin))]
    texts.append(repr(pickle.dumps(error)))
    if isinstance(error, AdClientError):
        texts.append(error._repr_html_())
    return "\n".join(texts)


def assert_untold(*texts: str) -> None:
    """Check the texts in a separate frame, because the test's own frame is in its tracebacks."""
    for text in texts:
        assert "canary" not in text
        assert "dXNlcjpjYW5hcnk" not in text  # user:canary, as it is sent to a proxy


def credentials(request: bytes) -> str:
    """Return the value of the authorization header."""
    lines = request.decode().split("\r\n")
    return next(line for line in lines if line.lower().startswith("authorization: "))[15:]


# Responses that repeat the credentials, each in its own way.


def in_json(request: bytes) -> bytes:
    message = f"{credentials(request)} may not do that"
    errors = [{"message": message, "field": message}]
    body = {"error": {"message": message, "code": message, "details": errors}}
    return reply(403, json.dumps({**body, "request_id": message}).encode())


def in_a_url(request: bytes) -> bytes:
    return reply(400, f"see /help?for={httpx.QueryParams({'t': credentials(request)})}".encode())


def in_the_request_itself(request: bytes) -> bytes:
    return reply(405, request)


def in_headers(request: bytes) -> bytes:
    given = credentials(request)
    return reply(429, b"{}", f"X-Request-Id: {given}", f"X-Echo: {given}", "Retry-After: 99")


def in_a_redirect(request: bytes) -> bytes:
    given = credentials(request)
    return reply(307, given.encode(), f"Location: https://elsewhere.example.com/?t={given}")


def in_a_success_that_is_none(request: bytes) -> bytes:
    body = {"error": credentials(request), "draft_id": credentials(request)}
    return reply(200, json.dumps(body).encode())


def in_a_success_that_is_no_json(request: bytes) -> bytes:
    return reply(201, credentials(request).encode() + b" is not welcome")


def in_a_content_coding(request: bytes) -> bytes:
    return reply(200, b"{}", f"Content-Encoding: {credentials(request)}")


def behind_a_long_text(request: bytes) -> bytes:
    """The message and the body of the error would be cut off within the credentials."""
    given = credentials(request).encode()
    return reply(500, b"x" * 145 + given + b"x" * (2035 - 145 - len(given)) + given)


def in_what_is_no_http(request: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\n" + credentials(request).encode() + b"\r\n\r\n"


def in_a_status_line(request: bytes) -> bytes:
    return credentials(request).encode() + b"\r\n\r\n"


IN_A_BODY = [
    in_json,
    in_a_url,
    in_the_request_itself,
    in_a_success_that_is_none,
    in_a_success_that_is_no_json,
    behind_a_long_text,
]
IN_A_HEAD = [in_headers, in_a_redirect, in_a_content_coding, in_what_is_no_http, in_a_status_line]


@pytest.mark.parametrize("answer", [*IN_A_BODY, *IN_A_HEAD])
@sync_asyncio_trio
async def test_token_repeated_by_a_response_is_redacted(client_kind, answer, caplog) -> None:
    def serve(connection: Connection) -> None:
        if request := connection.read():
            connection.send(answer(request))

    caplog.set_level("DEBUG")
    with RawServer(serve) as server, warnings.catch_warnings(record=True) as warned:
        async with client_kind.open(server.url, token=TOKEN, max_retries=0) as client:
            for call in (client.beta.pause_campaign, client.beta.list_campaigns):
                with pytest.raises(AdClientError) as caught:
                    await wait(call(**IDS))
                assert_untold(shown_by(caught.value))
    assert all(TOKEN.encode() in request for request in server.requests)
    # The HTTP library's own debug log contains the unredacted head of a response.
    ours = "adclient" if answer in IN_A_HEAD else ""
    assert_untold(*(record.getMessage() for record in caplog.records if ours in record.name))
    assert_untold(*(str(warning.message) for warning in warned))


@pytest.mark.parametrize("row", ROWS, ids=str)
@sync_asyncio_trio
async def test_results_and_logs_of_each_method_do_not_contain_the_token(
    client_kind, row, caplog
) -> None:
    caplog.set_level("DEBUG")
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url, token=TOKEN, headers={"x-key": TOKEN}) as client:
            value = await wait(method_of(client, row.call)(**row.arguments))
            assert_untold(repr(client), repr(client.beta))
            assert_untold(repr(value), str(value), value._repr_html_(), repr(value.response))
            assert_untold(repr(pickle.dumps(value)), repr(copy.deepcopy(value)))
            assert_untold(repr(attrs.asdict(value)), repr(attrs.astuple(value)))
    assert server.requests[0].count(TOKEN.encode()) == 2
    assert_untold(caplog.text)


@sync_and_async
async def test_headers_from_auth_are_redacted(client_kind) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        given = request.headers["x-api-key"]
        return httpx.Response(401, json={"message": f"{request.headers['x-v']}: no key {given}"})

    def sign(request: object) -> dict[str, str]:
        return {"x-api-key": TOKEN, "x-v": "v2"}

    async with client_kind.open(transport=httpx.MockTransport(refuse), auth=sign) as client:
        with pytest.raises(AdClientError) as caught:
            await wait(client.beta.pause_campaign(**IDS))
    assert caught.value.message == "v2: no key ***"
    assert_untold(shown_by(caught.value))


@sync_and_async
async def test_successful_response_is_not_altered(client_kind) -> None:
    headers = {"x-echo": f"Bearer {TOKEN}", "x-other": "kept"}
    draft = a_draft(note=TOKEN)
    draft.headers.update(headers)
    page = a_page("a", note=TOKEN)
    page.headers.update(headers)
    service = Service(draft, page)
    async with client_kind.open(transport=service.transport, token=TOKEN) as client:
        staged = await wait(client.beta.pause_campaign(**IDS))
        listed = await wait(client.beta.list_campaigns(**IDS))
    assert staged.extra["note"] == listed.data[0].extra["note"] == TOKEN
    for value in (staged, listed):
        assert value.response.headers["x-echo"] == "Bearer ***"
        assert value.response.headers["x-other"] == "kept"


@sync_and_async
async def test_token_in_a_next_url_is_redacted(client_kind) -> None:
    onward = f"https://elsewhere.example.com/?{httpx.QueryParams({'token': TOKEN})}"
    service = Service(a_page("a", next=onward))
    async with client_kind.open(transport=service.transport, token=TOKEN) as client:
        with pytest.raises(PaginationError, match=r"elsewhere\.example\.com/\?…") as caught:
            await everything(await wait(client.beta.list_campaigns(**IDS)))
    assert_untold(str(caught.value))


def bad_token() -> str:
    return "canary\n"


def bad_headers(request: object) -> dict[str, str]:
    return {"x-key": "can\tary", "authorization": "canary\n"}


URL = "https://ads.example.com"


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        ({"base_url": URL, "token": "canary\n"}, {}),
        ({"base_url": URL, "token": "canary", "timeout": "soon"}, {}),
        ({"base_url": URL, "token": "canary", "max_concurrency": 0}, {}),
        ({"base_url": URL, "token": "canary", "headers": {"x-key": " "}}, {}),
        ({"base_url": URL, "token": "canary", "auth": bad_headers}, {}),
        ({"base_url": "https://user:canary@ads.example.com"}, {}),
        ({"base_url": "https://ads.example.com?key=canary"}, {}),
        ({"base_url": "https://user:canary@[::x]"}, {}),
        ({"base_url": URL, "proxy": "ftp://user:canary@proxy"}, {}),
        ({"base_url": URL, "proxy": "http://user:canary@[::x]"}, {}),
        ({"base_url": URL, "proxy": "http://user:canary@proxy", "max_concurrency": 0}, {}),
        ({"base_url": URL, "headers": {"x-key": "canary\n"}}, {}),
        ({}, {"ADCLIENT_BASE_URL": "https://user:canary@ads.example.com"}),
        ({"base_url": URL}, {"https_proxy": "ftp://user:canary@proxy"}),
    ],
    ids=lambda given: ", ".join(given),
)
@pytest.mark.parametrize("client_kind", CLIENT_KINDS[:2], ids=str)
def test_configuration_error_has_no_credentials_in_its_text_or_frames(
    client_kind, options, environment, monkeypatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as caught:
        client_kind.client(**options)
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    own = [frame for frame in shown.stack if Path(frame.filename).is_relative_to(PACKAGE)]
    assert own
    assert_untold(*(str(frame.locals) for frame in own))
    assert_untold(str(caught.value), repr(vars(caught.value)))


@pytest.mark.parametrize("options", [{"token": bad_token}, {"auth": bad_headers}], ids=list)
@sync_and_async
async def test_invalid_result_of_token_or_auth_is_not_shown(client_kind, options) -> None:
    async with client_kind.open(transport=Service().transport, **options) as client:
        with pytest.raises(ConfigurationError) as caught:
            await wait(client.beta.pause_campaign(**IDS))
    assert_untold(shown_by(caught.value))


@pytest.mark.no_cover
@sync_and_async
async def test_large_body_that_cannot_be_read_costs_little(client_kind) -> None:
    body = b'{"data": "--+-' + b"-x" * 15_000_000 + b' t0ken"'
    service = Service(httpx.Response(200, content=body))
    async with client_kind.open(transport=service.transport, token="-+t0ken") as client:
        json_time = time.process_time()
        with pytest.raises(ValueError, match=r"^Expecting"):
            json.loads(body)
        json_time = time.process_time() - json_time
        began = time.process_time()
        with pytest.raises(UnexpectedResponse):
            await wait(client.beta.list_campaigns(**IDS))
        assert time.process_time() - began < 10 * json_time + 0.5
