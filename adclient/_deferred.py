"""Modules that are loaded when something of them is first asked for."""

from importlib import import_module


class Deferred:
    """Stands for a module in annotations that are texts, which hardly anybody reads."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        """What the module has under a name."""
        return getattr(import_module(self._name), name)
