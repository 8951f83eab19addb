"""For PyInstaller: where the hook is that packs the data files."""


def hook_dirs() -> list[str]:
    """The folders of hooks."""
    return list(__path__)
