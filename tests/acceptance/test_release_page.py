"""The commands to verify a release; tools/rehearse_release.py runs the others."""

import os
import re
import subprocess
import tomllib
from hashlib import sha256
from pathlib import Path

import yaml
from pages import ROOT, blocks

PAGE = ROOT / "SECURITY.md"
COMMANDS = [text for _, text in blocks(PAGE, "sh")]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
JOBS = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
HOMEPAGE = PROJECT["urls"]["Homepage"]
REPOSITORY = HOMEPAGE.removeprefix("https://github.com/")
NAMES = ("adclient-1.2.3-py3-none-any.whl", "adclient-1.2.3.tar.gz", "sbom.cdx.json", "SHA256SUMS")
# Prints its arguments, as what `gh` does needs the host.
GH = '#!/bin/sh\necho "$@" >>calls\n'


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "gh").write_text(GH, "utf-8")
    (folder / "gh").chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-ec", command], cwd=folder, env=environment, capture_output=True, encoding="utf-8"
    )


def test_commands_for_the_host_name_what_is_released(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).touch()
    download, verify, from_pypi = (
        text for text in COMMANDS if REPOSITORY in text and "git clone" not in text
    )
    download = re.sub("VERSION=.*", "VERSION=1.2.3", download)
    done = run(download + verify, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    calls = (tmp_path / "calls").read_text("utf-8").splitlines()
    assert calls[0] == f"release download v1.2.3 --repo {REPOSITORY}"
    signer = f"{REPOSITORY}/{WORKFLOW.relative_to(ROOT).as_posix()}"
    assert calls[1:5] == [
        f"attestation verify {name} --repo {REPOSITORY} "
        f"--source-ref refs/tags/v1.2.3 --signer-workflow {signer}"
        for name in NAMES
    ]
    assert calls[5:] == [
        f"attestation verify {NAMES[0]} --repo {REPOSITORY} "
        "--predicate-type https://cyclonedx.org/bom"
    ]
    assert " verify pypi pypi:adclient-$VERSION-py3-none-any.whl " in from_pypi
    assert f"--repository {HOMEPAGE}\n" in from_pypi

    provenance, sbom = (step["with"] for step in JOBS["attest"]["steps"][1:])
    assert provenance == {"subject-path": "dist/*\nsbom.cdx.json\nSHA256SUMS\n"}
    assert sbom == {"subject-path": "dist/*", "sbom-path": "sbom.cdx.json"}
    assert '"$TAG" dist/* sbom.cdx.json SHA256SUMS ' in JOBS["announce"]["steps"][1]["run"]


def test_changed_file_does_not_pass_the_check_of_hashes(tmp_path: Path) -> None:
    [check] = [text for text in COMMANDS if text.startswith("sha256sum")]
    *files, sums = NAMES
    for name in files:
        (tmp_path / name).write_text(name, "utf-8")
    hashes = [f"{sha256(name.encode()).hexdigest()}  {name}\n" for name in files]
    (tmp_path / sums).write_text("".join(hashes), "utf-8")
    assert run(check, tmp_path).returncode == 0
    (tmp_path / files[1]).unlink()  # not downloaded
    assert run(check, tmp_path).returncode == 0
    (tmp_path / files[0]).write_text("changed", "utf-8")
    assert run(check, tmp_path).returncode == 1
