"""A progress bar for a race, driven by how much of it is done."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from topshap.race import Race

SECONDS_BETWEEN = 0.1
"""The bar is redrawn at most this often: saying how much is done may take longer than a batch."""


@contextmanager
def progress_bar(race: Race, *, clock: Callable[[], float] = monotonic) -> Iterator[Callable[[], None]]:
    """Show a bar and yield a function that brings it up to date; it never goes back, and is full when the race is done.

    Needs the extra ``topshap[progress]``.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0])
    >>> topshap.identify(game, k=2, progress=True).players  # the bar is on stderr
    array([0, 2])
    """
    tqdm = _import_tqdm()
    drawn_at = clock()
    with tqdm(total=1.0, bar_format="{l_bar}{bar}| {elapsed}{postfix}") as bar:

        def show() -> None:
            nonlocal drawn_at
            if race.done or clock() - drawn_at >= SECONDS_BETWEEN:
                bar.n = max(bar.n, race.completion)
                bar.set_postfix_str(f"{race.evaluations} evaluations", refresh=False)
                bar.refresh()
                drawn_at = clock()

        yield show


def _import_tqdm() -> Any:
    try:
        from tqdm.auto import tqdm  # noqa: PLC0415 - an extra, imported where it is used
    except ImportError as error:
        raise ImportError("progress=True needs tqdm: pip install 'topshap[progress]'") from error
    return tqdm
