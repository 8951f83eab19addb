"""Trusted certificates: from `verify=`, otherwise from the environment."""

import os
import ssl

import pytest
from clients import BASE_URL, each_client_class, read, sync_and_async, wait
from raw_server import CERTIFICATE, Connection, RawServer, serve_well

from adclient import ConfigurationError, ConnectionFailed
from adclient._http import network

VARIABLES = ["SSL_CERT_FILE", "SSL_CERT_DIR"]


@pytest.fixture(autouse=True)
def new_contexts(monkeypatch):
    """Bypass the cached TLS context, which was created in another environment."""
    monkeypatch.setattr(network, "_made_context", network._made_context.__wrapped__)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", VARIABLES)
@each_client_class
def test_variable_with_a_missing_path_is_named_at_once(client_class, name, monkeypatch) -> None:
    monkeypatch.setenv(name, "/no/such/place")
    with pytest.raises(ConfigurationError, match=f"environment variable {name} leads to") as caught:
        client_class(BASE_URL)
    assert caught.value.argument == "verify"


@pytest.mark.parametrize(
    ("url", "verify"),
    [
        ("http://ads.example.com", True),
        (BASE_URL, False),
        (BASE_URL, ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)),
    ],
    ids=["no TLS", "not verified", "own context"],
)
@each_client_class
def test_variable_with_a_missing_path_is_ignored_if_unused(
    client_class, url, verify, monkeypatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")
    assert client_class(url, verify=verify)


@each_client_class
def test_one_existing_directory_of_several_is_enough(client_class, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("SSL_CERT_DIR", f"/no/such/place{os.pathsep}{tmp_path}")
    assert client_class(BASE_URL)


@each_client_class
def test_empty_variable_is_ignored(client_class, monkeypatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "")
    assert client_class(BASE_URL)


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


def serve_over_tls(connection: Connection) -> None:
    connection.start_tls()
    if not connection.is_over:
        serve_well(connection)


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


@pytest.mark.own
@sync_and_async
async def test_directory_of_certificates_is_used(client_kind, monkeypatch, tmp_path) -> None:
    given = []

    def spy(**arguments) -> ssl.SSLContext:
        given.append(arguments)
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    monkeypatch.setattr(ssl, "create_default_context", spy)
    async with client_kind.open("https://127.0.0.1:9", max_retries=0) as client:
        with pytest.raises(ConnectionFailed):
            await wait(read(client))
    assert given == [{"capath": str(tmp_path)}]
