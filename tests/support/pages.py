"""Run the code blocks of a page as a reader would paste them, from top to bottom."""

import difflib
import gc
import logging
import os
import re
import runpy
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from itertools import count
from pathlib import Path
from types import ModuleType
from unittest import SkipTest, mock

import httpx
import pytest
from raw_server import CERTIFICATE, Connection, RawServer, handling
from sybil import Document, Example, Region, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.example import SybilFailure
from sybil.parsers.markdown import SkipParser
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from adclient._core import events
from adclient.testing import FakeAdService

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

_RESOLVER = Path(__file__).with_name("ads_example_com")
_BLOCK = RawFencedCodeBlockLexer(re.compile(r"(?P<language>\w*).*\n"))
# The first line of a block that is a file, such as `# plans/2026-w47.toml`.
_FILE = re.compile(r"(?:#|//) (\S+\.\w+)\n")
# A comment of a page: the reader approves this draft, in the dashboard.
_APPROVAL = re.compile(r"<!-- approve (\w+) -->")
_TEST = re.compile(r"^(?:async )?def test_", re.MULTILINE)
_EXPORT = re.compile(r"(?:^export )?\b([A-Z_]+)=(\S+)(?: |$)", re.MULTILINE)


def blocks(page: Path, language: str) -> Iterator[tuple[int, str]]:
    """The blocks of a page in a language, each with its line."""
    document = Document(page.read_text("utf-8"), str(page))
    for region in _BLOCK(document):
        if region.lexemes["language"] == language:
            yield document.text.count("\n", 0, region.start) + 1, region.lexemes["source"]


def run_page(page: Path, folder: Path, fake: FakeAdService, *, runner: str = "") -> None:
    """Run a page in a folder, with a fake as https://ads.example.com.

    A block may be left to a test, by `<!-- skip: next "file::text in it" -->`. It is run all the
    same if that test is the `runner`. `<!-- approve draft_35ea -->` is what the reader does then.
    """
    blocks = _Blocks(folder, fake)
    document = Sybil([blocks.parse, blocks.parse_approvals, SkipParser()]).parse(page)
    if not list(document):
        return
    main = ModuleType("__main__")
    document.namespace = vars(main)
    with (
        # As Python does by default, of a client that a script never closes, say.
        warnings.catch_warnings(action="ignore", category=ResourceWarning),
        mock.patch.dict(os.environ, _environment(), clear=True),
        pytest.MonkeyPatch.context() as patch,
        _at_ads_example_com(fake, patch),
    ):
        patch.chdir(folder)
        patch.setitem(sys.modules, "__main__", main)
        patch.setattr(logging.root, "handlers", [])  # with one, `basicConfig` does nothing
        patch.setattr(events, "_call_ids", count(1))  # a log shows the number of a call
        try:
            for example in document:
                _run(example, runner)
            blocks.run_tests()
        finally:
            vars(main).clear()
            gc.collect()
            gc.freeze()  # so that the next page does not walk what this one has loaded
            logging.getLogger("adclient").setLevel(logging.NOTSET)


