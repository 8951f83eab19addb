"""The faults of the fake service, and the requests that meet them."""
