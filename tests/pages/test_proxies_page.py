"""The page on proxies and certificates is correct, with a proxy and services over TLS."""

import base64
import re
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme
from cases import each_case
from pages import ROOT, blocks
from raw_server import Connection, RawServer, answer_to, refusing_url

from adclient import AdClient, ConnectionFailed, ConnectionLost

PAGE = ROOT / "docs" / "how-to" / "http-clients.md"
SETTINGS, SYSTEM, CONTEXT, *_ = (code for _, code in blocks(PAGE, "python"))
ROW = re.compile(r"^\| `(.*?)` \| .* \| (yes|no) \|$", re.MULTILINE)
URL = "https://ads.example.com"
COMPANY, STRANGER = trustme.CA(), trustme.CA()
OF_SERVICE = COMPANY.issue_cert("ads.example.com")
OUTDATED = COMPANY.issue_cert("ads.example.com", not_after=datetime(2021, 1, 1, tzinfo=UTC))
WITH_ROOT = COMPANY.issue_cert("ads.example.com")
WITH_ROOT.private_key_and_cert_chain_pem = trustme.Blob(
    WITH_ROOT.private_key_and_cert_chain_pem.bytes() + COMPANY.cert_pem.bytes()
)


class Tunnel:
    """A proxy that leads every tunnel to a service over TLS."""

    def __init__(self, certificate=OF_SERVICE, *, asks=False, answer=b"200 Connected") -> None:
        self._answer = answer
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(self._context)
        if asks:
            COMPANY.configure_trust(self._context)
            self._context.verify_mode = ssl.CERT_REQUIRED

    def serve(self, connection: Connection) -> None:
        if connection.read() is None:
            return
        connection.send(b"HTTP/1.1 " + self._answer + b"\r\n\r\n")
        if self._answer.startswith(b"200"):
            connection.start_tls(self._context)
            if connection.is_over:
                connection.wait_for_the_end()
            elif request := connection.read():
                connection.send(answer_to(request))


def read(client: AdClient) -> int:
    return len(client.gamma.list_ads(account_id="a").data)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The files that the page names."""
    COMPANY.cert_pem.write_to_path(tmp_path / "company-ca.pem")
    mine = COMPANY.issue_cert("client.test")
    mine.private_key_pem.write_to_path(tmp_path / "client.key")
    for pem in mine.cert_chain_pems:
        pem.write_to_path(tmp_path / "client.pem", append=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_settings_of_the_page_reach_the_service(folder) -> None:
    with RawServer(Tunnel().serve) as proxy:
        names: dict[str, AdClient] = {}
        exec(SETTINGS.replace("proxy.example.com:3128", proxy.url.partition("//")[2]), names)
        with names["client"] as client:
            assert read(client) == 1
    connect, request = proxy.requests
    assert connect.startswith(b"CONNECT ads.example.com:443 ")
    assert base64.b64encode(b"user:password") in connect
    assert b"user:password" not in request
    assert b"proxy-authorization" not in request.lower()


def test_client_certificate_of_the_page_is_accepted(folder, monkeypatch) -> None:
    names: dict[str, AdClient] = {}
    with RawServer(Tunnel(asks=True).serve) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        exec(CONTEXT, names)
        with names["client"] as client:
            assert read(client) == 1


def test_context_of_the_operating_system_trusts_what_the_page_says(folder, monkeypatch) -> None:
    # Where OpenSSL looks for the certificates of the system, this variable names others.
    monkeypatch.setenv("SSL_CERT_FILE", "company-ca.pem")
    names: dict[str, object] = {}
    with RawServer(Tunnel().serve) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        exec(SYSTEM, names)
    assert proxy.requests[1].startswith(b"GET /v1/gamma-ads/")


def failing(text: str) -> tuple[Tunnel | None, bool, trustme.CA | None]:
    """What makes a call fail as a row says: the proxy, the trust in it, and whose client calls."""
    if "Connection refused" in text:
        return None, True, None
    if status := re.fullmatch("the proxy: (.*)", text):
        return Tunnel(answer=status[1].encode()), True, None
    return {
        "unable to get local issuer certificate": (Tunnel(), False, None),
        "self-signed certificate": (Tunnel(WITH_ROOT), False, None),
        "certificate has expired": (Tunnel(OUTDATED), True, None),
        "Hostname mismatch": (Tunnel(COMPANY.issue_cert("other.example.com")), True, None),
        "ALERT_CERTIFICATE_REQUIRED": (Tunnel(asks=True), True, None),
        "ALERT_UNKNOWN_CA": (Tunnel(asks=True), True, STRANGER),
    }[text]


@each_case(("text", "retried"), *ROW.findall(PAGE.read_text("utf-8")))
def test_failure_is_reported_as_the_page_says(text, retried) -> None:
    tunnel, trusts, of_client = failing(text)
    context = ssl.create_default_context()
    if trusts:
        COMPANY.configure_trust(context)
    if of_client:
        of_client.issue_cert("client.test").configure_cert(context)
    with RawServer(tunnel.serve if tunnel else Connection.wait_for_the_end) as server:
        proxy = server.url if tunnel else refusing_url()
        with (
            AdClient(URL, proxy=proxy, verify=context, max_retries=1) as client,
            # With TLS 1.3 a client certificate is refused after the request was sent.
            pytest.raises(ConnectionLost if "ALERT" in text else ConnectionFailed) as caught,
        ):
            read(client)
    assert text.replace("127.0.0.1:3128", proxy.partition("//")[2]) in str(caught.value)
    assert caught.value.attempts == (2 if retried == "yes" else 1)
