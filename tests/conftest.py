import gc

from hypothesis import settings

# The speed of the machine is no property of the code.
settings.register_profile("adclient", deadline=None, max_examples=80)
settings.load_profile("adclient")


def pytest_collection_finish(session) -> None:
    """Take the tests themselves, which stay, off the garbage collector's hands."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session) -> None:
    gc.unfreeze()
