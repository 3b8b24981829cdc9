"""Shared code of the stage functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy

from . import _device
from ._chain import Backend, Chain
from ._errors import UsageError
from ._text import stage_text

_LEAST_ROWS = 8  # minimum height of a colour image


def apply(name: str, image: Any, values: Mapping[str, Any], backend: Backend, exposure_ms: float | None,
          full_scale: float | None) -> Any:
    """Passes one frame, or each frame of a stack, through a chain of one stage."""
    with Chain(stage_text(name, values), backend=backend) as chain:
        def one(frame: Any) -> Any:
            return chain(frame, exposure_ms=exposure_ms, full_scale=full_scale)

        shape = getattr(image, "shape", ())
        if len(shape) == 3 and shape[2] in (1, 2, 4):  # frames of a stack are wider
            raise UsageError(f"The image has the shape {tuple(shape)}, whose last axis looks like channels; allowed: (height, "
                             "width), (height, width, 3) for colour, and stacks of them: give image[..., 0] for grey, "
                             "image[..., :3] for colour without alpha, and frames so narrow to a Chain, one by one.")
        if len(shape) == 3 and shape[2] == 3 and shape[0] < _LEAST_ROWS:
            raise UsageError(f"The image has the shape {tuple(shape)}: a colour image of {shape[0]} rows, or a stack of {shape[0]} frames "
                             "that are 3 pixels wide. Give image[None] for colour, and frames so narrow to a Chain, one by one.")
        stack = len(shape) == 4 or (len(shape) == 3 and shape[2] != 3)
        if not stack or shape[0] == 0:
            return one(image)
        results = [one(frame) for frame in image]
        library = _device.namespace_of(image)
        if library is not None and hasattr(library, "stack"):
            return library.stack(results)
        if _device.on_device(image):
            raise UsageError("The image is a stack in memory of a GPU; give its frames one by one, or an array of a library that "
                             "can stack, as CuPy, PyTorch and JAX.")
        return numpy.stack(results)
