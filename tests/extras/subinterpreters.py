"""Stages a draft in an interpreter besides the main one: `nox -s subinterpreters`.

One at a time: CPython 3.13 crashes when several of them import `ssl` at once. orjson refuses to be
loaded there, so `json` decodes.
"""

import anyio
from anyio import to_interpreter

CODE = """
from adclient.testing import FakeAdService

fake = FakeAdService()
with fake.client() as client:
    client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
assert [draft.diff.after for draft in fake.drafts] == ["PAUSED"]
"""

if __name__ == "__main__":
    anyio.run(to_interpreter.run_sync, exec, CODE, {})
