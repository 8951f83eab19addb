import gc


def pytest_collection_finish(session) -> None:
    """Take the tests themselves, which stay, off the garbage collector's hands."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session) -> None:
    gc.unfreeze()
