"""Ten services that implement the interface as somebody else would, and a way to start them.

`offset`, `pageToken` and the like are names of the parameter that continues a listing. Objects in
a query are JSON, or in brackets: `targeting[type]=city`. What differs under CHANGED is below.

| service | parameters of reads | credentials | `page.next` | continues by | the end |
|---|---|---|---|---|---|
| flask | query | `Authorization: Bearer` | opaque token | `page_token` | null |
| django | query | `Authorization: Token` | {"href": absolute URL, another host} | `page` | null |
| fastapi | query | `X-Api-Key` | relative URL | `after_token` | null |
| tornado | query or body | `Authorization: Basic` | absolute URL, same host | `marker` | null |
| node | body | none | {"cursor": …, "limit": …} | both as parameters | missing |
| go | query | `Authorization: Bearer` | an id | `exclusiveStartKey` | "" |
| ruby | query, brackets | `Api-Token` | a token | `page[after]` | missing |
| php | query, brackets | none | an id; a number | `last_id`, `lastKey`; `page` | false |
| perl | query or body | `Authorization: ApiKey` | absolute URL, internal host | `after` | "" |
| java | query | `Authorization: Bearer`, `X-Tenant` | a row number | `before` | null |

| service | unknown names | reveals its name by | unknown account | errors | id of the request |
|---|---|---|---|---|---|
| flask | 400 | the error for unknown names | 404 | JSON, {"error": {…}} | `X-Request-Id` |
| django | ignored | the link | 403 | JSON, {"detail": …} | – |
| fastapi | 422 | the link | 422 | JSON, {"detail": […]} | `X-Correlation-ID` |
| tornado | ignored | the link | 404 | HTML | – |
| node | ignored | the keys of the object | 400 | JSON, {"errors": […]} | `x-correlation-id` |
| go | 400 | the error for unknown names | 401 | plain text | `X-Trace-Id` |
| ruby | ignored | a header `Link` | 422 | JSON:API | `X-Request-Id` |
| php | ignored | keys of `page`, where it is `page` | an empty page | JSON, {"message": …} | – |
| perl | ignored | the link | 400 | XML | `X-Ads-Request` |
| java | ignored | the keys of `page` | 403 | problem+json | `Request-Id` |

| service | accounts | further | under CHANGED |
|---|---|---|---|
| flask | four | | the name is `pageToken` |
| django | one | below /ads/api; HTTP/1.0 | `budget` of beta campaigns is text |
| fastapi | four | | another shape of the 422s, which are 400s |
| tornado | one | HTTPS with its own CA | `impressions` of gamma ads is gone |
| node | one | gzip | the end is false |
| go | four | each ninth request gets 429, Retry-After: 1 | errors are JSON |
| ruby | four | chunked | the name is `page[cursor]` |
| php | one | beta by `last_id` and `lastKey`, others by `page` | 404 for unknown accounts |
| perl | one | the first request gets 503; HTTP/1.0 | the URL is relative |
| java | four | `offset` works, too, but skips items | row numbers are text |

Explanations, and business profiles in most services, have only one page. One of the services lets a
caller choose how many items a page has: node, by `limit`, up to its usual page.
"""

import atexit
import contextlib
import functools
import hashlib
import os
import shutil
import socket
import subprocess
import sys
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
# In the locale C, Java refuses paths that are not ASCII.
_UTF8 = {"LC_ALL": "C.UTF-8"}


@attrs.frozen
class ForeignService:
    """A running service: where it is, what it wants, and what its listings contain."""

    name: str
    url: str
    accounts: Mapping[str, str]
    """The account of each platform."""
    items: Mapping[str, Sequence[str]]
    """The ids of each read, in their order."""
    token: str | None = None
    header: str = "Authorization"
    scheme: str | None = None
    headers: Mapping[str, str] = {}
    """Required headers that are no credentials."""
    ca: Path | None = None

    @property
    def all_headers(self) -> dict[str, str]:
        """The headers that each request needs."""
        if self.token is None:
            return dict(self.headers)
        value = self.token if self.scheme is None else f"{self.scheme} {self.token}"
        return {**self.headers, self.header: value}


@attrs.frozen
class _Known:
    """What is known of a service before it runs."""

    source: str
    accounts: list[str]
    items: list[list[str]]  # in the order of READS
    token: str | None = None
    header: str = "Authorization"
    scheme: str | None = None
    headers: Mapping[str, str] = {}
    path: str = ""
    tls: bool = False


def _ids(forms: str, counts: Sequence[int], first: int = 1) -> list[list[str]]:
    """The ids of each read by their form and number, in the order of READS."""
    return [
        [form.format(n) for n in range(first, first + count)]
        for form, count in zip(forms.split(), counts, strict=True)
    ]


