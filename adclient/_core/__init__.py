"""Everything that decides, and nothing that does I/O."""
