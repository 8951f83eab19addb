"""Whom a client trusts: its `verify=`, else what the environment says."""

import os

import pytest
from clients import BASE_URL, each_client_class, read, sync_and_async, wait

from adclient import ConfigurationError
from adclient._http import network

VARIABLES = ["SSL_CERT_FILE", "SSL_CERT_DIR"]


@pytest.fixture(autouse=True)
def new_contexts(monkeypatch):
    """The one TLS context of this process was made in another environment."""
    monkeypatch.setattr(network, "_made_context", network._made_context.__wrapped__)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", VARIABLES)
@each_client_class
def test_a_variable_that_leads_nowhere_is_named_at_once(client_class, name, monkeypatch) -> None:
    monkeypatch.setenv(name, "/no/such/place")
    with pytest.raises(ConfigurationError, match=f"environment variable {name} leads to") as caught:
        client_class(BASE_URL)
    assert caught.value.argument == "verify"


@pytest.mark.parametrize(
    ("url", "verify"),
    [("http://ads.example.com", True), (BASE_URL, False), (BASE_URL, network._no_tls())],
    ids=["no TLS", "not verified", "own context"],
)
@each_client_class
def test_where_nobody_looks_at_it_a_variable_may_lead_nowhere(
    client_class, url, verify, monkeypatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")
    assert client_class(url, verify=verify)


@each_client_class
def test_one_of_several_directories_is_enough(client_class, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("SSL_CERT_DIR", f"/no/such/place{os.pathsep}{tmp_path}")
    assert client_class(BASE_URL)


@each_client_class
def test_an_empty_variable_is_none(client_class, monkeypatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "")
    assert client_class(BASE_URL)


@pytest.mark.own
@sync_and_async
async def test_a_file_that_holds_no_certificates_is_named_when_it_is_read(
    client_kind, monkeypatch, tmp_path
) -> None:
    path = tmp_path / "bundle.pem"
    path.write_text("not one")
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    async with client_kind.open(BASE_URL) as client:
        with pytest.raises(ConfigurationError, match="variable SSL_CERT_FILE: no certificates"):
            await wait(read(client))
