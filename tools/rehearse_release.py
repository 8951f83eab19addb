"""`rehearse_release.py FOLDER VERSION`: publish FOLDER/dist to a local index, and try it there.

The files are uploaded with twine and installed by name and version, as users will, into a new
environment outside the source. The SBOM of that environment and the hashes of all files are written
to FOLDER. Then the commands of SECURITY.md are run on them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from socket import create_connection, create_server
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGE = ROOT / "SECURITY.md"


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


def sha256_of(file: Path) -> str:
    """The SHA-256 of a file, as hexadecimal digits."""
    return sha256(file.read_bytes()).hexdigest()


def sbom_of(wheel: Path, python: Path) -> str:
    """The SBOM of a wheel, which is installed in the environment of a Python."""
    epoch = run("git", "-C", ROOT, "log", "-1", "--format=%ct").strip()
    command = ("cyclonedx-py", "environment", "--output-reproducible", python)
    bom = json.loads(run(*command, env=os.environ | {"SOURCE_DATE_EPOCH": epoch}))
    [package] = [component for component in bom["components"] if component["name"] == "adclient"]
    bom["components"].remove(package)
    package["hashes"] = [{"alg": "SHA-256", "content": sha256_of(wheel)}]
    bom["metadata"]["component"] = package
    # A reproducible SBOM of cyclonedx-py has no serial number, without which actions/attest takes
    # it for none. This one is the same for the same content.
    bom["serialNumber"] = uuid5(NAMESPACE_URL, json.dumps(bom, sort_keys=True)).urn
    text = json.dumps(bom, indent=2, sort_keys=True) + "\n"
    validator = JsonStrictValidator(SchemaVersion.from_version(bom["specVersion"]))
    invalid = validator.validate_str(text)
    assert invalid is None, invalid
    return text


def follow_page(files: list[Path], version: str) -> None:
    """Verify the files as the page shows, with this repository in place of the one on the host."""
    text = PAGE.read_text("utf-8")
    blocks = re.findall(r"::follow_page\" -->\n\n```sh\n(.*?)^```$", text, re.M | re.S)
    tag = re.compile(r"--branch v\$VERSION https://\S+")  # which the host does not have yet
    script, replaced = tag.subn(ROOT.as_uri(), "".join(blocks))
    assert replaced == 1, script
    with tempfile.TemporaryDirectory() as name:
        for file in files:
            shutil.copy(file, name)
        environment = os.environ | {"VERSION": version}
        print(run("bash", "-eo", "pipefail", "-c", script, cwd=Path(name), env=environment))


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
        [wheel] = (folder / "dist").glob("*.whl")
        (folder / "sbom.cdx.json").write_text(sbom_of(wheel, programs / "python"), "utf-8")
    files = [*sorted((folder / "dist").iterdir()), folder / "sbom.cdx.json"]
    hashes = "".join(f"{sha256_of(file)}  {file.name}\n" for file in files)
    (folder / "SHA256SUMS").write_text(hashes, "utf-8")
    follow_page([*files, folder / "SHA256SUMS"], version)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2])
