"""What the tests of the fake service share."""

import json
from operator import attrgetter
from urllib.parse import urlencode

from interface_table import ROWS

from adclient import Request, RetryPolicy
from adclient._core.operations import OPERATIONS

PATHS = {operation.full_name: operation for operation in OPERATIONS}
ACCOUNTS = {"alpha": "account_a91f", "beta": "account_b204"}
ACCOUNTS |= {"gamma": "account_c3d8", "delta": "account_d118"}
READS = [operation for operation in OPERATIONS if not operation.is_write]
WRITES = [operation for operation in OPERATIONS if operation.is_write]

# Arguments that the fake's accounts accept, where those of the table are about others.
VALID_WRITES: dict[str, dict[str, object]] = {
    **{
        row.call: {name: value for name, value in row.arguments.items() if name != "account_id"}
        for row in ROWS
        if not row.is_read
    },
    "alpha.update_campaign_targeting": {"campaign_id": "campaign_4c10", "targeting": {"a": 1}},
    "alpha.update_campaign_budget": {"campaign_id": "campaign_4c10", "daily_budget": 120},
    "alpha.update_creative": {"creative_id": "creative_2f70", "fields": {"headline": "New"}},
    "beta.create_video_campaign": {"fields": {"name": "Autumn"}},
    "gamma.create_image_campaign": {"fields": {"name": "Autumn", "ad": {"name": "Leaf"}}},
    "gamma.create_dco_ad": {"fields": {"name": "Tents"}},
    "delta.update_keyword": {"keywords": ["outdoor jacket"], "fields": {"action": "PAUSE"}},
}


def send(fake, operation, body=None, *, query=None, headers=None, method=None):
    """Send any request to an operation; the reply with its body as JSON."""
    found = PATHS[operation]
    url = fake.base_url + found.path
    if query is not None:
        url += f"?{query if isinstance(query, str) else urlencode(query)}"
    content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = Request(method=method or found.method, url=url, headers=headers or {}, body=content)
    reply = fake.handle(request)
    return reply.status, json.loads(reply.body)


def asked(fake, operation, given, **how):
    """Send arguments where the operation takes them; the account is that of its platform."""
    given = {"account_id": ACCOUNTS[PATHS[operation].namespace], **given}
    place = "body" if PATHS[operation].is_write else "query"
    return send(fake, operation, **{place: given, **how})


def refusal(answered):
    """A refusal as one text: its status and code, and the fields and limits of its details."""
    status, answer = answered
    error = answer["error"]
    assert set(error) == {"code", "message", "details", "request_id"}
    details = [each[key] for each in error["details"] for key in ("field", "limit") if key in each]
    return " ".join(map(str, (status, error["code"], *details)))


def stage(fake, operation, **arguments):
    """Stage a draft as a client does, and return its diff."""
    namespace, name = operation.split(".")
    account_id = arguments.pop("account_id", ACCOUNTS[namespace])
    method = getattr(getattr(fake.client(), namespace), name)
    return method(account_id=account_id, **arguments)


def approve(fake, draft):
    """Both steps of the human."""
    fake.dashboard.arm(draft.draft_id, reviewer="Ines")
    return fake.dashboard.confirm(draft.draft_id, reviewer="Ines")


def everything(fake, namespace=""):
    """The bytes of every page of every read of the main account of one platform, or of all."""
    pages = []
    for operation in READS:
        if not operation.full_name.startswith(namespace):
            continue
        query = {"account_id": ACCOUNTS[operation.namespace]}
        while True:
            url = f"{fake.base_url}{operation.path}?{urlencode(query)}"
            reply = fake.handle(Request(method="GET", url=url))
            assert reply.status == 200
            pages.append(reply.body)
            query["cursor"] = json.loads(reply.body)["page"]["next"]
            if query["cursor"] is None:
                break
    return pages


def call(fake, operation="beta.pause_campaign", **options):
    """One call of a write, or the items of all pages of a read, from a client."""
    client = fake.client(**{"retry": RetryPolicy(max_retries=0), **options})
    account_id = ACCOUNTS[PATHS[operation].namespace]
    arguments = {"account_id": account_id, **VALID_WRITES.get(operation, {})}
    made = attrgetter(operation)(client)(**arguments)
    return made if PATHS[operation].is_write else made.collect()
