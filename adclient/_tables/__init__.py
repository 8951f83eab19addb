"""How items become tables: what fields they have, what is seen in these, and Arrow for it."""
