"""The operations as tools for models."""
