"""A fake like a service that a file describes: its items, and how it pages."""
