"""Values as the command line writes them."""

import os
import re


def value_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
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


def stage_names(chain_text):
    without_values = re.sub(r'="(\\.|[^"\\])*"', "=", chain_text)
    return [] if chain_text == "none" else [stage.partition(":")[0] for stage in without_values.split(" | ")]


def place_of(stage, chain_text):
    """Of a stage by its place or its name; the library says what is wrong with a place."""
    from ._errors import UsageError

    if not isinstance(stage, str):
        return stage
    names = stage_names(chain_text)
    if names.count(stage) == 1:
        return names.index(stage)
    found = "several stages" if stage in names else "no stage"
    raise UsageError(f"The chain has {found} '{stage}'; it is made of {', '.join(names) or 'none'}: give one's place, "
                     "counted from 0.")
