"""Draw what a notebook shows, in a light and a dark page: `docs/images/notebook-*.png`.

`python tools/make_notebook_pictures.py` needs Chromium.
"""

import subprocess
import tempfile
from pathlib import Path

from adclient import AdClientError
from adclient.testing import FakeAdService

IMAGES = Path(__file__).parent.parent / "docs" / "images"
SIZE = "820,1206"
THEMES = {"light": ("#ffffff", "#1f1f1f"), "dark": ("#111111", "#e0e0e0")}
PREFERENCES = {"dark": 0, "light": 1}  # the numbers of Chromium
# What JupyterLab says of tables in outputs; other notebooks say less.
LAB = """
table { border: none; font-size: 12px; table-layout: fixed; margin: 0 auto 1em }
thead { border-bottom: 1px solid #8888; vertical-align: bottom }
td, th, tr { vertical-align: middle; padding: .5em; line-height: normal; white-space: normal;
  max-width: none; border: none; text-align: right }
tbody tr:nth-child(odd) { background: #80808018 }
"""


def page(theme: str, parts: list[str]) -> str:
    """The outputs of a few cells, one below the other."""
    ground, ink = THEMES[theme]
    body = "".join(f'<div style="margin:12px">{part}</div>' for part in parts)
    style = f"body {{ background: {ground}; color: {ink}; font: 13px system-ui }} {LAB}"
    return f"<!doctype html><meta charset='utf-8'><style>{style}</style>{body}"


def parts() -> list[str]:
    """What an analyst might look at."""
    client = FakeAdService().client()
    budget = client.alpha.update_campaign_budget(
        account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=120
    )
    keyword = client.delta.update_keyword(
        account_id="account_d118", keywords=["outdoor jacket"], fields={"action": "PAUSE"}
    )
    waste = client.delta.analyze_wasted_spend(account_id="account_d118")
    shown = [budget, keyword, waste]
    try:
        client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_none")
    except AdClientError as error:
        shown.append(error)
    return [value._repr_html_() for value in shown]


def draw(url: str, picture: Path, size: str, theme: str) -> None:
    """Draw a page as Chromium displays it in a window of a size, to users who prefer a theme."""
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                "chromium",
                "--headless",
                "--no-sandbox",
                "--hide-scrollbars",
                f"--user-data-dir={profile}",
                f"--window-size={size}",
                f"--blink-settings=preferredColorScheme={PREFERENCES[theme]}",
                f"--screenshot={picture}",
                url,
            ],
            check=True,
            capture_output=True,
        )


def main() -> None:
    """Draw both pictures."""
    made = parts()
    with tempfile.TemporaryDirectory() as folder:
        for theme in THEMES:
            source = Path(folder) / f"{theme}.html"
            source.write_text(page(theme, made), "utf-8")
            draw(source.as_uri(), IMAGES / f"notebook-{theme}.png", SIZE, theme)


if __name__ == "__main__":
    main()
