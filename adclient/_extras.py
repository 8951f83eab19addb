"""Optional dependencies."""

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def needs(extra: str) -> Generator[None, None, None]:
    """Name the extra to install if an import in this block fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = str(error.name).partition(".")[0]
        message = f"this needs {name}: pip install 'adclient[{extra}]'"
        raise ModuleNotFoundError(message, name=name) from None
