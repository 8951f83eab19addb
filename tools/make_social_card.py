"""Draw what a link to the site looks like where it is shared: `docs/assets/social-card.png`.

`python tools/make_social_card.py` needs Chromium.
"""

import tempfile
from pathlib import Path

from make_approval_pictures import stage_budget
from make_notebook_pictures import draw

from adclient.testing import FakeAdService

ASSETS = Path(__file__).parent.parent / "docs" / "assets"
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; width: 1200px; height: 630px; box-sizing: border-box; padding: 72px 80px;
  display: grid; align-content: space-between; background: #10161f; color: #f2f5fa;
  font: 34px/1.4 system-ui, sans-serif }}
h1 {{ display: flex; align-items: center; gap: 28px; margin: 0; font-size: 76px }}
h1 svg {{ width: 92px; height: 92px }}
p {{ margin: 0; max-width: 24em }}
.diff {{ padding: 26px 36px; border-radius: 18px; background: #1c2634; justify-self: start;
  font: 34px/1.4 ui-monospace, monospace }}
.diff span {{ color: #9fb0c8; font-size: 27px }}
</style>
<h1>{icon}adclient</h1>
<p>A typed Python client of the ad management service. It can only <b>stage</b> changes; a human
approves them.</p>
<div class="diff">{diff}<br><span>{draft_id} · staged, waiting for approval</span></div>
"""


def main() -> None:
    """Draw the card with a draft of the fake."""
    draft = stage_budget(FakeAdService())
    icon = (ASSETS / "icon.svg").read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "card.html"
        page = PAGE.format(icon=icon, diff=draft.diff, draft_id=draft.draft_id)
        source.write_text(page, "utf-8")
        draw(source.as_uri(), ASSETS / "social-card.png", "1200,630", "dark")


if __name__ == "__main__":
    main()