_KNOWN = {
    "flask": _Known(
        "flask_service.py",
        ["A-1001", "B-2002", "G-3003", "D-4004"],
        _ids("c{:04d} t-{} f{:02d} ad_{} OBJ_{} w{} p{}", [97, 33, 12, 130, 5, 18, 6]),
        token="flask-token",
        scheme="Bearer",
    ),
    "django": _Known(
        "django_service.py",
        ["448812"],
        _ids(" ".join(f"{n}{{:03d}}" for n in (1, 3, 4, 7, 5, 6, 8)), [64, 41, 9, 88, 7, 23, 5], 0),
        token="django-token",
        scheme="Token",
        path="/ads/api",
    ),
    "fastapi": _Known(
        "fastapi_service.py",
        ["alpha/main", "beta/main", "gamma/main", "delta/main"],
        _ids(
            " ".join(f"000000{n}-0000-4000-8000-{{:012d}}" for n in (21, 31, 22, 32, 11, 41, 42)),
            [55, 130, 31, 71, 8, 44, 11],
            0,
        ),
        token="fastapi-key",
        header="X-Api-Key",
    ),
    "tornado": _Known(
        "tornado_service.py",
        ["5f1c9a4e-7a55-4f3c-9d0e-0c6e3c1d9b11"],
        [
            [hashlib.sha1(text.encode()).hexdigest()[:10] for text in of_read]
            for of_read in _ids(
                "campaign{} option{} fatigue{} ad{} goal{} waste{} profile{}",
                [110, 16, 21, 36, 6, 27, 7],
                0,
            )
        ],
        token="dG9ybmFkbzpzZWNyZXQ=",
        scheme="Basic",
        tls=True,
    ),
    "node": _Known(
        "service.mjs",
        ["acct-77"],
        _ids(" ".join(f"{kind}1{{:03x}}" for kind in "kofagwp"), [75, 26, 8, 120, 9, 61, 6], 0),
    ),
    "go": _Known(
        "service.go",
        ["urn:account:1", "urn:account:2", "urn:account:3", "urn:account:4"],
        _ids(
            "urn:campaign:{} urn:option:{} urn:creative:{} urn:ad:{} urn:objective:{} urn:term:{} "
            "urn:fact:{}",
            [90, 50, 14, 99, 5, 29, 6],
        ),
        token="go-token",
        scheme="Bearer",
    ),
    "ruby": _Known(
        "service.rb",
        ["a_31", "b_32", "g_33", "d_34"],
        _ids(
            "{}-kampagne {}-option {}-clip {}-anzeige {}-objective {}-term {}-trait",
            [47, 19, 15, 101, 6, 10, 5],
        ),
        token="ruby-token",
        header="Api-Token",
    ),
    "php": _Known(
        "service.php",
        ["konto"],
        _ids("cmp_{} opt_{} fat_{} ad_{} obj_{} kw_{} fact_{}", [83, 30, 20, 91, 10, 21, 8]),
    ),
    "perl": _Known(
        "service.pl",
        ["Söhne & Co"],
        _ids("C/{} T/{} F/{} A/{} O/{} W/{} P/{}", [100, 28, 17, 66, 5, 37, 9]),
        token="perl-key",
        scheme="ApiKey",
    ),
    "java": _Known(
        "Service.java",
        ["900100", "900200", "900300", "900400"],
        [
            of_read[::-1]
            for of_read in _ids("r{} s{} u{} v{} w{} x{} y{}", [130, 45, 13, 77, 6, 40, 5])
        ],
        token="java-token",
        scheme="Bearer",
        headers={"X-Tenant": "acme"},
    ),
}
NAMES = tuple(_KNOWN)


@functools.cache
def _folder() -> Path:
    """A folder for what is built, until this process ends."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@functools.cache
def _certificates() -> tuple[Path, Path]:
    """The certificate of a CA, and one for 127.0.0.1 with its key."""
    ca, own = _folder() / "ca.pem", _folder() / "server.pem"
    authority = trustme.CA()
    authority.cert_pem.write_to_path(ca)
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(own)
    return ca, own


@functools.cache
def _command(source: Path) -> list[str]:
    """What starts the service, with its port in the environment; build it first if it must be."""
    folder = str(_folder())
    match source.suffix:
        case ".go":
            _build("go", "build", "-o", f"{folder}/service", str(source))
            return [f"{folder}/service"]
        case ".java":
            _build("javac", "-encoding", "UTF-8", "-d", folder, str(source))
            return ["java", "-XX:TieredStopAtLevel=1", "-cp", folder, source.stem]
        case ".php":
            return ["sh", "-c", 'exec php -S "127.0.0.1:$PORT" "$0"', str(source)]
        case suffix:
            programs = {".py": sys.executable, ".mjs": "node", ".pl": "perl", ".rb": "ruby"}
            return [programs[suffix], str(source)]


def _build(*command: str) -> None:
    """Run a compiler, and show its errors if it fails."""
    environment = {**os.environ, **_UTF8}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, f"{command[0]} failed:\n{run.stderr}"


@contextlib.contextmanager
def foreign_service(name: str, *, changed: bool = False) -> Iterator[ForeignService]:
    """Run the service on a free port; with `changed`, as it is after its authors changed it."""
    known = _KNOWN[name]
    accounts = known.accounts * (4 // len(known.accounts))
    ca, certificate = _certificates() if known.tls else (None, None)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, **_UTF8, "PORT": str(port), "CERTIFICATE": str(certificate)}
    environment.pop("CHANGED", None)
    if changed:
        environment["CHANGED"] = "1"
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            _command(SOURCES / known.source), env=environment, stdout=output, stderr=output
        )
        try:
            if not _accepts(process, port):
                output.seek(0)
                said = output.read().decode(errors="replace")
                raise RuntimeError(f"the service {name} did not start; it wrote:\n{said}")
            yield ForeignService(
                name=name,
                url=f"{'https' if known.tls else 'http'}://127.0.0.1:{port}{known.path}",
                accounts=dict(zip(PLATFORMS, accounts, strict=True)),
                items=dict(zip(READS, known.items, strict=True)),
                token=known.token,
                header=known.header,
                scheme=known.scheme,
                headers=known.headers,
                ca=ca,
            )
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _accepts(process: subprocess.Popen[bytes], port: int) -> bool:
    """Wait until the process accepts connections; False if it ends or takes too long."""
    deadline = time.monotonic() + SECONDS_TO_START
    while process.poll() is None and time.monotonic() < deadline:
        # Without a request: one service counts its requests, and another refuses its first.
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        time.sleep(0.02)
    return False
