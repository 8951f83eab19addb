"""Draw the approval page of the fake: `docs/images/approval.png`.

`python tools/make_approval_picture.py` needs Chromium.
"""

from make_notebook_pictures import IMAGES, draw

from adclient.testing import FakeAdService
from adclient.testing.server import serving

SIZE = "860,1240"


def service() -> FakeAdService:
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
    fake.dashboard.arm(keyword.draft_id, reviewer="Ines Roth")
    fake.clock.advance(83)
    return fake


def main() -> None:
    """Draw the picture."""
    with serving(service()) as url:
        draw(f"{url}/approval?reviewer=Ines+Roth", IMAGES / "approval.png", SIZE)


if __name__ == "__main__":
    main()
