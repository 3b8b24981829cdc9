"""Values as the command line writes them."""

import json
import os
import re

from ._errors import UsageError

_RECORDED = {"results": 0, "frames": 1, "mask": 2}


def path_text(path):
    """Also of bytes; a name that is no text is refused where it is used."""
    return os.fsdecode(path)


def value_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, bytes, os.PathLike)):
        return path_text(value)
    if hasattr(value, "item"):  # of NumPy
        return value_text(value.item())
    return repr(value)


def quoted(text):
    if not re.search(r'[,"|]', text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def pairs_text(values):
    """"radius=3,output=sfi"; what is None is left out."""
    return ",".join(f"{key}={quoted(value_text(value))}" for key, value in values.items() if value is not None)


def stage_text(name, values):
    pairs = pairs_text(values)
    return f"{name}:{pairs}" if pairs else name


def place_of(stage, core):
    """Of a stage by its place or its name, in a chain or a stream of the library, which says what is wrong."""
    return core.place(stage) if isinstance(stage, str) else stage


def regions_text(regions):
    """A list of dictionaries as a file of regions has it; numbers of NumPy are taken."""
    try:
        return json.dumps({"regions": list(regions)}, default=lambda value: value.tolist())
    except (AttributeError, TypeError):
        raise UsageError("The regions are no list of dictionaries; allowed: the name of a file, and dictionaries with name, shape "
                         "and points, as a file of regions has them.") from None


def told_regions(regions):
    """What the settings are told: a file by its name, or what would be in it."""
    if regions is None:
        return {}
    if isinstance(regions, (str, bytes, os.PathLike)):
        return {"regions": path_text(regions)}
    return {"regions_json": regions_text(regions)}


def view_text(view):
    return view if isinstance(view, str) else pairs_text(view)


def kind_of_recording(what):
    if what not in _RECORDED:
        raise UsageError(f"What is to be recorded is '{what}'; allowed: {', '.join(_RECORDED)}.")
    return _RECORDED[what]
