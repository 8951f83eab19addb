"""Trusted certificates and proxies: from arguments, otherwise from the environment."""

import os
import shutil
import ssl

import certifi
import pytest
import trustme
from cases import each_case
from clients import BASE_URL, close, each_client_class, read, sync_and_async, wait, write
from raw_server import CERTIFICATE, Connection, RawServer, answer_to, refusing_url, serve_well
from routes import greet

from adclient import ConfigurationError, ConnectionFailed, ConnectionLost
from adclient._http import network
from adclient._http.network import build_network
from adclient.errors import OutcomeUnknownConnectionLost


@pytest.fixture(autouse=True)
def new_contexts():
    """Drop the contexts of other tests, some of which run without measuring coverage."""
    network._contexts.clear()


def url_of(server: RawServer) -> str:
    return server.url.replace("http://127.0.0.1", "https://localhost")


async def is_trusted(client_kind, url: str, **options) -> None:
    async with client_kind.open(url, **options) as client:
        assert len((await wait(read(client))).data) == 1


@each_client_class
def test_missing_file_is_named_at_once(client_class) -> None:
    with pytest.raises(ConfigurationError, match=r"read from /no/such/file\.pem: No such"):
        client_class(BASE_URL, verify="/no/such/file.pem")
    with pytest.raises(ConfigurationError) as caught:
        client_class(BASE_URL, verify="no\nfile\x1b[2J")
    assert str(caught.value).isprintable()


def test_contexts_of_many_files_are_not_all_kept(tmp_path) -> None:
    for number in range(20):
        path = shutil.copy(CERTIFICATE, tmp_path / f"{number}.pem")
        context = network.tls_context(str(path))
        assert network.tls_context(str(path)) is context
    assert len(network._contexts) == 16


@pytest.mark.own
@sync_and_async
async def test_setting_for_certificates_is_used(client_kind, monkeypatch, tmp_path) -> None:
    hashed = tmp_path / "hashed"
    hashed.mkdir()
    shutil.copy(CERTIFICATE, hashed / "ce275665.0")  # openssl x509 -noout -subject_hash
    with RawServer(lambda c: (c.start_tls(), c.is_over or serve_well(c))) as server:
        for verify in (False, str(CERTIFICATE), hashed):
            await is_trusted(client_kind, url_of(server), verify=verify)
        for variable, value in (("SSL_CERT_FILE", CERTIFICATE), ("SSL_CERT_DIR", hashed)):
            with monkeypatch.context() as patch:
                patch.setenv(variable, str(value))
                await is_trusted(client_kind, url_of(server))
        bundle = shutil.copy(certifi.where(), tmp_path / "bundle.pem")
        for verify in (True, bundle):
            async with client_kind.open(url_of(server), verify=verify, max_retries=0) as client:
                with pytest.raises(ConnectionFailed, match="CERTIFICATE_VERIFY_FAILED"):
                    await wait(read(client))
                if verify == bundle:  # a rotated file is read again
                    new, status = shutil.copy(CERTIFICATE, tmp_path / "new.pem"), bundle.stat()
                    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
                    new.replace(bundle)
                    assert len((await wait(read(client))).data) == 1
        for replace in (bundle.unlink, lambda: bundle.write_text("begun")):
            replace()
            await is_trusted(client_kind, url_of(server), verify=bundle)
        shutil.copy(certifi.where(), bundle)
        with pytest.raises(ConnectionFailed):
            await is_trusted(client_kind, url_of(server), verify=bundle)


def serve_as_proxy(connection: Connection) -> None:
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


@each_case("scheme", "http", "https")
@pytest.mark.own
@sync_and_async
async def test_certificate_of_a_proxy_is_verified_as_set(client_kind, scheme) -> None:
    with RawServer(serve_as_proxy) as server:
        url, proxy = f"{scheme}://localhost:1", server.url.replace("http:", "https:")
        for verify in (str(CERTIFICATE), False):
            for spelled in (proxy, proxy.replace("https", " HTTPS")):
                await is_trusted(client_kind, url, proxy=spelled, verify=verify)
        connections = server.connections
        async with client_kind.open(url, proxy=proxy.replace("//", "//user:s3cret@")) as client:
            where = f"localhost:1 cannot be reached: the proxy {server.url.partition('//')[2]}: "
            with pytest.raises(ConnectionFailed, match=where + ".*VERIFY_FAILED") as caught:
                await wait(read(client))
        assert caught.value.attempts == 1
        assert server.connections == connections + 1


