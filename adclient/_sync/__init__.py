# Generated from ../_async by tools/make_twin.py: change it there.
"""One client: its endpoints, its pages, and the engine that sends."""
