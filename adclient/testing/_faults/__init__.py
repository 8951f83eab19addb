"""What can go wrong, and with which requests."""
