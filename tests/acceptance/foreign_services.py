"""Four services that implement the interface as somebody else would, and a way to start them.

How they differ: services/README.md.
"""

import contextlib
import functools
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import trustme

SOURCES = Path(__file__).parent / "services"
PLATFORMS = ("alpha", "beta", "gamma", "delta")
READS = (
    "beta.list_campaigns",
    "gamma.search_targeting",
    "beta.detect_creative_fatigue",
    "gamma.list_ads",
    "alpha.explain_objectives",
    "delta.analyze_wasted_spend",
    "delta.infer_business_profile",
)
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

    @property
    def credentials(self) -> dict[str, str]:
        """The header with the token."""
        if self.token is None:
            return {}
        return {self.header: self.token if self.scheme is None else f"{self.scheme} {self.token}"}


def _known(source: str, accounts: list[str], items: list[list[str]], **more) -> ForeignService:
    of_platforms = dict(zip(PLATFORMS, accounts * (4 // len(accounts)), strict=True))
    return ForeignService(source, of_platforms, dict(zip(READS, items, strict=True)), **more)


def _ids(forms: str, counts: Sequence[int], first: int = 1) -> list[list[str]]:
    """The ids of each read by their form and number, in the order of READS."""
    return [
        [form.format(n) for n in range(first, first + count)]
        for form, count in zip(forms.split(), counts, strict=True)
    ]


_KNOWN = {
    "node": _known(
        "service.mjs",
        ["acct-77"],
        _ids(" ".join(f"{kind}1{{:03x}}" for kind in "kofagwp"), [75, 26, 8, 120, 9, 61, 6], 0),
        tls=True,
    ),
    "perl": _known(
        "service.pl",
        ["Söhne & Co"],
        _ids("C/{} T/{} F/{} A/{} O/{} W/{} P/{}", [100, 28, 17, 66, 5, 37, 9]),
        path="/ads/api",
        token="perl-key",
        scheme="ApiKey",
    ),
    "ruby": _known(
        "service.rb",
        ["a_31", "b_32", "g_33", "d_34"],
        _ids(
            "{}-kampagne {}-option {}-clip {}-anzeige {}-objective {}-term {}-trait",
            [47, 19, 15, 101, 6, 10, 5],
        ),
        token="ruby-token",
        header="Api-Token",
    ),
    "php": _known(
        "service.php",
        ["konto"],
        _ids("cmp_{} opt_{} fat_{} ad_{} obj_{} kw_{} fact_{}", [83, 30, 20, 91, 10, 21, 8]),
    ),
}
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
    environment = {
        **os.environ,
        "LC_ALL": "C.UTF-8",
        "PORT": str(port),
        "CERTIFICATE": str(certificate),
    }
    environment |= {"CHANGED": "1"} if changed else {}
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
