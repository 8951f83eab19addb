"""Whether another tool has patched the HTTP library, such as a mock or a monitor."""


def is_patched() -> bool:
    return False
