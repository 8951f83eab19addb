"""Rules that the interface does not state, for `Profile(business_rules=True)`."""

from datetime import date
from decimal import Decimal

from adclient._values.json_values import differ
from adclient.testing._fake.reads import DATE_RANGES
from adclient.testing._fake.requests import ParsedRequest, is_number, nested
from adclient.testing._fake.responses import http_error
from adclient.testing._fake.state import Account, ProposedChange, Values
from adclient.testing._fake.writes import KEYWORD_ACTIONS, plain_keyword

_MIN_IMAGES, _MAX_IMAGES = 2, 10
# The smallest daily budget in each currency, and its decimals.
_CURRENCIES = {"USD": (20, 2), "EUR": (20, 2), "GBP": (15, 2), "JPY": (2500, 0)}


def check_read(account: Account, request: ParsedRequest) -> None:
    """Refuse a date range that neither the story nor the account has."""
    name, ranges = request.text("date_range"), [*DATE_RANGES, *account.given.figures]
    if name is not None and name not in ranges:
        known = ", ".join(dict.fromkeys(ranges))
        raise http_error("unknown_date_range", "date_range", reason="unknown", known=known)


def check_write(
    account: Account, request: ParsedRequest, change: ProposedChange, today: date
) -> None:
    """Refuse a change that breaks a rule."""
    match request.operation.full_name:
        case "delta.update_keyword":
            _check_keywords(account, request, change)
        case "delta.remove_auto_search_themes":
            groups = [account.find(edit.kind, edit.id or "") for edit in change.edits]
            if not all(group and group.values.get("audience_signal") for group in groups):
                raise http_error("cannot_remove_all_signals")
        case "gamma.create_dco_ad":
            images = nested(request.object("fields"), "assets").get("images")
            if isinstance(images, list) and not _MIN_IMAGES <= len(images) <= _MAX_IMAGES:
                raise http_error("asset_count", "assets.images", limit=_MAX_IMAGES)
        case _:
            _check_campaign(account, request, change, today)
    if not differ(change.before, change.after):
        raise http_error("no_change")


def _check_campaign(
    account: Account, request: ParsedRequest, change: ProposedChange, today: date
) -> None:
    """Refuse the change of a campaign that has ended, and budgets that the currency rules out."""
    if campaign := change.target:
        end = campaign.text("end_date")
        if campaign.text("serving") == "ENDED" or (end and end < today.isoformat()):
            raise http_error("campaign_ended")
    budget = {**request.object("fields"), **request.arguments}.get("daily_budget")
    currency = account.given.currency
    least, digits = _CURRENCIES.get(currency, (0, 2))
    if is_number(budget) and Decimal(str(budget)) % Decimal(1).scaleb(-digits):
        name = "not_multiple_of_currency_unit"
        raise http_error(name, "daily_budget", limit=digits, currency=currency)
    if is_number(budget) and budget < least:
        raise http_error("budget_below_minimum", "daily_budget", limit=least, currency=currency)


def _check_keywords(account: Account, request: ParsedRequest, change: ProposedChange) -> None:
    """Refuse keywords that exist, and unknown actions."""
    if request.object("fields").get("action", "ADD") not in KEYWORD_ACTIONS:
        raise http_error("unknown_action", "action", known=", ".join(KEYWORD_ACTIONS))
    there = {_identity(keyword.values) for keyword in account.all("keyword")}
    for edit in change.edits:
        if edit.id is None and edit.after is not None and _identity(edit.after) in there:
            raise http_error("keyword_duplicate", "keywords", text=edit.after["text"])


def _identity(values: Values) -> tuple[str, str, bool]:
    """The part of a keyword that is unique in an account."""
    text = plain_keyword(str(values.get("text")))
    return text, str(values.get("match_type")), bool(values.get("negative"))
