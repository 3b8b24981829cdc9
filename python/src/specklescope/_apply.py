"""What the functions of the stages share."""

import numpy

from ._chain import Chain
from ._text import stage_text


def apply(name, image, values, backend, exposure_ms, full_scale):
    """One frame, or one after the other of a stack, through a chain of one stage."""
    with Chain(stage_text(name, values), backend=backend) as chain:
        def one(frame):
            return chain(frame, exposure_ms=exposure_ms, full_scale=full_scale)

        shape = getattr(image, "shape", ())
        stack = len(shape) == 4 or (len(shape) == 3 and shape[2] != 3)
        return numpy.stack([one(frame) for frame in image]) if stack and shape[0] > 0 else one(image)
