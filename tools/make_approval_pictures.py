"""Draw the approval page of the fake, alone and beside the card of a draft: `docs/images`.

`python tools/make_approval_pictures.py` needs Chromium.
"""

import tempfile
from pathlib import Path

from make_notebook_pictures import IMAGES, THEMES, draw

from adclient import Draft
from adclient.testing import FakeAdService
from adclient.testing.server import serving

CODE = """\
draft = client.alpha.update_campaign_budget(
    account_id="account_a91f",
    campaign_id="campaign_4c10",
    daily_budget=120,
)
draft"""
STYLE = """
body { margin: 0; padding: 20px; display: flex; gap: 20px; font: 13px system-ui }
section { border: 1px solid #8886; border-radius: 10px; overflow: hidden }
section:first-child { width: 400px; flex: none; align-self: center; padding: 0 16px 16px }
pre { font-size: 13px; line-height: 1.5; overflow: hidden }
img { display: block; width: 100% }
"""


def stage_budget(fake: FakeAdService) -> Draft:
    """Stage the draft of the README's first example."""
    return fake.client().alpha.update_campaign_budget(
        account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=120
    )


def morning() -> FakeAdService:
    """A service with the drafts of a morning, one of them armed."""
    fake = FakeAdService()
    client = fake.client()
    client.alpha.update_campaign_budget(
        account_id="account_a91f",
        campaign_id="campaign_4c10",
        daily_budget=90,
        fields={"bid": {"amount": 8}},
    )
    keyword = client.delta.update_keyword(
        account_id="account_d118", keywords=["outdoor jacket"], fields={"action": "PAUSE"}
    )
    fake.clock.advance(720)
    client.gamma.create_dco_ad(
        account_id="account_c3d8",
        fields={
            "name": "Tents · Spring",
            "assets": {"images": ["img_1", "img_2"], "titles": ["Sleep outside", "Pitch it"]},
        },
    )
    fake.dashboard.arm(keyword.draft_id, reviewer="Kim")
    fake.clock.advance(83)
    return fake


def draw_approval(fake: FakeAdService, picture: Path, size: str, theme: str) -> None:
    """Draw the approval page of a service."""
    with serving(fake) as url:
        draw(f"{url}/approval?reviewer=Kim", picture, size, theme)


def draw_beside_card(theme: str) -> None:
    """Draw the card of a draft and, beside it, the page on which a human approves it."""
    fake = FakeAdService()
    draft = stage_budget(fake)
    fake.dashboard.arm(draft.draft_id, reviewer="Kim")
    fake.clock.advance(83)
    ground, ink = THEMES[theme]
    with tempfile.TemporaryDirectory() as folder:
        draw_approval(fake, Path(folder) / "approval.png", "660,638", theme)
        source = Path(folder) / "beside.html"
        source.write_text(
            "<!doctype html><meta charset='utf-8'>"
            f"<style>{STYLE} body {{ background: {ground}; color: {ink} }}</style>"
            f"<section><pre>{CODE}</pre>{draft._repr_html_()}</section>"
            "<section><img src='approval.png'></section>",
            "utf-8",
        )
        draw(source.as_uri(), IMAGES / f"draft-{theme}.png", "1160,680", theme)


def draw_one_draft(theme: str) -> None:
    """Draw the page with one draft, narrow; the home page shows its lower part."""
    fake = FakeAdService()
    fake.dashboard.arm(stage_budget(fake).draft_id, reviewer="Kim")
    fake.clock.advance(83)
    draw_approval(fake, IMAGES / f"approve-{theme}.png", "440,742", theme)


def main() -> None:
    """Draw all pictures."""
    fake = FakeAdService()
    fake.client().beta.pause_campaign(account_id="account_b204", campaign_id="campaign_1dce")
    for theme in THEMES:
        draw_approval(morning(), IMAGES / f"approval-{theme}.png", "860,1240", theme)
        draw_approval(fake, IMAGES / f"tutorial-approval-{theme}.png", "860,560", theme)
        draw_beside_card(theme)
        draw_one_draft(theme)


if __name__ == "__main__":
    main()
