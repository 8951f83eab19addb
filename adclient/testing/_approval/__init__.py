"""Drafts, and the two steps in which a human approves them."""
