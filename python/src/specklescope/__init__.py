"""Specklescope on NumPy arrays: every stage is a function, a Chain takes frame after frame, open() gives the frames of any
source of the program.

    import specklescope as ss
    K = ss.speckle(image, radius=3, output="contrast")
    chain = ss.Chain("background:black=64", "speckle:radius=3")
    for f in ss.open("raw.tiff").chain(chain):
        print(f.sequence, f.time, f.data.mean(), f.counts.raw_saturated)

Frames are arrays of uint8, uint16 or float32, (height, width) or (height, width, 3) for colour. What is wrong raises
UsageError, what the world refuses RunError, with the sentence that the program says.
"""

from typing import Any as _Any

from . import _core as _core  # before NumPy: it says why a subinterpreter is none to be in
from ._chain import Chain
from ._control import Control, ControlledFrame
from ._device import DeviceArray
from ._errors import Error, RunError, UsageError
from ._published import Published
from ._recorder import Recorder
from ._results import Counts, Frame, Region, Result
from ._stream import Stream
from ._stream import open as open
from ._core import sources as _sources
from ._core import version as _version
from .stages import *  # noqa: F403: a function for each stage, written from the declarations
from .stages import __all__ as _stages

__version__ = _version()


def sources() -> list[dict[str, _Any]]:
    """Kinds of source as dictionaries: name, syntax, doc, and options with name, kind, doc, unit, default, allowed, choices,
    minimum and maximum, which stand in the text of a source: ``ss.open("synthetic:vessels?width=640&height=480")``."""
    kinds: list[dict[str, _Any]] = _sources()
    return kinds


# Without open: `from specklescope import *` leaves Python's own alone.
__all__ = ["Chain", "Control", "ControlledFrame", "Counts", "DeviceArray", "Error", "Frame", "Published", "Recorder", "Region", "Result", "RunError", "Stream", "UsageError", "sources", *_stages]
