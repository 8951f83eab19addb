"""The nine writes: what each would change, and what is refused."""
