"""One answer of a read operation, as it came over the wire."""

from collections.abc import Mapping
from typing import Generic, TypeVar

import attrs

from adclient.models import JSON, Answer

ItemT = TypeVar("ItemT", covariant=True)


@attrs.frozen(kw_only=True)
class PageInfo:
    """The `page` object beside the items of a listing."""

    next: JSON
    extra: Mapping[str, JSON] = attrs.field(factory=dict[str, JSON])


@attrs.frozen(kw_only=True)
class Listing(Answer, Generic[ItemT]):
    """One answer of a read operation, as it came over the wire."""

    data: tuple[ItemT, ...]
    page: PageInfo
    extra: Mapping[str, JSON] = attrs.field(factory=dict[str, JSON])
