"""The operations of a client as tools for models."""

from adclient.agents._tools import call_tool, tools

__all__ = ["call_tool", "tools"]
