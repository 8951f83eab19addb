"""Requests read into operations, and errors written."""
