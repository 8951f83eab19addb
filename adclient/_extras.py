"""Libraries that adclient works with and does not install by itself."""

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def needs(extra: str) -> Generator[None, None, None]:
    """Say in one line what to install, if an import in this block finds nothing."""
    try:
        yield
    except ModuleNotFoundError as error:
        text = f"this needs {error.name}: pip install 'adclient[{extra}]'"
        raise ModuleNotFoundError(text, name=error.name) from None
