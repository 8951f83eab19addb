"""Work beside a call: background tasks and blocking work."""
