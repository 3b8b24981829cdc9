"""Values as the command line writes them."""

from __future__ import annotations

import json
import operator
import os
import re
from collections.abc import Mapping
from typing import Any

from ._errors import UsageError

_RECORDED = {"results": 0, "frames": 1, "mask": 2}


def path_text(path: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> str:
    """Also accepts bytes; an invalid name is refused when it is used."""
    return os.fsdecode(path)


def shown(value: object) -> str:
    """A value in one line, for messages."""
    return " ".join(str(value).split())


def value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, bytes, os.PathLike)):
        return path_text(value)
    if hasattr(value, "item"):  # NumPy scalars
        try:
            return value_text(value.item())
        except ValueError:  # several values: the library reports the allowed ones
            return shown(value)
    return repr(value)


def quoted(text: str) -> str:
    if not re.search(r'[,"|]', text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _pair(name: str, value: Any) -> str:
    if re.search('[=,"|]', name):
        raise UsageError(f"'{name}' is the name of no parameter; allowed: names without = , \" and |.")
    return f"{name}={quoted(value_text(value))}"


def pairs_text(values: Mapping[str, Any]) -> str:
    """"radius=3,output=sfi"; omits None."""
    return ",".join(_pair(name, value) for name, value in values.items() if value is not None)


def stage_text(name: str, values: Mapping[str, Any]) -> str:
    pairs = pairs_text(values)
    return f"{name}:{pairs}" if pairs else name


def stage_name(stage: Any) -> str:
    """Text for a stage given by name or index from 0."""
    if isinstance(stage, str):
        return stage
    try:
        return str(operator.index(stage))
    except TypeError:
        raise UsageError(f"A stage of the type {type(stage).__name__} is not possible; allowed: its name, or its place from 0.") from None


def values_text(values: Mapping[str, Any]) -> str:
    """All values in one text, for one edit."""
    return ",".join(_pair(name, value) for name, value in values.items())


def regions_text(regions: Any) -> str:
    """A list of dictionaries in the format of a region file; accepts NumPy numbers."""
    try:
        return json.dumps({"regions": list(regions)}, default=lambda value: value.tolist(), allow_nan=False)
    except (AttributeError, RecursionError, TypeError, ValueError):
        raise UsageError("The regions are no list of dictionaries; allowed: the name of a file, and dictionaries with name, shape "
                         "and points of finite numbers, as a file of regions has them.") from None


def told_regions(regions: Any) -> dict[str, str]:
    """Settings for regions: a file name, or the contents of a file."""
    if regions is None:
        return {}
    if isinstance(regions, (str, bytes, os.PathLike)):
        return {"regions": path_text(regions)}
    return {"regions_json": regions_text(regions)}


def view_text(view: Any) -> str:
    if isinstance(view, str):
        return view
    if not hasattr(view, "items"):
        raise UsageError(f"A view of the type {type(view).__name__} is not possible; allowed: a dictionary of what --view takes, or "
                         "its text.")
    return pairs_text(view)


def callable_or_none(progress: Any) -> Any:
    if progress is not None and not callable(progress):
        raise UsageError(f"progress is of the type {type(progress).__name__}; allowed: what can be called with what is done and how "
                         "far it is, or None.")
    return progress


def whole(value: Any, name: str, low: int = -2**63, high: int = 2**63 - 1) -> int:
    """An integer in the range of a C type."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise UsageError(f"{name} = {shown(value)} is not possible; allowed: whole numbers, {low}…{high}.")
    return number


def real(value: Any, name: str) -> float:
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (OverflowError, TypeError, ValueError):
        pass
    raise UsageError(f"{name} = {shown(value)} is not possible; allowed: a number.")


def kind_of_recording(what: object) -> int:
    if not isinstance(what, str) or what not in _RECORDED:
        raise UsageError(f"What is to be recorded is '{shown(what)}'; allowed: {', '.join(_RECORDED)}.")
    return _RECORDED[what]
