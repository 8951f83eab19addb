"""Work beside a call: background tasks, blocking work, and what is reset after a fork."""