def _environment() -> dict[str, str]:
    """This one, with the commands of its Python, and without settings that a reader may lack."""
    unset = re.compile("ADCLIENT_.*|PYTHON.*|.*_PROXY", re.IGNORECASE)
    kept = {name: value for name, value in os.environ.items() if not unset.fullmatch(name)}
    return {**kept, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"}


def _run(example: Example, runner: str) -> None:
    try:
        example.evaluate()
    except SkipTest as skip:
        test = str(skip)
        if test == runner:
            failure = example.region.evaluator(example)
        else:
            failure = None if _exists(test) else f"it is left to {test}, which does not exist"
        if failure:
            raise SybilFailure(example, failure) from None


def _exists(test: str) -> bool:
    name, _, text = test.partition("::")
    file = ROOT / name
    if name.startswith(".ci/") and not (ROOT / ".ci").exists():
        return True  # an sdist has no settings of CI
    return text != "" and file.is_file() and text in file.read_text("utf-8")


class _Blocks:
    """The blocks of one page, of whatever language."""

    def __init__(self, folder: Path, fake: FakeAdService) -> None:
        self._folder = folder
        self._fake = fake
        self._python = PythonEvaluator()
        self._printed = ""
        self._in_bash = ""
        self._end: int | None = None  # of the block that printed this
        self._tests: list[str] = []

    def parse(self, document: Document) -> Iterable[Region]:
        for region in _BLOCK(document):
            region.parsed = region.lexemes["source"]
            region.evaluator = self._evaluate
            yield region

    def parse_approvals(self, document: Document) -> Iterable[Region]:
        for found in _APPROVAL.finditer(document.text):
            yield Region(found.start(), found.end(), found[1], self._approve)

    def _approve(self, example: Example) -> None:
        self._fake.dashboard.approve(example.parsed)

    def run_tests(self) -> None:
        """Run the blocks with tests, all in one process, as pytest takes a second to start."""
        if self._tests:
            failure = self._shell(f"python -W error -m pytest -q {' '.join(self._tests)}")
            assert not failure, failure

    def _evaluate(self, example: Example) -> str | None:
        """Run a block; the text of a failure."""
        language, source = example.region.lexemes["language"], example.parsed
        end, self._end = self._end, None
        if file := _FILE.match(source):
            path = self._folder / file[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, "utf-8")
            return None
        if language in ("text", "json"):
            if end is None or example.document.text[end : example.start].strip():
                return "no block directly before this output prints it"
            shown, printed = source.splitlines(), self._printed.splitlines()
            return "\n".join(difflib.unified_diff(shown, printed, "shown", "printed", lineterm=""))
        self._end = example.end
        if language == "sh":
            self._in_bash = source
            return self._shell(source)
        if language == "powershell":  # in the tab beside that of bash
            same = _EXPORT.sub(r'$env:\1 = "\2"\n', self._in_bash).replace(" \\\n", " `\n")
            return None if re.sub(r"\n+", "\n", same) == source else f"it would be:\n{same}"
        if language == "python" and _TEST.search(source):
            test = self._folder / f"test_line_{example.line}.py"
            test.write_text(source, "utf-8")
            self._tests.append(test.name)
            return None
        if language == "python":
            with StringIO() as printed, redirect_stdout(printed), redirect_stderr(printed):
                self._python(example)
                self._printed = printed.getvalue()
            return None
        return f"nothing runs a block of the language {language!r}"

    def _shell(self, source: str) -> str | None:
        """Run a block in bash; what it exports stays for the blocks after it."""
        exported = self._folder.with_suffix(".environment")
        run = subprocess.run(
            ["bash", "-ec", f"""trap 'env -0 >"$0"' EXIT\n{source}""", exported],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            encoding="utf-8",
        )
        self._printed = run.stdout
        if run.returncode:
            return f"exit code {run.returncode}\n{run.stdout}"
        os.environ.update(line.split("=", 1) for line in exported.read_text().split("\0")[:-1])
        return None


@contextmanager
def _at_ads_example_com(fake: FakeAdService, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Serve a fake at https://ads.example.com, to this process and to those that it starts."""

    def handle(request: httpx.Request) -> httpx.Response:
        if request.url.path != "/oauth/token":
            return fake.transport.handle_request(request)
        # The service also issues its token, as OAuth servers do.
        assert request.content == b"grant_type=client_credentials"
        token = {"access_token": "YOUR-TOKEN", "token_type": "Bearer", "expires_in": 3600}
        return httpx.Response(200, json=token)

    def serve(connection: Connection) -> None:
        connection.start_tls()
        if not connection.is_over:
            respond(connection)

    respond = handling(handle, "https://ads.example.com")
    with RawServer(serve) as server:
        os.environ["ADS_EXAMPLE_COM_PORT"] = server.url.rpartition(":")[2]
        os.environ["SSL_CERT_FILE"] = str(CERTIFICATE)
        os.environ["PYTHONPATH"] = str(_RESOLVER)
        patch.setattr(socket, "getaddrinfo", socket.getaddrinfo)
        runpy.run_path(str(_RESOLVER / "sitecustomize.py"))
        yield
