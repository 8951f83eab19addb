"""The sessions that keep the project: `nox` runs all of them, `nox -l` lists them."""

import shutil
from pathlib import Path

import nox

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PROJECT)
OLDEST = PYTHONS[0]

nox.needs_version = ">=2025.2"
nox.options.default_venv_backend = "venv"
# A Python that is not at hand is reported as skipped; the classifiers say which there should be.
nox.options.error_on_missing_interpreters = False


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Every test, on each Python at hand."""
    session.install("-e", ".[test]")
    session.run("pytest", "-q", *session.posargs)


@nox.session
def httpx2(session: nox.Session) -> None:
    """The clients send through injected clients of httpx2, and of httpx."""
    session.install("-e", ".[test]")
    for family in ("httpx2", "httpx"):
        session.run("pytest", "-q", "tests/surface", f"--family={family}", *session.posargs)


@nox.session
def aiohttp(session: nox.Session) -> None:
    """The async client sends through aiohttp."""
    session.install("-e", ".[test]")
    session.run("pytest", "-q", "tests/surface", "--family=aiohttp", *session.posargs)


@nox.session(python=OLDEST)
def oldest(session: nox.Session) -> None:
    """The lowest version of each library that the project allows, and httpx2 not installed."""
    extras = PROJECT["project"]["optional-dependencies"]
    needed = PROJECT["project"]["dependencies"] + extras["arrow"] + extras["pandas"]
    needed += extras["polars"] + [line for line in extras["notebook"] if "tqdm" in line]
    allowed = [line.split(",")[0] for line in needed if not line.startswith("adclient[")]
    session.install("-e", ".[test]")
    session.install(*(line.replace(">=", "==") for line in allowed))
    session.run("pip", "uninstall", "-y", "-q", "httpx2", "httpcore2")
    # anyio before 4.15.1 leaves the socket of a cancelled connect to the garbage collector, which
    # warns, in whatever test runs then. The soak takes every warning for a fault.
    known = "-Wignore:unclosed <socket:ResourceWarning"
    soak = "--ignore=tests/surface/test_soak.py"
    session.run("pytest", "-q", "tests/core", "tests/surface", known, soak, *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Format and rules."""
    session.install("ruff")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")


@nox.session
def typing(session: nox.Session) -> None:
    """Both type checkers at their strictest, and the completeness of the public types."""
    session.install("-e", ".[test]", "nox")
    session.run("mypy")
    session.run("pyright")
    # Decimal of the standard library is itself not complete, hence --ignoreexternal.
    session.run("pyright", "--verifytypes", "adclient", "--ignoreexternal")


@nox.session
def twin(session: nox.Session) -> None:
    """The sync client and the endpoint table are what their sources make of them."""
    session.install("-e", ".")
    session.run("python", "tools/make_twin.py", "--check")
    session.run("python", "tools/make_endpoint_table.py", "--check")


@nox.session
def browser(session: nox.Session) -> None:
    """The approval page in headless Chromium, which must be installed with its driver."""
    session.install("-e", ".[browser]")
    session.run("pytest", "-q", "acceptance/test_browser.py", *session.posargs)


@nox.session
def notebooks(session: nox.Session) -> None:
    """The example notebooks show what they did, and both clients are at home in a kernel."""
    session.install("-e", ".[examples,test]")
    session.run("python", "tools/run_notebooks.py", "--check")
    session.run("pytest", "-q", "acceptance/test_kernel.py", *session.posargs)


@nox.session
def openapi(session: nox.Session) -> None:
    """Schemathesis: every answer over HTTP is one that the OpenAPI document names."""
    session.install("-e", ".[openapi]")
    session.run("pytest", "-q", "acceptance/test_openapi.py", *session.posargs)


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Every row of the benchmarks is answered rightly; how fast is not asked."""
    session.install("-e", ".")
    session.run("python", "benchmarks/compare.py", "--quick", *session.posargs)


@nox.session
def wheel(session: nox.Session) -> None:
    """The tests against the built wheel, in a folder without the source."""
    session.install("build")
    built, away = Path(session.create_tmp()) / "dist", Path(session.create_tmp()) / "away"
    for folder in (built, away):
        shutil.rmtree(folder, ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", str(built), silent=True)
    for name in ("tests", "examples", "docs", "benchmarks"):
        shutil.copytree(name, away / name)
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md"):
        shutil.copy(name, away)
    session.install(f"{next(built.glob('*.whl'))}[test]")
    session.chdir(away)
    # The generator of the twin belongs to the source tree, which is not there.
    session.run("pytest", "-q", "--ignore=tests/house/test_house_twin.py")
