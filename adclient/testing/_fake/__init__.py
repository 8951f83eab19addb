"""HTTP requests parsed into operations and arguments, and responses written."""
