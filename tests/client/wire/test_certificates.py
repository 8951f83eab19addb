"""Trusted certificates: from `verify=`, otherwise from the environment."""

import shutil
import ssl

import certifi
import pytest
import trustme
from clients import (
    BASE_URL,
    close,
    each_client_class,
    read,
    sync_and_async,
    sync_asyncio_trio,
    wait,
    write,
)
from raw_server import (
    CERTIFICATE,
    Connection,
    RawServer,
    answer_to,
    serve_over_tls,
)

from adclient import (
    ConfigurationError,
    ConnectionFailed,
    ConnectionLost,
    OutcomeUnknown,
    RetryPolicy,
)
from adclient._http import network
from adclient.errors import OutcomeUnknownConnectionLost


@pytest.fixture(autouse=True)
def new_contexts():
    """Drop the contexts of other tests, some of which run without measuring coverage."""
    network._shared_context.cache_clear()


@each_client_class
def test_missing_file_is_named_at_once(client_class) -> None:
    with pytest.raises(ConfigurationError, match=r"read from '/no/such/file\.pem': No such"):
        client_class(BASE_URL, verify="/no/such/file.pem")


@pytest.mark.own
@sync_and_async
async def test_file_without_certificates_is_named_when_it_is_read(
    client_kind, monkeypatch, tmp_path
) -> None:
    path = tmp_path / "bundle.pem"
    path.write_text("not one")
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    async with client_kind.open(BASE_URL) as client:
        with pytest.raises(ConfigurationError, match="variable SSL_CERT_FILE: no certificates"):
            await wait(read(client))


@pytest.mark.own
@sync_and_async
async def test_setting_for_certificates_is_used(client_kind, monkeypatch) -> None:
    with RawServer(serve_over_tls) as server:
        url = server.url.replace("http://127.0.0.1", "https://localhost")
        for variable, value, verify in [
            (None, None, False),
            (None, None, str(CERTIFICATE)),
            ("SSL_CERT_FILE", str(CERTIFICATE), True),
        ]:
            with monkeypatch.context() as patch:
                if variable is not None:
                    patch.setenv(variable, value)
                async with client_kind.open(url, verify=verify) as client:
                    assert len((await wait(read(client))).data) == 1
        async with client_kind.open(url, max_retries=0) as client:
            with pytest.raises(ConnectionFailed, match="CERTIFICATE_VERIFY_FAILED"):
                await wait(read(client))


@pytest.mark.parametrize("is_in_environment", [False, True])
@pytest.mark.own
@sync_asyncio_trio
async def test_rotated_bundle_is_read_again(
    client_kind, is_in_environment, monkeypatch, tmp_path
) -> None:
    bundle = tmp_path / "bundle.pem"
    shutil.copy(certifi.where(), bundle)
    settings = {} if is_in_environment else {"verify": bundle}
    if is_in_environment:
        monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    with RawServer(serve_over_tls) as server:
        async with client_kind.open(server.url.replace("http", "https"), **settings) as client:
            with pytest.raises(ConnectionFailed, match="CERTIFICATE_VERIFY_FAILED"):
                await wait(read(client))
            shutil.copy(CERTIFICATE, new := tmp_path / "new.pem")
            new.replace(bundle)
            assert len((await wait(read(client))).data) == 1


def proxied(connection: Connection) -> None:
    """Serve as a proxy that is reached over TLS, and as the service behind it."""
    connection.start_tls()
    if connection.is_over:
        return
    request = connection.read()
    if request.startswith(b"CONNECT"):
        connection.send(b"HTTP/1.1 200 Connected\r\n\r\n")
        connection.start_tls()
        request = None if connection.is_over else connection.read()
    if request is not None:
        connection.send(answer_to(request))


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.own
@sync_asyncio_trio
async def test_certificate_of_a_proxy_is_verified_as_set(client_kind, scheme) -> None:
    with RawServer(proxied) as server:
        url, proxy = f"{scheme}://localhost:1", server.url.replace("http:", "https:")
        for verify in (str(CERTIFICATE), False):
            for spelled in (proxy, proxy.replace("https", " HTTPS")):
                async with client_kind.open(url, proxy=spelled, verify=verify) as client:
                    assert len((await wait(read(client))).data) == 1
        connections = server.connections
        async with client_kind.open(url, proxy=proxy.replace("//", "//user:s3cret@")) as client:
            where = f"localhost:1 cannot be reached: the proxy {server.url.partition('//')[2]}: "
            with pytest.raises(ConnectionFailed, match=where + ".*VERIFY_FAILED") as caught:
                await wait(read(client))
        assert caught.value.attempts == 1
        assert server.connections == connections + 1


