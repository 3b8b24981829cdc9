"""What is raised: one sentence with the thing, what is allowed, what to do."""

from __future__ import annotations

from collections.abc import Callable

from . import _core


class Error(Exception):
    """Either of the two."""


class UsageError(Error, ValueError):
    """The request itself is wrong: a name, a range, a shape, an object that has been closed."""


class RunError(Error, RuntimeError):
    """The request was fine and the world was not: a file, a camera, a device, memory."""


def close_behind(error: BaseException | None, close: Callable[[], None], what: str) -> None:
    """Whatever ended a block is raised, with a note where the end of what it used failed, too."""
    try:
        close()
    except Exception as also:
        if error is None:
            raise
        error.add_note(f"The {what}'s end failed, too: {also}")


_core.use_errors(UsageError, RunError)
