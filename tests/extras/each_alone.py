"""Use what one extra is for, or without an argument show what is missing without any.

It runs in environments that have nothing else: `nox -s extras`.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from threading import Thread
from urllib.request import urlopen

from adclient import AdClient, AsyncAdClient, LedgerError, Request
from adclient.ledger import open_ledger
from adclient.testing import FakeAdService

BETA = {"account_id": "account_b204"}
COMMAND = Path(sys.executable).parent / "adclient"


@contextmanager
def served() -> Iterator[str]:
    """The URL of a fake over HTTP, without the extra `server`."""
    fake = FakeAdService()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            response = fake.handle(Request(method="GET", url=fake.base_url + self.path))
            self.send_response(response.status)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(response.body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def campaigns():
    return FakeAdService().client().beta.list_campaigns(**BETA).collect()


def check(client: AdClient) -> None:
    assert client.beta.list_campaigns(**BETA).data[0].id == "campaign_57a7"


def started(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """The command, with its standard streams."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    environment = {**os.environ, "ADCLIENT_TOKEN": "t", **environment}
    return subprocess.Popen([COMMAND, *arguments], text=True, env=environment, **pipes)


def run(*arguments: str, **environment: str) -> None:
    """Run the command; if it fails, end with what it says."""
    with started(*arguments, **environment) as process:
        complaint = process.communicate()[1]
    if process.returncode != 0:
        sys.exit(complaint)


def arrow() -> None:
    assert campaigns().__arrow_c_stream__() is not None
    with served() as url, tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "campaigns.parquet")
        options = ["--account", "account_b204", "--url", url, "--parquet", str(target)]
        run("list", "beta.campaigns", *options)
        assert target.read_bytes()[:4] == b"PAR1"


def completion() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder, "found")
        of_shell = {"COMP_LINE": "adclient li", "COMP_POINT": "11", "_ARGCOMPLETE": "1"}
        run(**of_shell, _ARGCOMPLETE_STDOUT_FILENAME=str(found))
        assert found.read_text().strip() == "list"


def examples() -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    pyplot.style.use("examples/charts.mplstyle")
    [line] = pyplot.plot(campaigns().to_pandas()["spend"])
    assert len(line.get_ydata()) == len(campaigns())


def fast() -> None:
    import_module("sniffio")

    async def read(url: str) -> None:
        async with AsyncAdClient(url, token="t") as client:
            assert len(await client.beta.list_campaigns(**BETA).collect()) == len(campaigns())

    with served() as url:
        asyncio.run(read(url))


def httpx2() -> None:
    import httpx2

    with served() as url, httpx2.Client() as http:
        check(AdClient(url, token="t", http_client=http))


def hypothesis() -> None:
    from adclient.testing.properties import accounts

    assert accounts("account_1").example().id == "account_1"


def mcp() -> None:
    options = ["--account", "account_b204", "--url", "https://ads.example.com"]
    with started("mcp", *options, "--http", "0") as process:
        if not process.stdout.readline().startswith("http://127.0.0.1:"):
            sys.exit(process.stderr.read())
        process.terminate()


def notebook() -> None:
    import jupyterlab as _  # noqa: F401 (only imported to see whether it is there)


def otel() -> None:
    from opentelemetry import trace

    started = []

    class Tracer(trace.NoOpTracer):
        def start_span(self, name, *arguments, **options):
            started.append(name)
            return super().start_span(name, *arguments, **options)

    class Provider(trace.NoOpTracerProvider):
        def get_tracer(self, *_, **__):
            return Tracer()

    trace.set_tracer_provider(Provider())
    campaigns()
    assert len(started) == 2  # pages


def pandas() -> None:
    assert campaigns().to_pandas()["id"][0] == "campaign_57a7"


def polars() -> None:
    assert campaigns().to_polars()["id"][0] == "campaign_57a7"


def postgres() -> None:
    ledger = open_ledger("postgresql://ads@127.0.0.1:1/ads")  # where nothing listens
    message = ""
    try:
        ledger.entries()
    except LedgerError as error:
        message = str(error)
    assert "127.0.0.1" in message


def server() -> None:
    with started("fake", "--port", "0") as process:
        hints = process.stdout.readline()
        if not hints:
            sys.exit(process.stderr.read())
        url = hints.split()[-1]
        check(AdClient(url, token="t"))
        with urlopen(f"{url}/approval") as page:
            assert page.status == 200
        process.send_signal(signal.SIGINT)


USES = [
    *(arrow, completion, examples, fast, httpx2, hypothesis, mcp, notebook),
    *(otel, pandas, polars, postgres, server),
]
# adclient works without these, which are imported by the caller, by httpcore, or if they are there.
OF_CALLERS = {"examples", "fast", "httpx2", "notebook", "otel"}


def main() -> None:
    uses = {use.__name__: use for use in USES}
    if len(sys.argv) > 1:
        uses[sys.argv[1]]()
        return
    for extra, use in uses.items():
        try:
            use()
        except (ModuleNotFoundError, SystemExit) as error:
            message = str(error)
        else:
            sys.exit(f"the extra {extra} is not needed: this environment has more than adclient")
        print(f"{extra}: {message}")
        assert extra in OF_CALLERS or f"'adclient[{extra}]'" in message


if __name__ == "__main__":
    main()
