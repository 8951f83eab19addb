"""Edits that were possible when their draft was staged, and are no longer."""

from adclient.models import JSON
from adclient.testing._accounts.state import Account, Edit, Kind, Values
from adclient.testing._http.responses import Refusal
from adclient.testing._writes.checks import check_fields, identity_of_keyword


def is_impossible(account: Account, edit: Edit) -> bool:
    """Check if an edit no longer fits the live data of its account."""
    return _is_duplicate(account, edit) or _breaks_rule(account, edit)


def _breaks_rule(account: Account, edit: Edit) -> bool:
    """Check if a campaign would get budgets and dates that do not fit together by now."""
    if edit.kind != "campaign" or edit.after is None:
        return False
    entity = None if edit.id is None else account.find(edit.kind, edit.id)
    try:
        check_fields(account, edit.after, {} if entity is None else entity.values)
    except Refusal:
        return True
    return False


def _is_duplicate(account: Account, edit: Edit) -> bool:
    """Check if an edit would create a campaign, keyword or dynamic ad that exists already."""
    if edit.after is None:
        return False
    entity = None if edit.id is None else account.find(edit.kind, edit.id)
    current: Values = {} if entity is None else entity.values
    wanted = _identity(edit.kind, {**current, **edit.after})
    if wanted is None or (entity is not None and wanted == _identity(edit.kind, current)):
        return False
    return wanted in (_identity(edit.kind, other.values) for other in account.all(edit.kind))


def _identity(kind: Kind, values: Values) -> tuple[JSON, ...] | None:
    """The values that must be unique among the entities of a kind; None if none must."""
    if kind == "campaign":
        return (values.get("name"),)
    if kind == "keyword":
        return identity_of_keyword(values)
    if kind == "ad" and values.get("format") == "DYNAMIC" and values.get("ad_group_id"):
        return (values["ad_group_id"],)
    return None
