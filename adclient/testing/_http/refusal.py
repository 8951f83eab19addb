"""What the service refuses, as an exception that becomes an error response."""

from collections.abc import Mapping

from adclient.models import JSON


class Refusal(Exception):
    """An error response: status, code, message, and details on the field at fault."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: str | None = None,
        reason: str | None = None,
        limit: JSON = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, code, message)  # the arguments of the copy that pickle makes
        self.status = status
        self.code = code
        self.message = message
        self.field = field
        self.headers: Mapping[str, str] = dict(headers or {})
        self.details: list[JSON] = []
        if field is not None:
            detail: dict[str, JSON] = {"field": field, "reason": reason or code}
            self.details.append(detail if limit is None else {**detail, "limit": limit})


def invalid_parameter(field: str, reason: str) -> Refusal:
    """The refusal of a parameter that does not fit the interface."""
    message = f"{field}: {reason.replace('_', ' ')}"
    return Refusal(422, "invalid_parameter", message, field=field, reason=reason)


def invalid_value(field: str, code: str, message: str, limit: JSON = None) -> Refusal:
    """The refusal of a value; its reason is the code without the name of the field."""
    reason = code.removeprefix("budget_")
    return Refusal(422, code, f"{field}: {message}", field=field, reason=reason, limit=limit)


def not_found(field: str, kind: str, name: str) -> Refusal:
    """The refusal of what the account does not hold."""
    message = f"this account has no {kind} {name}"
    return Refusal(404, f"{kind}_not_found", message, field=field, reason="not_found")


def no_change() -> Refusal:
    """The refusal of a write that would change nothing."""
    return Refusal(422, "no_change", "this would change nothing")
