# Generated from ../_async by tools/make_twin.py: change it there.
"""One read of many accounts: an iterator over the items of each, as accounts finish."""

import threading
from collections.abc import (
    Iterable,
    Iterator,
    Sized,
)
from functools import partial
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from adclient._sync.page import Page
from adclient._show.records import PublicDir
from adclient._show.signatures import public_in
from adclient._show.tracebacks import forget_frames
from adclient._tables.items import Items
from adclient._tasks.clock import Stop
from adclient.errors import AdClientError, ConfigurationError, InvalidRequest
from adclient.options import check_count, check_type

if TYPE_CHECKING:
    from adclient._sync.engine import Engine
    from adclient._show.progress import Bar
    from adclient._tasks.background import Workers

T = TypeVar("T")


@public_in("adclient")
class AccountRead(Protocol[T]):
    """What `over_accounts` calls for each account: a read of the client, or a function like one.

    Examples:
        >>> from adclient import Ad, AccountRead
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> read: AccountRead[Ad] = client.gamma.list_ads
    """

    def __call__(self, *, account_id: str) -> Page[T]: ...


@public_in("adclient")
class AccountIterator(PublicDir, Generic[T]):
    """An iterator over accounts and their items, in the order in which accounts finish.

    A loop that is left sends no more requests: also after `break`, Ctrl-C or an error in its body.
    If you keep the iterator in a variable, close it, or use it in a `with` block.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> ids = ["account_b204", "account_b7e0"]
        >>> with client.over_accounts(client.beta.list_campaigns, ids) as accounts:
        ...     for account_id, campaigns in accounts:
        ...         break
    """

    def __init__(
        self,
        read: AccountRead[T],
        account_ids: Iterator[str],
        *,
        at_once: int,
        bar: "Bar | None",
    ) -> None:
        self._read = read
        self._account_ids = account_ids
        self._at_once = at_once
        self._bar = bar
        self._busy = threading.Lock()
        self._stop = Stop()
        self._workers: Workers[tuple[str, Items[T] | AdClientError]] | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, at_once={self._at_once}>"

    def __iter__(self) -> "AccountIterator[T]":
        return self

    def __next__(self) -> tuple[str, Items[T] | AdClientError]:
        if not self._busy.acquire(blocking=False):
            raise RuntimeError("this iterator is already waiting for an account for another caller")
        try:
            if self._stop.is_set:  # not the end of the loop, as accounts may be missing
                raise RuntimeError("this iterator was closed")
            if self._workers is None:
                from adclient._tasks.background import Workers

                self._workers = Workers()
            workers = self._workers
            for account_id in islice(self._account_ids, self._at_once - workers.pending):
                workers.start(partial(_read_account, self._read, account_id, self._stop))
            if not workers.pending:
                if self._bar is not None:
                    self._bar.close()
                raise StopIteration
            account_id, found = workers.next()
            if self._bar is not None:
                self._bar.add(1, isinstance(found, AdClientError))
            return account_id, found
        except StopIteration:
            raise
        except BaseException as error:
            self._end()
            forget_frames(error)
            raise
        finally:
            self._busy.release()

    def close(self) -> None:
        """End the iteration: no further request is sent, and what was not taken is dropped.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> accounts = client.over_accounts(client.gamma.list_ads, ["account_c3d8"])
            >>> accounts.close()
        """
        self._end()

    def _end(self) -> None:
        self._stop.is_set = True
        if self._workers is not None:
            self._workers.stop()
        if self._bar is not None:
            self._bar.close()

    def __del__(self) -> None:  # in any thread, as the garbage collector may run it
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


# No method: work that refers to the iterator would keep it alive after its loop was left.
def _read_account(
    read: AccountRead[T], account_id: str, stop: Stop
) -> tuple[str, Items[T] | AdClientError]:
    """Read all pages of an account; an error of the account is a value."""
    stop.applies_here()
    try:
        page = read(account_id=account_id)
        if not isinstance(page, Page):
            raise TypeError(f"read must return a page of the client, not {type(page).__name__}")
        return account_id, Items(page.collect(), account_id=account_id)
    except ConfigurationError:  # such as a closed client: each account would fail
        raise
    except AdClientError as error:
        forget_frames(error)
        return account_id, error
    except StopIteration as error:  # as of `next()` in code of the caller
        problem = f"{type(error).__name__} was raised while {account_id} was read"
        raise RuntimeError(problem) from error  # or it would end the loop


class AccountReader:
    """The base of a client: what reads many accounts."""

    __slots__ = ()

    _engine: "Engine"

    def over_accounts(
        self,
        read: AccountRead[T],
        account_ids: Iterable[str],
        *,
        at_once: int = 10,
        progress: bool = False,
    ) -> AccountIterator[T]:
        """Read many accounts, several at once, and get each as it finishes.

        Each step starts as many accounts as `at_once` allows, and then waits for one. Memory holds
        at most `at_once` accounts that you did not take yet.

        Args:
            read: A read of this client, such as `client.beta.list_campaigns`, or a function that
                takes `account_id` by keyword and returns what such a read does: a
                `functools.partial` with further arguments, or one that also calls `typed()`.
            account_ids: The ids, also of a generator, which each step advances until `at_once`
                accounts are under way. So the ids must not depend on the results of these.
            at_once: How many accounts are read at once. It is at most the
                `max_concurrency` of the client.
            progress: Whether to show a progress bar of the accounts, which also counts the failed.

        Returns:
            An iterator over `(account_id, items)` or, if an account fails, `(account_id, error)`.
                The tables of the items begin with a column `account_id`.

        Raises:
            InvalidRequest: `account_ids` is a single text, or `at_once` is not a whole number
                of at least 1.
            ConfigurationError: During iteration: every account would fail, because the client is
                closed, for example, or because `read` stages drafts, which are not sent. It ends
                the iteration, and so does an error in your functions.

        Examples:
            >>> from adclient import AdClientError
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> found = client.over_accounts(
            ...     client.beta.list_campaigns, ["account_b204", "account_f403"], at_once=1
            ... )
            >>> for account_id, campaigns in found:
            ...     if isinstance(campaigns, AdClientError):
            ...         print(account_id, "failed:", campaigns.code)
            ...     else:
            ...         print(account_id, campaigns.to_pandas().shape)
            account_b204 (62, 15)
            account_f403 failed: account_disconnected
        """
        candidate: object = read
        if not callable(candidate):
            problem = "read must be a method, as in over_accounts(client.beta.list_campaigns, ids)"
            raise InvalidRequest(f"{problem}, not {type(read).__name__}", argument="read")
        if isinstance(account_ids, str) or not isinstance(account_ids, Iterable):
            kind = type(account_ids).__name__
            problem = f"account_ids must be several ids, such as a list, not a single {kind}"
            raise InvalidRequest(problem, argument="account_ids")
        at_once = check_count("at_once", at_once, least=1, error=InvalidRequest)
        check_type("progress", progress, bool)
        bar = None
        if progress:
            from adclient._show.progress import Bar

            total = len(account_ids) if isinstance(account_ids, Sized) else None
            bar = Bar("over_accounts", unit="accounts", note="failed", total=total)
        at_once = min(at_once, self._engine.limiter.total)
        return AccountIterator(read, iter(account_ids), at_once=at_once, bar=bar)
