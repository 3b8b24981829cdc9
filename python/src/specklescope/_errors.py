"""Exceptions. The message contains the problem, the allowed values and what to do."""

from __future__ import annotations

from collections.abc import Callable

from . import _core


class Error(Exception):
    """Base of both errors."""


class UsageError(Error, ValueError):
    """The request is wrong: a name, a range, a shape, or a closed object."""


class RunError(Error, RuntimeError):
    """The request is correct, but a file, a camera, a device or memory failed."""


def close_behind(error: BaseException | None, close: Callable[[], None], what: str) -> None:
    """Raises the exception that ended a block, with a note if closing its objects failed too."""
    try:
        close()
    except Exception as also:
        if error is None:
            raise
        error.add_note(f"The {what}'s end failed, too: {also}")


_core.use_errors(UsageError, RunError)
