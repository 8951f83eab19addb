"""Who takes part: each peer as a column of the table."""

from dataclasses import dataclass

from field.rows import Row


@dataclass(frozen=True)
class Peer:
    """A library, how it is installed, and the module that does the work of the rows with it."""

    name: str
    module: str
    imports: str
    shape: str = "ads"
    imports_client: str = ""  # if that takes more
    requirements: tuple[str, ...] = ()
    without: tuple[str, ...] = ()  # rows in which it cannot show anything
    only: tuple[str, ...] = ()  # the rows in which alone it takes part, if not in all
    extra: str | None = None  # of adclient, if the peer is adclient itself; "" for none
    more: tuple[str, ...] = ()  # requirements of rows, for which it has another environment

    def takes_part(self, row: Row) -> bool:
        return (
            self.more == row.needs
            and row.key not in self.without
            and (not self.only or row.key in self.only)
            and (not row.only or self.name in row.only)
        )


OURS = Peer(
    "adclient",
    "ours",
    "import adclient",
    imports_client="from adclient import AdClient",
    extra="",
)
BARE = Peer("httpx", "httpx_by_hand", "import httpx, json", requirements=("httpx==0.28.1",))
PEERS = (
    OURS,
    Peer(
        "adclient-pyreqwest",
        "ours_pyreqwest",
        "import adclient, pyreqwest.compatibility.httpx",
        requirements=("pyreqwest==0.15.1",),
        only=("get", "post", "async-get", "tasks", "at-once"),
        extra="",
    ),
    BARE,
    Peer("httpx2", "httpx2_by_hand", "import httpx2, json", requirements=("httpx2==2.16.2",)),
    Peer("openai", "openai_models", "import openai", "openai", requirements=("openai==3.52.0",)),
    Peer(
        "stripe",
        "stripe_customers",
        "import stripe",
        "stripe",
        requirements=("stripe[async]==16.1.0",),
    ),
    Peer(
        "githubkit",
        "githubkit_labels",
        "import githubkit",
        "github",
        # It admits a hishel with which it cannot be imported.
        requirements=("githubkit==0.16.1", "hishel[async,httpx]<2"),
    ),
    Peer(
        "generated",
        "generated",
        "import generated_client.api.alpha.alpha_update_campaign_budget; "
        "import generated_client.api.beta.beta_list_campaigns",
        requirements=("httpx==0.28.1", "attrs>=22.2", "python-dateutil>=2.8"),
    ),
    Peer(
        "raw",
        "raw_socket",
        "import json, socket, msgspec",
        requirements=("msgspec==0.22.0",),
        without=("installed",),
    ),
)
