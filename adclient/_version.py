"""The version, in the one place from which the build and the User-Agent read it."""

__version__ = "0.3.0"
