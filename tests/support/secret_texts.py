"""A token that no text may contain, and all texts that errors can show."""

import copy
import pickle
import traceback
from collections.abc import Iterator

from adclient import AdClientError

# JSON and URLs escape its characters differently, but every form contains the word "canary".
TOKEN = 'canary/9+b"c<d>&\\e=='


def assert_untold(*texts: str) -> None:
    """Check the texts in a separate frame, because the test's own frame is in its tracebacks."""
    for text in texts:
        assert "canary" not in text
        assert "dXNlcjpjYW5hcnk" not in text  # user:canary, as it is sent to a proxy


def shown_by(error: BaseException) -> str:
    """Return all texts that can be obtained from an error."""
    report = traceback.TracebackException.from_exception(error, capture_locals=True)
    texts = [*report.format(), str(error), repr(error), repr(error.args), repr(vars(error))]
    for twin in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        texts += [str(twin), repr(vars(twin))]
    texts.append(repr(pickle.dumps(error)))
    if isinstance(error, AdClientError):
        texts.append(error._repr_html_())
    return "\n".join(texts)


def locals_of(error: BaseException) -> Iterator[str]:
    """The local variables that a monitor may record of an error and all that led to it.

    Those of tests are left out.
    """
    chain: list[BaseException | None] = [error]
    for each in chain:
        if each is not None:
            # What errors of Python about text, JSON and attributes hold.
            yield repr([getattr(each, name, None) for name in ("object", "doc", "obj")])
            links = (each.__cause__, each.__context__, *getattr(each, "exceptions", ()))
            chain += (link for link in links if link not in chain)
            frames = [frame for frame, _ in traceback.walk_tb(each.__traceback__)]
            frames = [f for f in frames if not f.f_globals["__name__"].startswith("test_")]
            values = [value for frame in frames for value in frame.f_locals.values()]
            # Monitors read dictionaries, whatever their `repr` is.
            yield from (repr([*v.values()] if isinstance(v, dict) else v) for v in values)
