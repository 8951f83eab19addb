"""The keyword write: adding, removing, pausing, enabling and updating keywords."""

from collections.abc import Iterable

from adclient.models import JSON
from adclient.testing._accounts.state import Account, Edit, Entity, Values
from adclient.testing._wire.lookup import not_found
from adclient.testing._wire.protocol import Asked, texts
from adclient.testing._writes import rules
from adclient.testing._writes.changes import Change, no_change, update
from adclient.testing._writes.rules import identity_of_keyword as identity

_STATUS = {"PAUSE": "PAUSED", "ENABLE": "ENABLED"}
_ACTIONS = ("ADD", "REMOVE", "UPDATE", *_STATUS)
_MATCH_TYPES = ("EXACT", "PHRASE", "BROAD")
_INSTRUCTIONS = ("action", "ad_group_id")
_SHOWN = ("text", "match_type", "status", "cpc_bid")
_SHOWN_IF_SET = ("negative",)


def change_of(account: Account, asked: Asked) -> Change:
    """The change of the named keywords; without an action they are added."""
    named, fields = texts(asked.arguments["keywords"]), asked.object("fields")
    rules.check_keywords(named)
    rules.check_bid(fields, "cpc_bid")
    action = fields.get("action", "ADD")
    if action not in _ACTIONS:
        raise rules.refuse("action", "unknown_action", f"one of {', '.join(_ACTIONS)}")
    if fields.get("match_type", "BROAD") not in _MATCH_TYPES:
        message = f"one of {', '.join(_MATCH_TYPES)}"
        raise rules.refuse("match_type", "unknown_match_type", message)
    rules.check_immutable(fields, {}, "text", "id")
    wanted = {key: value for key, value in fields.items() if key not in _INSTRUCTIONS}
    if action == "ADD":
        return _add(account, named, wanted)
    if action == "UPDATE":
        return _update(account, _matching(account, named, {}), wanted)
    keywords = _matching(account, named, wanted)
    if action == "REMOVE":
        return _remove(keywords)
    wanted.pop("match_type", None)  # which said whom it concerns
    if wanted:
        _check_positive(keywords)
    return _replace(account, keywords, {**wanted, "status": _STATUS[str(action)]})


def _add(account: Account, named: list[str], wanted: Values) -> Change:
    start: dict[str, JSON] = {"match_type": "BROAD", "status": "ENABLED", "cpc_bid": None}
    made: list[dict[str, JSON]] = [{"text": text, **start, **wanted} for text in named]
    _check_new(made, account.of("keyword"))
    edits = tuple(Edit(kind="keyword", after=values) for values in made)
    after: list[JSON] = [_shown(values, wanted) for values in made]
    return Change(field="keywords", before=[], after=after, edits=edits)


def _check_new(made: Iterable[Values], others: Iterable[Entity]) -> None:
    """Check that new keywords differ from all others, and from each other."""
    there = {identity(keyword.values) for keyword in others}
    for values in made:
        if identity(values) in there:
            message = f"{values['text']!r} is there; to change it, give fields.action"
            raise rules.refuse("keywords", "keyword_duplicate", message)
        there.add(identity(values))


def _matching(account: Account, named: list[str], wanted: Values) -> list[Entity]:
    """The keywords that a text, and a match type if one is given, stand for."""
    match_type = wanted.get("match_type")
    matching: list[Entity] = []
    for text in named:
        hits = [
            keyword
            for keyword in account.of("keyword")
            if rules.plain_keyword(keyword.text("text")) == rules.plain_keyword(text)
            and (match_type is None or keyword.values["match_type"] == match_type)
        ]
        if not hits:
            raise not_found("keywords", "keyword", repr(text))
        matching += hits
    return matching


def _remove(keywords: list[Entity]) -> Change:
    before: list[JSON] = [_shown(keyword.values, {}) for keyword in keywords]
    edits = tuple(Edit(kind="keyword", id=k.id, before=k.values) for k in keywords)
    return Change(field="keywords", before=before, after=[], edits=edits)


def _update(account: Account, keywords: list[Entity], wanted: Values) -> Change:
    _check_positive(keywords)
    if len(keywords) == 1 and "match_type" not in wanted:
        change = update(keywords[0], wanted)
        if change.field == "cpc_bid":
            return change
    return _replace(account, keywords, wanted)


def _check_positive(keywords: list[Entity]) -> None:
    if any(keyword.values.get("negative") for keyword in keywords):
        message = "a negative keyword stays as it is"
        raise rules.refuse("keywords", "cannot_update_negative", message)


def _replace(account: Account, keywords: list[Entity], wanted: Values) -> Change:
    """A change that shows as the list of keywords before and after."""
    changed = [keyword for keyword in keywords if keyword.values != {**keyword.values, **wanted}]
    if not changed:
        raise no_change()
    gone = {keyword.id for keyword in changed}
    kept = (keyword for keyword in account.of("keyword") if keyword.id not in gone)
    made = [{**keyword.values, **wanted} for keyword in changed]
    if "match_type" in wanted:
        _check_new(made, kept)
    pairs = zip(changed, made, strict=True)
    return Change(
        field="keywords",
        before=[_shown(keyword.values, wanted) for keyword in changed],
        after=[_shown(new, wanted) for new in made],
        edits=tuple(edit for keyword, new in pairs for edit in _edits(keyword, new, wanted)),
    )


def _edits(keyword: Entity, new: dict[str, JSON], wanted: Values) -> list[Edit]:
    """The edits of one keyword; its text and match type are for life, so another replaces it."""
    if identity(new) != identity(keyword.values):
        removed = Edit(kind="keyword", id=keyword.id, before=keyword.values)
        return [removed, Edit(kind="keyword", after=new)]
    before = {key: keyword.values.get(key) for key in wanted}
    return [Edit(kind="keyword", id=keyword.id, before=before, after=wanted)]


def _shown(values: Values, wanted: Values) -> dict[str, JSON]:
    """What a diff shows of a keyword: what tells it apart, and all that was asked for."""
    flags = [key for key in _SHOWN_IF_SET if values.get(key)]
    return {key: values.get(key) for key in dict.fromkeys([*_SHOWN, *flags, *wanted])}
