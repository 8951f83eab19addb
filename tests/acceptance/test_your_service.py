"""The loop over services of others: find out, keep, use, watch.

They implement the interface as somebody else would; how they differ: services/README.md.
"""

import contextlib
import functools
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path

import anyio
import attrs
import pytest
import trustme

from adclient import AdClient, AsyncAdClient
from adclient._core.operations import READS

SOURCES = Path(__file__).parent / "services"
PLATFORMS = ("alpha", "beta", "gamma", "delta")
SECONDS_TO_START = 30.0


@attrs.frozen
class ForeignService:
    """A service: where it is, if it runs, what it wants, and what its listings contain."""

    source: str
    accounts: Mapping[str, str]
    """The account of each platform."""
    items: Mapping[str, Sequence[str]]
    """The ids of each read, in their order."""
    token: str | None = None
    header: str = "Authorization"
    scheme: str | None = None
    path: str = ""
    tls: bool = False
    name: str = ""
    url: str = ""
    ca: Path | None = None


def _known(
    source: str, accounts: list[str], forms: str, counts: list[int], first: int = 1, **more
) -> ForeignService:
    """A service whose ids have a form for each read, and are as many as its count."""
    of_platforms = dict(zip(PLATFORMS, accounts * (4 // len(accounts)), strict=True))
    items = {
        read: [form.format(number) for number in range(first, first + count)]
        for read, form, count in zip(READS, forms.split(), counts, strict=True)
    }
    return ForeignService(source, of_platforms, items, **more)


_OF_NODE = " ".join(f"{kind}1{{:03x}}" for kind in "kofagwp")
_OF_PERL = "C/{} T/{} F/{} A/{} O/{} W/{} P/{}"
_OF_RUBY = "{}-kampagne {}-option {}-clip {}-anzeige {}-objective {}-term {}-trait"
_OF_PHP = "cmp_{} opt_{} fat_{} ad_{} obj_{} kw_{} fact_{}"
_KNOWN = {
    "node": _known("service.mjs", ["acct-77"], _OF_NODE, [75, 26, 8, 120, 9, 61, 6], 0, tls=True),
    "perl": _known("service.pl", ["Söhne & Co"], _OF_PERL, [100, 28, 17, 66, 5, 37, 9],
                   path="/ads/api", token="perl-key", scheme="ApiKey"),
    "ruby": _known("service.rb", ["a_31", "b_32", "g_33", "d_34"], _OF_RUBY,
                   [47, 19, 15, 101, 6, 10, 5], token="ruby-token", header="Api-Token"),
    "php": _known("service.php", ["konto"], _OF_PHP, [83, 30, 20, 91, 10, 21, 8]),
}  # fmt: skip
NAMES = tuple(_KNOWN)
_FOLDER = tempfile.TemporaryDirectory()


@functools.cache
def _certificates() -> tuple[Path, Path]:
    """The certificate of a CA, and one for 127.0.0.1 with its key."""
    ca, own = Path(_FOLDER.name, "ca.pem"), Path(_FOLDER.name, "server.pem")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(ca)
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(own)
    return ca, own


def _command(source: Path) -> list[str]:
    """What starts the service, with its port in the environment."""
    if source.suffix == ".php":
        return ["sh", "-c", 'exec php -S "127.0.0.1:$PORT" "$0"', str(source)]
    return [{".mjs": "node", ".pl": "perl", ".rb": "ruby"}[source.suffix], str(source)]


@contextlib.contextmanager
def foreign_service(name: str, *, changed: bool = False) -> Iterator[ForeignService]:
    """Run the service on a free port; with `changed`, as it is after its authors changed it."""
    known = _KNOWN[name]
    ca, certificate = _certificates() if known.tls else (None, None)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PORT": f"{port}"}
    environment |= {"CERTIFICATE": f"{certificate}", **({"CHANGED": "1"} if changed else {})}
    url = f"{'https' if known.tls else 'http'}://127.0.0.1:{port}{known.path}"
    with (
        tempfile.TemporaryFile() as output,
        subprocess.Popen(
            _command(SOURCES / known.source), env=environment, stdout=output, stderr=output
        ) as process,
    ):
        try:
            if not _accepts(process, port):
                output.seek(0)
                said = output.read().decode(errors="replace")
                raise RuntimeError(f"the service {name} did not start; it wrote:\n{said}")
            yield attrs.evolve(known, name=name, url=url, ca=ca)
        finally:
            process.kill()


def _accepts(process: subprocess.Popen[bytes], port: int) -> bool:
    """Wait until the process accepts connections; False if it ends or takes too long."""
    deadline = time.monotonic() + SECONDS_TO_START
    while process.poll() is None and time.monotonic() < deadline:
        # Without a request: one service counts its requests, and another refuses its first.
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        time.sleep(0.02)
    return False


VARIABLE = "ADS_SECRET"
# In one service, two ways to continue were told apart only by what they lead to.
pytestmark = pytest.mark.filterwarnings("ignore:.*not certain")


@attrs.frozen
class Examined:
    """A running service, and what the doctor has written about it."""

    service: ForeignService
    path: Path

    def account(self, read: str) -> str:
        return self.service.accounts[read.partition(".")[0]]


def doctor(service: ForeignService, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    command = [sys.executable, "-m", "adclient", "doctor", service.url, *options]
    for account in dict.fromkeys(service.accounts.values()):
        command += ["--account", account]
    if service.token is not None:
        command += ["--token-env", VARIABLE]
        if service.header != "Authorization":
            command += ["--token-header", service.header]
        if service.scheme not in (None, "Bearer"):
            command += ["--auth-scheme", service.scheme]
    if service.ca is not None:
        command += ["--ca-file", str(service.ca)]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=150
    )


@pytest.fixture(scope="module", params=NAMES)
def examined(request, tmp_path_factory) -> Iterator[Examined]:
    path = tmp_path_factory.mktemp(request.param) / "service.toml"
    with foreign_service(request.param) as service, pytest.MonkeyPatch.context() as patch:
        if service.token is not None:
            patch.setenv(VARIABLE, service.token)
        found = doctor(service, "--save", str(path))
        assert found.returncode == 0, found.stdout + found.stderr
        yield Examined(service, path)


def read_all(client: AdClient, examined: Examined) -> dict[str, list]:
    return {
        read: attrgetter(read)(client)(account_id=examined.account(read)).collect()
        for read in READS
    }


def ids(items: dict[str, list]) -> dict[str, list[str]]:
    return {read: [item.id for item in each] for read, each in items.items()}


def test_clients_of_the_file_read_every_listing_to_its_end(examined, tmp_path) -> None:
    with AdClient.from_service(examined.path) as client:
        found = read_all(client, examined)
    assert ids(found) == examined.service.items

    async def read() -> dict[str, list[str]]:
        async with AsyncAdClient.from_service(examined.path) as client:
            listings = {
                name: attrgetter(name)(client)(account_id=examined.account(name)) for name in READS
            }
            return ids({name: await listing.collect() for name, listing in listings.items()})

    assert anyio.run(read) == examined.service.items
    # No secret and no text of an item is in the file.
    text = examined.path.read_text("utf-8")
    secret = {examined.service.token} - {None}
    values = {
        f'"{value}"' for items in found.values() for it in items for value in (it.id, it.name)
    }
    assert not [value for value in values | secret if value in text]


def test_check_is_silent_on_the_same_service_and_loud_on_a_changed_one(examined) -> None:
    same = doctor(examined.service, "--check", str(examined.path))
    assert same.returncode == 0, same.stdout + same.stderr
    assert same.stdout == "Changes\n  none\n"
    with foreign_service(examined.service.name, changed=True) as service:
        changed = doctor(service, "--check", str(examined.path))
    assert changed.returncode == 6, changed.stdout + changed.stderr
    assert len(changed.stdout.splitlines()) > 1
    assert examined.service.token is None or examined.service.token not in changed.stdout
