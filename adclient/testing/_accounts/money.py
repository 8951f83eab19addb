"""Currencies: their digits and the budgets that the fake service accepts in them."""

import attrs


@attrs.frozen
class Currency:
    """A currency, with the smallest and largest daily budget in it."""

    code: str
    least: int
    digits: int = 2

    @property
    def most(self) -> int:
        """The largest daily budget."""
        return self.least * 5000

    @property
    def minor(self) -> int:
        """How many of its smallest units make one."""
        return int(10**self.digits)

    def amount(self, minor: int) -> int | float:
        """An amount of smallest units as it stands on the wire."""
        return round(minor / self.minor, self.digits) if self.digits else minor


USD = Currency("USD", 20)
EUR = Currency("EUR", 20)
GBP = Currency("GBP", 15)
JPY = Currency("JPY", 2500, digits=0)
