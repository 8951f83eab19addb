"""A browser and a PostgreSQL server, for the tests that need them."""

from chromium import chromium
from postgres_server import execute, server, where

__all__ = ["chromium", "execute", "server", "where"]
