"""How values, errors and progress look to people."""
