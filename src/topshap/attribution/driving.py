"""Playing a run on a prompt without an event loop of the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topshap.core.errors import RaceError
from topshap.entrypoints import with_warning

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.attribution.result import Attribution
    from topshap.attribution.run import PromptRun


def run_until_complete(run: PromptRun) -> Attribution:
    """Play a run and return its result; after Ctrl-C, the result so far."""
    try:
        return warned(_complete(run.play))
    except KeyboardInterrupt:
        try:
            return warned(run.result())
        except RaceError:  # nothing is known yet
            raise KeyboardInterrupt from None


def warned(found: Attribution) -> Attribution:
    """Return a result, and issue a warning if its intervals and confidence may be too optimistic."""
    with_warning(found.top)
    return found


def _complete(play: Callable[[], Any]) -> Attribution:
    """Return the result of a coroutine function; in a thread if an event loop is running, as in a notebook."""
    import asyncio  # noqa: PLC0415 - so that importing topshap stays fast

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        found: Attribution = asyncio.run(play())
        return found
    return _run_in_thread(play)


def _run_in_thread(play: Callable[[], Any]) -> Attribution:
    import asyncio  # noqa: PLC0415
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    loop = asyncio.new_event_loop()
    task: Any = None

    async def start() -> Attribution:
        nonlocal task
        task = asyncio.ensure_future(play())
        found: Attribution = await task
        return found

    def work() -> Attribution:
        try:
            return loop.run_until_complete(start())
        finally:
            loop.close()

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(work)
        try:
            return waiting.result()
        except KeyboardInterrupt:
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)
            raise
