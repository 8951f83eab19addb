"""The field: the rows of the comparison, the peers in it, and how both are measured."""
