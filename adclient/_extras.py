"""Libraries that adclient works with and does not install by itself."""

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def needs(extra: str) -> Generator[None, None, None]:
    """Say in one line what to install, if an import in this block finds nothing."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = str(error.name).partition(".")[0]
        text = f"this needs {name}: pip install 'adclient[{extra}]'"
        raise ModuleNotFoundError(text, name=name) from None
