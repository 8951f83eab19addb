"""What the callers of the soak know of their drafts, balanced with what the server holds."""

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

import attrs

from adclient import AdClientError, Draft, OutcomeUnknown

Staged = tuple[int, str, object]


@attrs.define
class Said:
    """What a call said in the end: its answer, and the idempotency key of one that failed."""

    answer: object = None
    key: str | None = None


class Books:
    """Every call enters what became of it; `balance` holds that against the server's drafts.

    Attributes:
        counts: How many calls ended in which way.
        broken: The rules that were broken, in words.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.broken: list[str] = []
        self._drafts: dict[int, Draft] = {}
        self._unknown: dict[int, str | None] = {}

    @contextmanager
    def write(self, caller: int) -> Generator[Said]:
        """One attempt of a caller to stage its draft; errors of the library end here."""
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
        """One read, which gives all that there is or fails."""
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
        """Hold the drafts of the server, each of which comes up once, against the callers'.

        A request can arrive after its call was cancelled, so an unknown outcome stays on the books
        until its draft comes up. With idempotency keys nothing may be left unknown.
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
                    self.broken.append(f"call {caller} was told of {named}, not of {draft_id}")
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
