"""Shows the request of a call as a command, without sending it or showing a secret."""

import shlex
from collections.abc import Callable, Collection, Mapping
from inspect import signature

import attrs

from adclient._core.call import Call, validated
from adclient._core.operations import BY_NAME
from adclient._core.request import Request, RequestBuilder
from adclient._values import jsontext
from adclient.models import JSON
from adclient.options import ENV_TOKEN

_MADE_BY_CURL = ("accept-encoding", "content-length", "host", "user-agent")


def call_of(
    method: Callable[..., object], arguments: Collection[object], named: Mapping[str, object]
) -> Call:
    """The call that a method of a namespace would make; its errors are those of the method."""
    namespace = type(getattr(method, "__self__", None)).__name__.removeprefix("Async").lower()
    name = f"{namespace}.{getattr(method, '__name__', '')}"
    if name not in BY_NAME:
        raise TypeError("the first argument must be a method such as client.beta.pause_campaign")
    bound = signature(method).bind(*arguments, **named)
    bound.apply_defaults()
    cursor = bound.arguments.pop("cursor", None)
    return validated(BY_NAME[name], bound.arguments, cursor)


def preview_request(call: Call, builder: RequestBuilder) -> Request:
    """The request of a call with `…` for values of a cursor, which may be credentials."""
    request, first = builder.build(call), builder.build(attrs.evolve(call, cursor=None))
    url, mark, query = request.url.partition("?")
    known = first.url.partition("?")[2].split("&")
    pieces = [piece if piece in known else _cut(piece) for piece in query.split("&")]
    body = request.body
    if body != first.body:
        fields, own = _fields(body), _fields(first.body)
        shown = {k: value if own.get(k) == value else "…" for k, value in fields.items()}
        body = jsontext.dumps(shown, "body").encode()
    return attrs.evolve(request, url=f"{url}{mark}{'&'.join(pieces)}", body=body)


def _fields(body: bytes | None) -> dict[str, JSON]:
    fields = jsontext.loads(body or b"{}")
    assert isinstance(fields, dict)
    return fields


def _cut(piece: str) -> str:
    """A piece of a query without its value; a piece without a name is one."""
    name, mark, _ = piece.partition("=")
    return f"{name}=…" if mark else "…"


def as_curl(request: Request, private: Collection[str], credentials: str) -> str:
    """A command for `curl` that sends a request; the values of `private` headers are left out."""
    headers = {
        name: "…" if name in private else value
        for name, value in request.headers.items()
        if name not in _MADE_BY_CURL and name != "authorization"
    }
    lines = [f"curl -X {request.method} {shlex.quote(request.url)}"]
    if credentials == "token":  # in double quotes, in which a shell replaces the variable
        lines.append(f'-H "authorization: Bearer ${ENV_TOKEN}"')
    lines += [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in headers.items()]
    if request.body is not None:
        lines.append(f"--data-raw {shlex.quote(request.body.decode())}")
    text = " \\\n  ".join(lines)
    return f"{text}\n# and the headers of auth=" if credentials == "auth" else text
