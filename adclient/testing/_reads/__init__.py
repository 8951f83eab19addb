"""The seven reads: rows, pages and continuations."""
