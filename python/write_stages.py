"""Generates a function for each stage of the library: write_stages.py FOLDER OUT; FOLDER contains the extension _core."""
import keyword
import sys
import textwrap

sys.path.insert(0, sys.argv[1])
import _core  # noqa: E402

TYPES = {"boolean": "bool", "integer": "int", "real": "float", "text": "str", "path": "str | os.PathLike[str]"}

HEAD = '''"""Every stage as a function of an image, written from the declarations by write_stages.py."""

from __future__ import annotations

import os
from typing import Any, Literal, overload

from numpy.typing import NDArray

from ._apply import apply as _apply

__all__ = [{names}]
'''

FUNCTION = '''

@overload
def {name}(
    image: NDArray[Any],
    *,
{parameters}
    backend: Literal["auto", "cpu", "cuda"] = "auto",
    exposure_ms: float | None = None,
    full_scale: float | None = None,
) -> NDArray[Any]: ...


@overload
def {name}(
    image: Any,
    *,
{parameters}
    backend: Literal["auto", "cpu", "cuda"] = "auto",
    exposure_ms: float | None = None,
    full_scale: float | None = None,
) -> Any: ...


def {name}(
    image: Any,
    *,
{parameters}
    backend: Literal["auto", "cpu", "cuda"] = "auto",
    exposure_ms: float | None = None,
    full_scale: float | None = None,
) -> Any:
    """{doc}

    image: a frame, (height, width) or (height, width, 3) for colour; or a stack of frames along the first axis, which
        gives a stack of results. uint8, uint16 and float32 are read as they are, other real numbers as float32.
{docs}
    backend: where it runs; auto takes a GPU where there is one.
    exposure_ms: the frame's exposure time as the camera said it, in place of the stage's own.
    full_scale: the largest value that the camera can give; None: that of the type.

    For frame after frame, specklescope.Chain("{name}") keeps what this makes anew in each call.
    """
    return _apply("{name}", image, {{{values}}}, backend, exposure_ms, full_scale)
'''


def python_name(name):
    return name + "_" if keyword.iskeyword(name) else name


def default_of(parameter):
    text, kind = parameter["default"], parameter["kind"]
    return {"boolean": lambda: repr(text == "true"), "integer": lambda: repr(int(text)),
            "real": lambda: repr(float(text))}.get(kind, lambda: repr(text))()


def type_of(parameter):
    if parameter["kind"] == "choice":
        return "Literal[" + ", ".join(f'"{one}"' for one in parameter["choices"]) + "]"
    return TYPES[parameter["kind"]]


def doc_of(parameter):
    # Choices and "any text" are in the type.
    allowed = "" if parameter["kind"] in ("choice", "text", "path", "boolean") else f" ({parameter['allowed']})"
    return textwrap.fill(f"{python_name(parameter['name'])}: {parameter['doc']}{allowed}", 112, initial_indent=" " * 4,
                         subsequent_indent=" " * 8, break_long_words=False).replace("\\", "\\\\")


def function(stage):
    # An action is a button, but a function is called once.
    parameters = [one for one in stage["parameters"] if one["kind"] != "action"]
    return FUNCTION.format(
        name=stage["name"], doc=textwrap.fill(stage["doc"], 108, subsequent_indent=" " * 4),
        parameters="\n".join(f"    {python_name(p['name'])}: {type_of(p)} = {default_of(p)}," for p in parameters),
        docs="\n".join(doc_of(p) for p in parameters),
        values=", ".join(f'"{p["name"]}": {python_name(p["name"])}' for p in parameters))


stages = _core.stages()
with open(sys.argv[2], "w", encoding="utf-8") as file:
    file.write(HEAD.format(names=", ".join(f'"{stage["name"]}"' for stage in stages)))
    for stage in stages:
        file.write(function(stage))
