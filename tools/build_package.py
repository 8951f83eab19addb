"""`build_package.py FOLDER`: build the sdist and the wheel of the current commit, and check them.

They are built twice, from clones that differ in path, umask and time zone. Both builds must give
the same bytes, and hold the files that git has and nothing more.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parent.parent


def git(*arguments: str | Path) -> str:
    """The output of a git command."""
    return subprocess.check_output(["git", "-C", ROOT, *arguments], text=True)


def build(clone: Path, umask: int, zone: str) -> dict[str, bytes]:
    """Build from a new clone, and return the files by their names."""
    git("clone", "--quiet", ROOT, clone)
    readme = clone / "README.md"
    readme.write_text(with_addresses(readme.read_text("utf-8")), "utf-8")
    epoch = git("log", "-1", "--format=%ct").strip()
    subprocess.run(
        [sys.executable, "-m", "build", "--quiet", "--no-isolation", "--outdir", "dist"],
        cwd=clone,
        umask=umask,
        env=os.environ | {"SOURCE_DATE_EPOCH": epoch, "TZ": zone},
        check=True,
    )
    return {path.name: path.read_bytes() for path in sorted((clone / "dist").iterdir())}


def with_addresses(readme: str) -> str:
    """The README with links that lead to the repository, as a package index shows it alone."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
    at = urls["Homepage"]
    readme = re.sub(r"\]\((?!https?:|#)", f"]({at}/blob/main/", readme)
    return re.sub(r'(src(?:set)?=")(?!https?:)', rf"\1{at}/raw/main/", readme)


def main(folder: Path) -> None:
    """Build, compare and check; write the two files to a folder."""
    with tempfile.TemporaryDirectory() as work:
        first = build(Path(work, "a"), 0o022, "UTC")
        second = build(Path(work, "another path"), 0o077, "Asia/Kolkata")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in first.items():
        (folder / name).write_bytes(content)
        print(sha256(content).hexdigest(), name, f"{len(content):,} bytes")
        if content != second[name]:
            sys.exit(f"two builds of {name} differ")
    sdist, wheel = sorted(first, key=lambda name: name.endswith(".whl"))
    tracked = set(git("ls-files").splitlines())

    base = sdist.removesuffix(".tar.gz")
    with tarfile.open(folder / sdist) as archive:
        packed = {name.removeprefix(f"{base}/") for name in archive.getnames()}
    check(sdist, packed, {name for name in tracked if name[0] != "."} | {".gitignore", "PKG-INFO"})

    parts = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    of_package = {name for name in tracked if name.startswith("adclient/")}
    with zipfile.ZipFile(folder / wheel) as archive:
        shown = archive.read(f"{base}.dist-info/METADATA").decode()
        relative = re.findall(r'(?:\]\(|src(?:set)?=")(?!https?:|#)[^)"]+', shown)
        check("the README in METADATA", set(relative), set())
        check(wheel, set(archive.namelist()), of_package | {f"{base}.dist-info/{p}" for p in parts})


def check(name: str, found: set[str], expected: set[str]) -> None:
    """End with a message if a file holds too much or too little."""
    if found != expected:
        sys.exit(f"{name}: too many {found - expected}, missing {expected - found}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
