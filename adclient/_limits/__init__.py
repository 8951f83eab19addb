"""The limits of a client: policy and ledger, applied."""
