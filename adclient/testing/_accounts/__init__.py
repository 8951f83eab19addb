"""The accounts of the fake service, and what is in them."""
