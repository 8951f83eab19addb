"""What the doctor saves in a service file, and what it compares with one."""

import json
from pathlib import Path

import httpx
import pytest
from cases import each_case
from doctor_services import ACCOUNT, URL, Listing, Service, examined, served

from adclient._command import main
from adclient._service.model import AuthShape
from adclient._service.reading import read_service

pytestmark = pytest.mark.usefixtures("doctor_retries_at_once")


@each_case(
    ("header", "value", "expected"),
    [
        ("authorization", "Token sesame", AuthShape(scheme="Token", env="ADCLIENT_TOKEN")),
        ("authorization", "Key=SECRET, Sign=abc", AuthShape(scheme="", env="ADCLIENT_TOKEN")),
        ("authorization", "my secret words", AuthShape(scheme="", env="ADCLIENT_TOKEN")),
        ("x-key", "SECRET x", AuthShape(scheme="", header="x-key", env="ADCLIENT_TOKEN")),
    ],
)
def test_part_of_a_secret_is_not_taken_for_its_scheme(header, value, expected, tmp_path) -> None:
    report = examined(Service(header=header, secret=value), auth=lambda _: {header: value})
    report.save(tmp_path / "service.toml", replace=True)
    assert read_service(tmp_path / "service.toml").auth == expected


def test_signature_of_each_request_is_not_described() -> None:
    service = Service()
    sign = lambda _: {"authorization": f"HMAC {len(service.requests)}"}  # noqa: E731
    assert examined(service, auth=sign).service.auth is None


def test_token_with_a_blank_is_not_in_the_file(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_TOKEN", "sesame street")
    file = tmp_path / "service.toml"
    with served(Service(header="authorization", secret="sesame street")) as url:
        arguments = ["doctor", url, "-a", ACCOUNT, "--token-header", "Authorization", "--quiet"]
        assert main([*arguments, "--save", str(file)]) == 0
        assert main(["doctor", "--check", str(file), "--quiet"]) == 0
    assert "sesame" not in file.read_text()
    assert read_service(file).auth == AuthShape(scheme="", env="ADCLIENT_TOKEN")


def test_check_shows_the_credentials_of_the_file(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("MY_TOKEN", "sesame")
    file = tmp_path / "service.toml"
    with served(Service(header="authorization", secret="Token sesame")) as url:
        given = ["--token-env", "MY_TOKEN", "--auth-scheme", "Token", "--quiet"]
        assert main(["doctor", url, "-a", ACCOUNT, *given, "--save", str(file)]) == 0
        assert main(["doctor", "--check", str(file), "--json", "--quiet"]) == 0
    code = json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]))["code"]
    assert '"Token " + os.environ["MY_TOKEN"]' in code