AUTHORITY, STRANGER = trustme.CA(), trustme.CA()
ISSUED = AUTHORITY.issue_cert("localhost")


def serve_known_clients(connection: Connection) -> None:
    """Serve over TLS, and only clients with a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ISSUED.configure_cert(context)
    AUTHORITY.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    connection.start_tls(context)
    if connection.is_over:
        connection.wait_for_the_end()  # a reset could overtake the alert
    else:
        serve_well(connection)


UNKNOWN = STRANGER.issue_cert("client.test")


@each_case(("certificate", "alert"), (None, "CERTIFICATE_REQUIRED"), (UNKNOWN, "UNKNOWN_CA"))
@pytest.mark.own
@sync_and_async
async def test_refused_client_certificate_is_not_retried(client_kind, certificate, alert) -> None:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    if certificate is not None:
        certificate.configure_cert(context)
    theirs = client_kind.http_client(verify=context)
    with RawServer(serve_known_clients) as server:
        for settings in ({"verify": context}, {"http_client": theirs}):
            async with client_kind.open(url_of(server), **settings) as client:
                # With TLS 1.3 the refusal arrives after the request was sent.
                for call, error, advice in (
                    (read, ConnectionLost, "Check verify="),
                    (write, OutcomeUnknownConnectionLost, "look for"),
                ):
                    with pytest.raises(error, match=f"{alert}.*{advice}") as caught:
                        await wait(call(client))
                    assert caught.value.attempts == 1
    await close(theirs)
    assert server.requests == []


BOTH = ("http_proxy", "https_proxy")
PROXY = "http://proxy.example.com:3128"
LOCAL = ("http://127.0.0.2:80", "https://localhost", "http://[::1]:8000")
EXCEPTIONS = [
    ("http://ads.example.com:8080", "a.test", True),
    ("http://ads.example.com:8080", "ads.example.com:8080", False),
    ("https://ads.example.com", "ads.example.com:443", False),
    ("http://[2001:db8::1]:8080", "[2001:db8::1]:8080", False),
    ("http://[2001:db8::1]", "2001:db8::1", False),
    ("http://ads.example.com", "example.com", False),
]


@pytest.mark.own
@sync_and_async
async def test_socks_proxy_replaces_that_of_the_environment(client_kind, monkeypatch) -> None:
    monkeypatch.setenv("http_proxy", refusing_url())
    with RawServer(lambda connection: (greet(connection), serve_well(connection))) as server:
        for scheme in ("socks5", "SOCKS5"):
            proxy = server.url.replace("http", scheme)
            async with client_kind.open("http://ads.example.com", proxy=proxy) as client:
                assert len((await wait(read(client))).data) == 1
    assert server.requests[0].startswith(b"GET /v1/alpha-ads/explain")


@pytest.mark.own
@each_case(
    ("url", "environment", "is_used"),
    ("http://ads.example.com", {"ftp_proxy": PROXY, "https_proxy": PROXY}, False),
    *[("https://ads.example.com", {name: PROXY}, True) for name in ("HTTPS_PROXY", "all_proxy")],
    *[(url, dict.fromkeys([*BOTH, "all_proxy"], PROXY), False) for url in LOCAL],
    ("http://ads.example.com", {"http_proxy": PROXY.removeprefix("http://")}, True),
    *[
        (url, {**dict.fromkeys(BOTH, PROXY), "no_proxy": f"a.test,{excepted}"}, is_used)
        for url, excepted, is_used in EXCEPTIONS
    ],
)
def test_proxy_of_the_environment_is_that_of_the_scheme_unless_excepted(
    url, environment, is_used, monkeypatch
) -> None:
    with monkeypatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        assert build_network(url).proxy == (PROXY if is_used else None)
