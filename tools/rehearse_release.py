"""`rehearse_release.py FOLDER VERSION`: publish FOLDER/dist to a local index, and try it there.

The files are uploaded with twine and installed by name and version, as users will, into a new
environment outside the source. The SBOM of that environment is written to FOLDER.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import create_connection, create_server

README = Path(__file__).parent.parent / "README.md"


@contextmanager
def index(folder: Path) -> Iterator[str]:
    """The URL of an index that keeps what is uploaded in a folder."""
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ["-i", "127.0.0.1", "-p", str(port), "-P", ".", "-a", ".", "--disable-fallback"]
    with subprocess.Popen(
        [sys.executable, "-m", "pypiserver", "run", *options, folder], stderr=subprocess.DEVNULL
    ) as server:
        try:
            for _ in range(100):
                try:
                    create_connection(("127.0.0.1", port)).close()
                    break
                except ConnectionRefusedError:
                    time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def run(*command: str | Path, **options: Path | dict[str, str]) -> str:
    """The output of a command, which must succeed."""
    print("$", *command, flush=True)
    return subprocess.check_output(command, text=True, **options)


def main(folder: Path, version: str) -> None:
    """Upload, install and try the release."""
    with tempfile.TemporaryDirectory() as name:
        away = Path(name)
        (away / "packages").mkdir()
        run(sys.executable, "-m", "venv", away / "env")
        programs = away / "env" / "bin"
        pip = [programs / "pip", "install", "--quiet", "--disable-pip-version-check"]
        with index(away / "packages") as url:
            twine = ["twine", "upload", "--non-interactive", "-u", "-", "-p", "-"]
            run(*twine, "--repository-url", url, *sorted((folder / "dist").iterdir()))
            # From this index alone; what it needs, from the usual one.
            requirement = f"adclient=={version}"
            run(*pip, "--index-url", f"{url}/simple/", "--no-deps", requirement, cwd=away)
        run(*pip, requirement, cwd=away)
        run(programs / "pip", "check", cwd=away)

        said = run(programs / "adclient", "--version", cwd=away)
        assert said == f"adclient {version}\n", said
        found = re.search(r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.M | re.S)
        assert found is not None
        # Without a service, the fake answers.
        example = found[1].replace(
            'AdClient("https://ads.example.com", token="YOUR-TOKEN")', "FakeAdService().client()"
        )
        example = f"from adclient.testing import FakeAdService\n{example}"
        print(run(programs / "python", "-W", "error", "-c", example, cwd=away)[:500])

        # Without pip, which every environment has and nobody depends on.
        run(programs / "pip", "uninstall", "--quiet", "--yes", "pip", cwd=away)
        sbom = folder / "sbom.cdx.json"
        options = ["--output-reproducible", "--output-file", sbom]
        run("cyclonedx-py", "environment", *options, programs / "python")
        assert f"pkg:pypi/adclient@{version}" in sbom.read_text("utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2])
