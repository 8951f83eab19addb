"""JSON values and what they are received as."""
