"""The keyword write: adding, removing, pausing, enabling and updating keywords."""

from collections.abc import Iterable

from adclient.models import JSON
from adclient.testing._accounts.state import Account, Edit, Entity, ProposedChange, Values
from adclient.testing._http.requests import ParsedRequest
from adclient.testing._http.responses import not_found, refusal
from adclient.testing._writes import rules
from adclient.testing._writes.rules import identity_of_keyword as identity

_STATUS = {"PAUSE": "PAUSED", "ENABLE": "ENABLED"}
_ACTIONS = ("ADD", "REMOVE", "UPDATE", *_STATUS)
_MATCH_TYPES = ("EXACT", "PHRASE", "BROAD")
_SHOWN = ("text", "match_type", "status", "cpc_bid")


def change_of(account: Account, request: ParsedRequest) -> ProposedChange:
    """The change of the named keywords; without an action they are added."""
    texts, fields = request.texts("keywords"), request.object("fields")
    rules.check_keywords(texts)
    rules.check_bid(fields, "cpc_bid")
    action = fields.get("action", "ADD")
    if action not in _ACTIONS:
        raise refusal("unknown_action", "action", known=", ".join(_ACTIONS))
    if fields.get("match_type", "BROAD") not in _MATCH_TYPES:
        raise refusal("unknown_match_type", "match_type", known=", ".join(_MATCH_TYPES))
    rules.check_immutable(fields, {}, "text", "id")
    values = {key: fields[key] for key in fields if key not in ("action", "ad_group_id")}
    if action == "ADD":
        defaults: Values = {"match_type": "BROAD", "status": "ENABLED", "cpc_bid": None}
        made: list[Values] = [{"text": text, **defaults, **values} for text in texts]
        _check_unique(made, account.all("keyword"))
        return _listed([], made, values, [Edit(kind="keyword", after=each) for each in made])
    # For an update, a match type is a new value; otherwise it selects the keywords.
    match_type = None if action == "UPDATE" else values.pop("match_type", None)
    keywords = [keyword for text in texts for keyword in _matching(account, text, match_type)]
    if action == "REMOVE":
        return _listed([each.values for each in keywords], [], {}, list(map(_removal, keywords)))
    is_negative = any(keyword.values.get("negative") for keyword in keywords)
    if is_negative and (values or action == "UPDATE"):
        raise refusal("cannot_update_negative", "keywords")
    if action in _STATUS:
        values["status"] = _STATUS[str(action)]
    elif len(keywords) == 1 and "match_type" not in values:
        change = keywords[0].update(values)
        if change.field == "cpc_bid":
            return change
    return _replace(account, keywords, values)


def _matching(account: Account, text: str, match_type: JSON) -> list[Entity]:
    """The keywords with a text, and a match type if one is given."""
    matching = [
        keyword
        for keyword in account.all("keyword")
        if rules.plain_keyword(keyword.text("text")) == rules.plain_keyword(text)
        and match_type in (None, keyword.values["match_type"])
    ]
    if not matching:
        raise not_found("keywords", "keyword", repr(text))
    return matching


def _replace(account: Account, keywords: list[Entity], values: Values) -> ProposedChange:
    """A change whose diff lists the keywords before and after."""
    changed = [keyword for keyword in keywords if keyword.values != {**keyword.values, **values}]
    if not changed:
        raise refusal("no_change")
    made: list[Values] = [{**keyword.values, **values} for keyword in changed]
    if "match_type" in values:
        replaced = {keyword.id for keyword in changed}
        _check_unique(made, (k for k in account.all("keyword") if k.id not in replaced))
    edits: list[Edit] = []
    for keyword, new in zip(changed, made, strict=True):
        if identity(new) == identity(keyword.values):
            before = {key: keyword.values.get(key) for key in values}
            edits.append(Edit(kind="keyword", id=keyword.id, before=before, after=values))
        else:  # what identifies a keyword cannot change: another one replaces it
            edits += [_removal(keyword), Edit(kind="keyword", after=new)]
    return _listed([keyword.values for keyword in changed], made, values, edits)


def _removal(keyword: Entity) -> Edit:
    return Edit(kind="keyword", id=keyword.id, before=keyword.values)


def _check_unique(made: Iterable[Values], others: Iterable[Entity]) -> None:
    """Check that new keywords differ from all others, and from each other."""
    there = {identity(keyword.values) for keyword in others}
    for values in made:
        if identity(values) in there:
            raise refusal("keyword_duplicate", "keywords", text=values["text"])
        there.add(identity(values))


def _listed(
    before: list[Values], after: list[Values], wanted: Values, edits: list[Edit]
) -> ProposedChange:
    """A change whose diff shows the main values of each keyword, and all that the write sets."""

    def shown(values: Values) -> JSON:
        flags = ["negative"] if values.get("negative") else []
        return {key: values.get(key) for key in dict.fromkeys([*_SHOWN, *flags, *wanted])}

    old, new = list(map(shown, before)), list(map(shown, after))
    return ProposedChange(field="keywords", before=old, after=new, edits=tuple(edits))
