"""Specklescope for NumPy arrays. Every stage is a function, a Chain processes frames in sequence, and open() returns the
frames of any source of the program.

    import specklescope as ss
    K = ss.speckle(image, radius=3, output="contrast")
    chain = ss.Chain("background:black=64", "speckle:radius=3")
    for f in ss.open("raw.tiff").chain(chain):
        print(f.sequence, f.time, f.data.mean(), f.counts.raw_saturated)

Frames are arrays of uint8, uint16 or float32, (height, width) or (height, width, 3) for colour. A wrong request
raises UsageError; a failing file, camera or device raises RunError. The messages are those of the program.
"""

from typing import Any as _Any

from . import _core as _core  # before NumPy: it reports the error in a subinterpreter
from ._chain import Chain
from ._control import Control, ControlledFrame
from ._device import DeviceArray
from ._errors import Error, RunError, UsageError
from ._published import Published
from ._recorder import Recorder
from ._results import Counts, Frame, Image, Region, Result
from ._stream import Stream
from ._stream import open as open
from ._core import sources as _sources
from ._core import version as _version
from .stages import *  # noqa: F403: a function for each stage, generated from the declarations
from .stages import __all__ as _stages

__version__ = _version()


def sources() -> list[dict[str, _Any]]:
    """Kinds of source as dictionaries: name, syntax, doc and options. Options have name, kind, doc, unit, default,
    allowed, choices, minimum and maximum. They are given in the text of a source:
    ``ss.open("synthetic:vessels?width=640&height=480")``."""
    kinds: list[dict[str, _Any]] = _sources()
    return kinds


# Without open: `from specklescope import *` must not replace Python's own.
__all__ = ["Chain", "Control", "ControlledFrame", "Counts", "DeviceArray", "Error", "Frame", "Image", "Published", "Recorder", "Region", "Result", "RunError", "Stream", "UsageError", "sources", *_stages]