@pytest.mark.own
@sync_and_async
async def test_certificate_of_the_service_is_not_blamed_on_the_proxy(client_kind) -> None:
    context = ssl.create_default_context(cafile=CERTIFICATE)
    with RawServer(proxied) as server:
        proxy = server.url.replace("http:", "https:")
        async with client_kind.open("https://a.test", proxy=proxy, verify=context) as client:
            where = r"a.test cannot be reached: \[SSL: CERTIFICATE_VERIFY_FAILED\].*mismatch"
            with pytest.raises(ConnectionFailed, match=where):
                await wait(read(client))


@sync_asyncio_trio
async def test_certificate_that_fails_verification_is_not_retried(client_kind) -> None:
    with RawServer(serve_over_tls) as server:
        async with client_kind.open(server.url.replace("http", "https")) as client:
            for call in (read, write):
                with pytest.raises(ConnectionFailed, match="CERTIFICATE_VERIFY_FAILED") as caught:
                    await wait(call(client))
                assert caught.value.attempts == 1
                assert not caught.value.outcome_unknown
    assert server.connections == 2


@pytest.mark.own
@sync_asyncio_trio
async def test_directory_of_hashed_certificates_is_trusted(client_kind, tmp_path) -> None:
    shutil.copy(CERTIFICATE, tmp_path / "ce275665.0")  # openssl x509 -noout -subject_hash
    with RawServer(serve_over_tls) as server:
        url = server.url.replace("http://127.0.0.1", "https://localhost")
        async with client_kind.open(url, verify=tmp_path) as client:
            assert len((await wait(read(client))).data) == 1


AUTHORITY, STRANGER = trustme.CA(), trustme.CA()


def serve_known_clients(connection: Connection) -> None:
    """Serve over TLS, and only clients with a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert("localhost").configure_cert(context)
    AUTHORITY.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    connection.start_tls(context)
    if connection.is_over:
        connection.wait_for_the_end()  # a reset could overtake the alert
    elif request := connection.read():
        connection.send(answer_to(request))


def context_with_certificate(issuer: trustme.CA | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    if issuer is not None:
        issuer.issue_cert("client.test").configure_cert(context)
    return context


async def refused(client, alert: str) -> None:
    # With TLS 1.3 the refusal arrives after the request was sent.
    for call, error, advice in (
        (read, ConnectionLost, "Check verify="),
        (write, OutcomeUnknownConnectionLost, "look for"),
    ):
        with pytest.raises(error, match=f"{alert}.*{advice}") as caught:
            await wait(call(client))
        assert caught.value.attempts == 1


REFUSED_CERTIFICATES = pytest.mark.parametrize(
    ("issuer", "alert"),
    [(None, "CERTIFICATE_REQUIRED"), (STRANGER, "UNKNOWN_CA")],
    ids=["none", "of a stranger"],
)


@REFUSED_CERTIFICATES
@pytest.mark.own
@sync_asyncio_trio
async def test_refused_client_certificate_is_not_retried(client_kind, issuer, alert) -> None:
    with RawServer(serve_known_clients) as server:
        url = server.url.replace("http://127.0.0.1", "https://localhost")
        async with client_kind.open(url, verify=context_with_certificate(issuer)) as client:
            await refused(client, alert)
    assert server.requests == []


@REFUSED_CERTIFICATES
@pytest.mark.own
@sync_and_async
async def test_refused_certificate_of_an_http_client_is_not_retried(
    client_kind, issuer, alert
) -> None:
    with RawServer(serve_known_clients) as server:
        url = server.url.replace("http://127.0.0.1", "https://localhost")
        theirs = client_kind.http_client(verify=context_with_certificate(issuer))
        async with client_kind.open(url, http_client=theirs) as client:
            await refused(client, alert)
        await close(theirs)


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.own
@sync_asyncio_trio
async def test_error_that_the_caller_handles_does_not_hide_that_a_write_was_sent(
    client_kind, is_late
) -> None:
    def serve(connection: Connection) -> None:
        if connection.read() and is_late:
            connection.wait_for_the_end()

    with RawServer(serve) as server:
        retry = RetryPolicy(attempt_timeout=0.5 if is_late else None)
        async with client_kind.open(server.url) as opened:
            client = opened.with_options(retry=retry)
            try:
                raise ssl.SSLCertVerificationError(1, "of another call")
            except ssl.SSLError:
                with pytest.raises(OutcomeUnknown):
                    await wait(write(client))
    assert len(server.requests) == 1
