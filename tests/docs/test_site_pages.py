"""The pages of the site: all in its navigation, and every setting on the page of settings."""

import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from cases import each_case

import adclient
from adclient import AdClient, AsyncAdClient, options

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
REFERENCE = {path.name: path.read_text("utf-8") for path in (DOCS / "reference").glob("*.md")}


def pages_of(nav: object) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, list):
        for entry in nav:
            yield from pages_of(entry)
    elif isinstance(nav, dict):
        yield from pages_of(list(nav.values()))


def test_navigation_has_each_page_once() -> None:
    config = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))
    pages = [page for page in pages_of(config["project"]["nav"]) if "://" not in page]
    assert sorted(pages) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def test_header_shows_the_version() -> None:
    config = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))
    assert config["project"]["extra"]["release"] == adclient.__version__


def test_home_page_installs_from_the_repository() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    install = f"```sh\npip install git+{project['urls']['Homepage']}\n```"
    assert install in (DOCS / "index.md").read_text("utf-8")


ROW = re.compile(r"^\| `([a-z_]+)`( \*)? \| (.+?) \| .+ \|$", re.MULTILINE)
OF_CLIENT = ROW.findall(REFERENCE["settings.md"])


@each_case("cls", AdClient, AsyncAdClient)
def test_settings_page_has_each_argument_of_a_client(cls) -> None:
    assert [name for name, *_ in OF_CLIENT] == list(inspect.signature(cls).parameters)
    shared = inspect.signature(cls.with_options).parameters.keys() - {"self"}
    assert {name for name, is_shared, _ in OF_CLIENT if is_shared} == shared


def test_settings_page_has_the_defaults_of_a_client() -> None:
    defaults = {
        **{name: each.default for name, each in inspect.signature(AdClient).parameters.items()},
        "timeout": options.TIMEOUT,
        "max_retries": options.MAX_RETRIES,
        "retry": "RetryPolicy()",
        "conventions": "Conventions()",
        "max_concurrency": options.MAX_CONCURRENCY,
    }
    shown = {name: default.strip("`") for name, _, default in OF_CLIENT if "`" in default}
    from_environment = {"base_url": options.ENV_BASE_URL, "token": options.ENV_TOKEN}
    from_environment["actor"] = options.ENV_ACTOR
    assert shown == {name: str(defaults[name]) for name in shown} | from_environment
    assert [name for name, *_ in OF_CLIENT if name not in shown] == ["headers", "hooks", "proxy"]


def test_settings_page_has_each_variable_of_the_environment() -> None:
    package = Path(adclient.__file__).parent
    code = "".join(path.read_text("utf-8") for path in package.rglob("*.py"))
    shown = re.findall(r"^\| `(ADCLIENT_[A-Z_]+)`", REFERENCE["settings.md"], re.MULTILINE)
    assert sorted(shown) == sorted(set(re.findall(r"\bADCLIENT_[A-Z_]+", code)))
