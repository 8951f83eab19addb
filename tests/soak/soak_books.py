"""The drafts that the callers of the soak test know of, reconciled with those of the server."""

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

import attrs

from adclient import AdClientError, Draft, OutcomeUnknown

Staged = tuple[int, str, object]


@attrs.define
class Said:
    """The result of a call, and the idempotency key of a failed one."""

    answer: object = None
    key: str | None = None


class Books:
    """Records the result of every call; `balance` compares the results with the server's drafts.

    Attributes:
        counts: The number of calls by result.
        broken: Descriptions of the broken rules.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.broken: list[str] = []
        self._drafts: dict[int, Draft] = {}
        self._unknown: dict[int, str | None] = {}

    @contextmanager
    def write(self, caller: int) -> Generator[Said]:
        """Record one attempt of a caller to stage its draft; library errors are caught here."""
        said = Said()
        try:
            yield said
        except OutcomeUnknown as error:
            self._is_unknown(caller, "write: outcome unknown", error.draft_id)
            said.key = error.idempotency_key
        except AdClientError as error:
            self.counts["write: refused, nothing staged"] += 1
            said.key = error.idempotency_key
        except Exception as error:
            self.broken.append(f"call {caller}: {error!r} is no error of the library")
        except BaseException:
            self._is_unknown(caller, "write: cancelled", None)
            raise
        else:
            assert isinstance(said.answer, Draft)
            self._unknown.pop(caller, None)
            self._drafts[caller] = said.answer
            self.counts["write: draft"] += 1

    @contextmanager
    def read(self, caller: int, whole: Sequence[str]) -> Generator[Said]:
        """Record one read, which must be complete or fail."""
        said = Said()
        try:
            yield said
        except AdClientError:
            self.counts["read: failed"] += 1
        except Exception as error:
            self.broken.append(f"call {caller}: {error!r} is no error of the library")
        except BaseException:
            self.counts["read: cancelled"] += 1
            raise
        else:
            if said.answer != whole:
                self.broken.append(f"call {caller}: the listing is not the whole one")
            self.counts["read: whole"] += 1

    def balance(self, staged: Iterable[Staged], *, keyed: bool) -> None:
        """Compare the drafts of the server, each of which is passed once, with the callers'.

        A request can arrive after its call was cancelled, so an unknown outcome stays recorded
        until its draft is passed. With idempotency keys nothing may stay unknown.
        """
        for caller, draft_id, diff in staged:
            self.counts["server: drafts"] += 1
            known = self._drafts.pop(caller, None)
            if known is not None:
                if (known.draft_id, known.diff.to_dict()) != (draft_id, diff):
                    self.broken.append(f"call {caller} holds {known}, the server {draft_id}")
            elif caller in self._unknown:
                self.counts["server: drafts behind an unknown outcome"] += 1
                named = self._unknown.pop(caller)
                if named not in (None, draft_id):
                    self.broken.append(f"call {caller} has {named}, not {draft_id}")
            else:
                self.broken.append(
                    f"{draft_id} of call {caller} is staged twice, or not known to it"
                )
        for caller, draft in self._drafts.items():
            self.broken.append(f"call {caller} holds {draft}, the server does not")
        self._drafts.clear()
        if keyed:
            self.broken += [f"call {caller} has a key, and no draft" for caller in self._unknown]

    def _is_unknown(self, caller: int, how: str, draft_id: str | None) -> None:
        self.counts[how] += 1
        self._unknown[caller] = draft_id
