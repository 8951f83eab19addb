"""The keyword write: adding, removing, pausing, enabling and updating keywords."""

from adclient.models import JSON
from adclient.testing._accounts.state import Account, Edit, Entity, Values
from adclient.testing._wire.protocol import Asked, Refusal, texts
from adclient.testing._writes import rules
from adclient.testing._writes.changes import Change, no_change, update

_STATUS = {"PAUSE": "PAUSED", "ENABLE": "ENABLED"}
_ACTIONS = ("ADD", "REMOVE", "UPDATE", *_STATUS)
_MATCH_TYPES = ("EXACT", "PHRASE", "BROAD")
_INSTRUCTIONS = ("action", "ad_group_id")
_SHOWN = ("text", "match_type", "status", "cpc_bid")


def change_of(account: Account, asked: Asked) -> Change:
    """The change of the named keywords; without an action they are added."""
    named, fields = texts(asked.arguments["keywords"]), asked.object("fields")
    rules.check_keywords(named)
    rules.check_bid(fields)
    action = fields.get("action", "ADD")
    if action not in _ACTIONS:
        raise rules.refuse("fields.action", "unknown_action", f"one of {', '.join(_ACTIONS)}")
    if fields.get("match_type", "BROAD") not in _MATCH_TYPES:
        message = f"one of {', '.join(_MATCH_TYPES)}"
        raise rules.refuse("fields.match_type", "unknown_match_type", message)
    rules.check_immutable(fields, {}, "text")
    wanted = {key: value for key, value in fields.items() if key not in _INSTRUCTIONS}
    if action == "ADD":
        return _add(account, named, wanted)
    if action == "UPDATE":
        return _update(_matching(account, named, {}), wanted)
    keywords = _matching(account, named, wanted)
    if action == "REMOVE":
        return _remove(keywords)
    return _replace(keywords, {"status": _STATUS[str(action)]})


def _add(account: Account, named: list[str], wanted: Values) -> Change:
    start: dict[str, JSON] = {"match_type": "BROAD", "status": "ENABLED", "cpc_bid": None}
    made: list[dict[str, JSON]] = [{"text": text, **start, **wanted} for text in named]
    there = {_identity(keyword.values) for keyword in account.of("keyword")}
    for values in made:
        if _identity(values) in there:
            message = f"{values['text']!r} is there; to change it, give fields.action"
            raise rules.refuse("keywords", "keyword_duplicate", message)
    edits = tuple(Edit(kind="keyword", after=values) for values in made)
    return Change(field="keywords", before=[], after=[*map(_shown, made)], edits=edits)


def _identity(values: Values) -> tuple[JSON, JSON]:
    return values["text"], values["match_type"]


def _matching(account: Account, named: list[str], wanted: Values) -> list[Entity]:
    """The keywords that a text, and a match type if one is given, stand for."""
    match_type = wanted.get("match_type")
    matching: list[Entity] = []
    for text in named:
        hits = [
            keyword
            for keyword in account.of("keyword")
            if keyword.text("text") == text
            and (match_type is None or keyword.values["match_type"] == match_type)
        ]
        if not hits:
            raise Refusal(404, "keyword_not_found", f"this account has no keyword {text!r}")
        matching += hits
    return matching


def _remove(keywords: list[Entity]) -> Change:
    before: list[JSON] = [_shown(keyword.values) for keyword in keywords]
    edits = tuple(Edit(kind="keyword", id=k.id, before=k.values) for k in keywords)
    return Change(field="keywords", before=before, after=[], edits=edits)


def _update(keywords: list[Entity], wanted: Values) -> Change:
    if any(keyword.values.get("negative") for keyword in keywords):
        raise rules.refuse(
            "keywords", "cannot_update_negative", "a negative keyword stays as it is"
        )
    if len(keywords) == 1 and "match_type" not in wanted:
        change = update(keywords[0], wanted)
        if change.field == "cpc_bid":
            return change
    return _replace(keywords, wanted)


def _replace(keywords: list[Entity], wanted: Values) -> Change:
    """A change that shows as the list of keywords before and after."""
    edits: list[Edit] = []
    before: list[JSON] = []
    after: list[JSON] = []
    for keyword in keywords:
        new = {**keyword.values, **wanted}
        if new == keyword.values:
            continue
        before.append(_shown(keyword.values))
        after.append(_shown(new))
        edits += _edits(keyword, new, wanted)
    if not edits:
        raise no_change()
    return Change(field="keywords", before=before, after=after, edits=tuple(edits))


def _edits(keyword: Entity, new: dict[str, JSON], wanted: Values) -> list[Edit]:
    """The edits of one keyword; its text and match type are for life, so another replaces it."""
    if _identity(new) != _identity(keyword.values):
        removed = Edit(kind="keyword", id=keyword.id, before=keyword.values)
        return [removed, Edit(kind="keyword", after=new)]
    before = {key: keyword.values.get(key) for key in wanted}
    return [Edit(kind="keyword", id=keyword.id, before=before, after=wanted)]


def _shown(values: Values) -> dict[str, JSON]:
    return {key: values.get(key) for key in _SHOWN}
