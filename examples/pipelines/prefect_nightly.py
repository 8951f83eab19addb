"""Read many accounts each night with Prefect, and propose to pause campaigns that lose money.

    python prefect_nightly.py account_b204 account_b7e0

Prefect retries nothing: adclient repeats what is safe to repeat, and the ledger knows what was
staged. In place of the last line, `nightly.serve(cron="0 3 * * *", parameters={"account_ids": …})`
runs it at three each night.
"""

import os
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from urllib.parse import quote

import attrs
import polars
from prefect import flow, task
from prefect.artifacts import create_markdown_artifact, create_table_artifact

from adclient import AdClient, AdClientError, Campaign, Page
from adclient.ledger import open_ledger
from adclient.plan import Plan
from adclient.policy import Policy

POLICY = Policy(operations=["beta.pause_campaign"], drafts_per_day=20)


@attrs.frozen(kw_only=True)
class Spending(Campaign):
    spend: Decimal | None = attrs.field(default=None, metadata={"decimal": (12, 2)})
    roas: float | None = None


@task(retries=0)
def read(account_ids: list[str], folder: Path) -> None:
    """Write a part for each account, and show what became of each."""
    results: list[dict[str, object]] = []
    with AdClient() as client:

        def campaigns(account_id: str) -> Page[Spending]:
            return client.beta.list_campaigns(account_id=account_id).typed(Spending)

        for account_id, found in client.over_accounts(campaigns, account_ids):
            try:
                if isinstance(found, AdClientError):
                    raise found
                frame = found.to_polars()
            except (AdClientError, ValueError) as error:  # such as a value that does not fit
                results.append({"account": account_id, "error": str(error)})
                continue
            frame.write_parquet(folder / f"{quote(account_id, safe='')}.parquet")
            results.append({"account": account_id, "campaigns": len(found)})
    create_table_artifact(results, key="accounts")


@task(retries=0)
def propose(folder: Path) -> int:
    """Stage a plan. Its id has the month, so that no campaign is proposed twice in one."""
    if not any(folder.glob("*.parquet")):
        raise RuntimeError("no account could be read")
    changes: list[dict[str, object]] = []
    campaigns = polars.scan_parquet(folder / "*.parquet")
    is_losing = (polars.col("spend") > 500) & (polars.col("roas") < 1)
    for row in campaigns.filter(is_losing, status="ENABLED").collect().iter_rows(named=True):
        changes.append(
            {
                "call": "beta.pause_campaign",
                "account_id": row["account_id"],
                "campaign_id": row["id"],
                "expect": "ENABLED",
                "why": f"It spent {row['spend']}, and returned {row['roas']} times that.",
            }
        )
    if not changes:
        return 0
    plan = Plan.of(f"pause-losing/{date.today():%Y-%m}", changes)
    plan.write(folder / "plan.toml")
    with AdClient(ledger=open_ledger(os.environ["ADCLIENT_LEDGER"]), policy=POLICY) as client:
        report = plan.stage(client)
    create_markdown_artifact(report.markdown(), key="plan")
    print(report)
    return report.exit_code


@flow(retries=0, log_prints=True)
def nightly(account_ids: list[str]) -> None:
    folder = Path("parts", f"{date.today()}")
    folder.mkdir(parents=True, exist_ok=True)
    read(account_ids, folder)
    # 7: another run is sending a change, and the next one finds what became of it.
    if (code := propose(folder)) not in (0, 7):
        raise RuntimeError(f"somebody has to look at the plan, whose exit code is {code}")


if __name__ == "__main__":
    nightly(sys.argv[1:])
