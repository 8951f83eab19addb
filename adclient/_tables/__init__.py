"""Conversion of items to records, Arrow, pandas and polars."""
