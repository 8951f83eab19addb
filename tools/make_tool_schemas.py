"""Generate `tests/tools/agents/tool_schemas.json`, whose diff shows what a change does to models.

`python tools/make_tool_schemas.py` writes it: names, descriptions and schemas of all tools.
"""

import json
from pathlib import Path

from adclient.agents import tools
from adclient.testing import FakeAdService

FILE = Path(__file__).parent.parent / "tests" / "tools" / "agents" / "tool_schemas.json"

if __name__ == "__main__":
    schemas = tools(FakeAdService().client(), writes=True)
    FILE.write_text(json.dumps(schemas, indent=2) + "\n", "utf-8")
