"""Headless Chromium, for tests of pages."""

from chromium import chromium as chromium
