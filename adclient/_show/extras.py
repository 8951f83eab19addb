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
        how = f"pip install 'adclient[{extra}]', or '.[{extra}]' in a checkout"
        message = f"this needs {name}: {how}"
        raise ModuleNotFoundError(message, name=name) from None
