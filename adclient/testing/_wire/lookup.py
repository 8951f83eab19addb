"""What a request names, in the account that it is for."""

from adclient.testing._accounts.state import Account, Entity, Kind
from adclient.testing._wire.protocol import Refusal


def found(account: Account, kind: Kind, entity_id: str) -> Entity:
    """An entity of an account; one of another account is as unknown as one that is nowhere."""
    entity = account.find(kind, entity_id)
    if entity is None:
        raise not_found(f"{kind}_id", kind, entity_id)
    return entity


def not_found(field: str, kind: Kind, named: str) -> Refusal:
    """The refusal of what names nothing in an account."""
    details = {"field": field, "reason": "not_found"}
    message = f"this account has no {kind} {named}"
    return Refusal(404, f"{kind}_not_found", message, details=details)
